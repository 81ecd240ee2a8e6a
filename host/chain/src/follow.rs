//! Follows the head of one chain: asks all servers for their newest block, and chooses whom to believe.
//!
//! The rule: a server stays the preferred one while it answers and keeps up, so that two servers on two branches do not
//! make the index go back and forth.

use super::{Chain, Header, error::RpcFailure, named::parse, sealers};
use alloy::{
    pubsub::RawSubscription,
    rpc::client::{RpcClient, WsConnect},
};
use alloy_primitives::B256;
use futures_util::future::join_all;
use std::{sync::Arc, time::Duration};
use tokio::sync::{Notify, broadcast::error::RecvError};
use tokio_util::sync::CancellationToken;

/// A server this many blocks behind the best one is not preferred.
const LAG_BLOCKS_MAX: u64 = 3;
/// How often the servers are asked again after an announcement that none of them knows of yet.
const HINT_TRIES: u32 = 5;
const HINT_PAUSE: Duration = Duration::from_millis(20);
/// Between two attempts to open the WebSocket.
const WS_PAUSE: Duration = Duration::from_secs(3);

pub async fn run(chain: Arc<Chain>, stop: CancellationToken) {
    let hint = Arc::new(Notify::new());
    let announced = announcements(&chain, &hint);
    tokio::select! {
        () = stop.cancelled() => {}
        () = poll(&chain, &hint) => {}
        () = announced => {}
        () = sealers::watch(&chain) => {}
    }
}

async fn poll(chain: &Chain, hint: &Notify) {
    let pause = Duration::from_millis(chain.settings.poll_ms);
    let mut tries = 0;
    loop {
        let before = chain.head().map(|head| head.header);
        look(chain).await;
        let is_same = chain.head().map(|head| head.header) == before;
        tries = if is_same && tries > 0 { tries - 1 } else { 0 };
        tokio::select! {
            () = hint.notified() => tries = HINT_TRIES,
            () = tokio::time::sleep(if tries > 0 { HINT_PAUSE } else { pause }) => {}
        }
    }
}

/// Asks every server that is not aside.
async fn look(chain: &Chain) {
    let asked = chain.sources.iter().map(|source| async move {
        if source.is_aside() {
            return None;
        }
        match source.look(chain.settings.reorg_depth).await {
            Ok(head) => {
                source.told_head();
                Some(head)
            }
            Err(RpcFailure::Refused { message, .. }) => {
                source.told_no_head(&RpcFailure::Behind(message));
                None
            }
            Err(failure) => {
                source.told_no_head(&failure);
                None
            }
        }
    });
    let heads: Vec<Option<Header>> = join_all(asked).await;
    let answers = |place: usize| chain.sources.get(place).is_some_and(|source| !source.fails_questions());
    match choose(&heads, chain.current(), answers) {
        Some((place, head)) => {
            chain.prefer(place);
            chain.saw(head);
            metrics::gauge!("chain_head", "chain" => chain.name.clone()).set(exact(head.number));
        }
        None => chain.saw_nothing(),
    }
}

/// The current server while it keeps up and answers, else the first that does; where none answers, one that keeps up.
fn choose(heads: &[Option<Header>], current: usize, answers: impl Fn(usize) -> bool) -> Option<(usize, Header)> {
    let best = heads.iter().flatten().map(|head| head.number).max()?;
    let keeps_up = |place: usize| {
        let head = heads.get(place).copied().flatten()?;
        (head.number.saturating_add(LAG_BLOCKS_MAX) >= best).then_some((place, head))
    };
    let mut candidates = std::iter::once(current).chain(0..heads.len()).filter_map(keeps_up);
    candidates.clone().find(|(place, _)| answers(*place)).or_else(|| candidates.next())
}

/// Metrics are floats; block numbers are far below 2^53.
#[allow(clippy::cast_precision_loss, reason = "block numbers are far below 2^53")]
pub fn exact(number: u64) -> f64 {
    number as f64
}

/// Turns announcements of new blocks into questions. What they say is not believed: the servers are asked.
async fn announcements(chain: &Chain, hint: &Notify) {
    let Some(url) = chain.settings.ws.as_ref().and_then(parse) else { return std::future::pending().await };
    loop {
        match subscribe(url.as_str()).await {
            Some((_client, mut heads)) => {
                tracing::info!(chain = chain.name, "new blocks are announced by WebSocket");
                // Also for what was missed before.
                hint.notify_one();
                // More at once than are kept, as after a reorganisation, are as good as one.
                while let Ok(_) | Err(RecvError::Lagged(_)) = heads.recv().await {
                    hint.notify_one();
                }
                hint.notify_one();
                tracing::warn!(chain = chain.name, "the WebSocket closed; blocks are asked for meanwhile");
            }
            None => tracing::debug!(chain = chain.name, "the WebSocket cannot be opened"),
        }
        tokio::time::sleep(WS_PAUSE).await;
    }
}

async fn subscribe(url: &str) -> Option<(RpcClient, RawSubscription)> {
    // Without its own attempts to reconnect: they would go on when nobody listens any more.
    let client = RpcClient::builder().ws(WsConnect::new(url).with_max_retries(0)).await.ok()?;
    let id: B256 = client.request("eth_subscribe", ["newHeads"]).await.ok()?;
    let heads = client.pubsub_frontend()?.get_subscription(id).await.ok()?;
    Some((client, heads))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(number: u64) -> Option<Header> {
        Some(Header { number, hash: B256::with_last_byte(1), parent: B256::ZERO, time_s: 0 })
    }

    #[test]
    fn a_server_is_kept_while_it_keeps_up() {
        let chosen = |heads: &[Option<Header>], current| choose(heads, current, |_| true).map(|(place, _)| place);
        assert_eq!(chosen(&[head(10), head(12)], 0), Some(0), "two blocks are a matter of luck");
        assert_eq!(chosen(&[head(10), head(14)], 0), Some(1));
        assert_eq!(chosen(&[head(12), head(12)], 1), Some(1), "no way back without need");
        assert_eq!(chosen(&[None, head(3)], 0), Some(1));
        assert_eq!(chosen(&[None, None], 0), None);
    }

    #[test]
    fn a_server_that_tells_its_head_and_answers_nothing_else_is_kept_only_when_no_other_keeps_up() {
        let chosen = |heads: &[Option<Header>], answering: &[usize]| {
            choose(heads, 0, |place| answering.contains(&place)).map(|(place, _)| place)
        };
        assert_eq!(chosen(&[head(12), head(12), head(12)], &[2]), Some(2));
        assert_eq!(chosen(&[head(12), head(8)], &[1]), Some(0), "the other is too far behind");
        assert_eq!(chosen(&[head(12), None], &[1]), Some(0));
        assert_eq!(chosen(&[head(12), head(12)], &[]), Some(0));
    }
}
