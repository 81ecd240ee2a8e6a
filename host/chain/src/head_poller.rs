//! Polls the head of one chain from all of its servers, and chooses the preferred server.
//!
//! The rule: a server stays preferred while it responds and keeps up, so that two servers on two branches do not make
//! the index switch back and forth.

use super::{Chain, Header, chain::parse_url, clique_signers::CliqueSigners, error::RpcError, metric::gauge_value};
use alloy::{
    pubsub::RawSubscription,
    rpc::client::{RpcClient as WsClient, WsConnect},
};
use alloy_primitives::B256;
use futures_util::future::join_all;
use std::{sync::Arc, time::Duration};
use tokio::sync::{Notify, broadcast::error::RecvError};
use tokio_util::sync::CancellationToken;

/// A server this many blocks behind the best one is not preferred.
const LAG_BLOCKS_MAX: u64 = 3;
/// How often the servers are polled again after an announcement of a block that none of them reports yet.
const ANNOUNCED_POLLS_MAX: u32 = 5;
const ANNOUNCED_PAUSE: Duration = Duration::from_millis(20);
/// Between two attempts to open the WebSocket.
const WS_PAUSE: Duration = Duration::from_secs(3);
/// Between two requests for the signers.
const SIGNERS_PAUSE: Duration = Duration::from_secs(30);
/// The same after a server responded that it lacks the method.
const SIGNERS_PAUSE_UNSUPPORTED: Duration = Duration::from_secs(600);

/// Follows one chain until `stop` is cancelled.
pub(crate) async fn run(chain: Arc<Chain>, stop: CancellationToken) {
    let announced = Arc::new(Notify::new());
    let announcements = notify_new_heads(&chain, &announced);
    tokio::select! {
        () = stop.cancelled() => {}
        () = poll_heads(&chain, &announced) => {}
        () = announcements => {}
        () = poll_clique_signers(&chain) => {}
    }
}

async fn poll_heads(chain: &Chain, announced: &Notify) {
    let pause = Duration::from_millis(chain.settings.poll_ms);
    let mut polls_left = 0;
    loop {
        let before = chain.head().map(|head| head.header);
        poll_servers(chain).await;
        let is_same = chain.head().map(|head| head.header) == before;
        polls_left = if is_same && polls_left > 0 { polls_left - 1 } else { 0 };
        tokio::select! {
            () = announced.notified() => polls_left = ANNOUNCED_POLLS_MAX,
            () = tokio::time::sleep(if polls_left > 0 { ANNOUNCED_PAUSE } else { pause }) => {}
        }
    }
}

/// Polls every server that is not quarantined.
async fn poll_servers(chain: &Chain) {
    let polls = chain.servers.iter().map(|server| async move {
        if server.is_quarantined() {
            return None;
        }
        match server.poll_head(chain.settings.reorg_depth).await {
            Ok(head) => {
                server.poll_succeeded();
                Some(head)
            }
            Err(RpcError::ErrorResponse { message, .. }) => {
                server.poll_failed(&RpcError::OutOfSync(message));
                None
            }
            Err(error) => {
                server.poll_failed(&error);
                None
            }
        }
    });
    let heads: Vec<Option<Header>> = join_all(polls).await;
    let responds = |index: usize| chain.servers.get(index).is_some_and(|server| !server.is_failing_requests());
    match choose_preferred(&heads, chain.preferred(), responds) {
        Some((index, head)) => {
            chain.set_preferred(index);
            chain.set_head(head);
            metrics::gauge!("gateway_chain_head_block", "chain" => chain.name.clone()).set(gauge_value(head.number));
        }
        None => chain.mark_head_stale(),
    }
}

/// The current server while it keeps up and responds, else the first that does; where none responds, one that keeps up.
fn choose_preferred(
    heads: &[Option<Header>],
    current: usize,
    responds: impl Fn(usize) -> bool,
) -> Option<(usize, Header)> {
    let best = heads.iter().flatten().map(|head| head.number).max()?;
    let keeps_up = |index: usize| {
        let head = heads.get(index).copied().flatten()?;
        (head.number.saturating_add(LAG_BLOCKS_MAX) >= best).then_some((index, head))
    };
    let mut candidates = std::iter::once(current).chain(0..heads.len()).filter_map(keeps_up);
    candidates.clone().find(|(index, _)| responds(*index)).or_else(|| candidates.next())
}

/// Requests the signers from the preferred server at intervals. A failure does not count against the server.
async fn poll_clique_signers(chain: &Chain) {
    // Waits until a server responds. The chain holds the sender, so this cannot fail.
    let _ = chain.subscribe_head().wait_for(Option::is_some).await;
    loop {
        let signers = match chain.preferred_server() {
            Some(server) => CliqueSigners::fetch(server).await.map(Some),
            None => Ok(None),
        };
        let is_unsupported = matches!(&signers, Err(error) if error.is_error_response());
        chain.set_clique_signers(signers.ok().flatten());
        tokio::time::sleep(if is_unsupported { SIGNERS_PAUSE_UNSUPPORTED } else { SIGNERS_PAUSE }).await;
    }
}

/// Notifies the poller when a WebSocket announces a new block. The content is not trusted: the servers are polled.
async fn notify_new_heads(chain: &Chain, announced: &Notify) {
    let Some(url) = chain.settings.ws.as_ref().and_then(parse_url) else { return std::future::pending().await };
    loop {
        match subscribe(url.as_str()).await {
            Some((_client, mut heads)) => {
                tracing::info!(chain = chain.name, "new blocks are announced by WebSocket");
                // Blocks may have been missed before.
                announced.notify_one();
                // When more arrive than the channel holds, as after a reorganisation, one poll covers them all.
                while let Ok(_) | Err(RecvError::Lagged(_)) = heads.recv().await {
                    announced.notify_one();
                }
                announced.notify_one();
                tracing::warn!(chain = chain.name, "the WebSocket closed; blocks are asked for meanwhile");
            }
            None => tracing::debug!(chain = chain.name, "the WebSocket cannot be opened"),
        }
        tokio::time::sleep(WS_PAUSE).await;
    }
}

async fn subscribe(url: &str) -> Option<(WsClient, RawSubscription)> {
    // Without the client's own reconnects: they would continue after the subscription is dropped.
    let client = WsClient::builder().ws(WsConnect::new(url).with_max_retries(0)).await.ok()?;
    let id: B256 = client.request("eth_subscribe", ["newHeads"]).await.ok()?;
    let heads = client.pubsub_frontend()?.get_subscription(id).await.ok()?;
    Some((client, heads))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(number: u64) -> Option<Header> {
        Some(Header { number, hash: B256::with_last_byte(1), parent_hash: B256::ZERO, time_s: 0 })
    }

    #[test]
    fn a_server_stays_preferred_while_it_keeps_up() {
        let chosen =
            |heads: &[Option<Header>], current| choose_preferred(heads, current, |_| true).map(|(index, _)| index);
        assert_eq!(chosen(&[head(10), head(12)], 0), Some(0), "a lag of two blocks is normal");
        assert_eq!(chosen(&[head(10), head(14)], 0), Some(1));
        assert_eq!(chosen(&[head(12), head(12)], 1), Some(1), "no switch back without need");
        assert_eq!(chosen(&[None, head(3)], 0), Some(1));
        assert_eq!(chosen(&[None, None], 0), None);
    }

    #[test]
    fn a_server_that_only_reports_its_head_is_preferred_only_when_no_other_keeps_up() {
        let chosen = |heads: &[Option<Header>], responding: &[usize]| {
            choose_preferred(heads, 0, |index| responding.contains(&index)).map(|(index, _)| index)
        };
        assert_eq!(chosen(&[head(12), head(12), head(12)], &[2]), Some(2));
        assert_eq!(chosen(&[head(12), head(8)], &[1]), Some(0), "the other is too far behind");
        assert_eq!(chosen(&[head(12), None], &[1]), Some(0));
        assert_eq!(chosen(&[head(12), head(12)], &[]), Some(0));
    }
}
