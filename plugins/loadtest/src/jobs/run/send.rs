//! Sends what is signed. The rule: only what is stored is sent, as it is; what is in no block after a while is sent again, and what a server
//! refuses waits and is tried again.

use crate::{
    Loadtest,
    store::transactions::{self, UnsentTransaction},
};
use futures_util::{StreamExt as _, stream};
use plugin_api::{
    HostError, PluginContext,
    chain::{MAIN, RawCall, RawCallError},
};
use std::time::Duration;

/// After so long in no block a transaction is sent again.
const AGAIN_MS: i64 = 30_000;
/// Calls at the same time.
const CALLS_MAX: usize = 16;
const TIMEOUT: Duration = Duration::from_secs(5);

enum Outcome {
    /// A server has it.
    Sent,
    Refused(String),
    /// No server responded: it is sent with the next run.
    Unsent,
}

/// Sends as many as the rate allows in a second. Returns why servers refuse the oldest one, if they refuse any.
pub async fn send(cx: &PluginContext<Loadtest>) -> Result<Option<String>, HostError> {
    let now_ms = cx.now_ms();
    let unsent = transactions::unsent(&cx.db(), now_ms - AGAIN_MS, cx.plugin().config.rate_per_s).await?;
    let calls = stream::iter(unsent).map(|unsent| async move {
        let outcome = send_one(cx, &unsent.raw).await;
        (unsent, outcome)
    });
    let outcomes: Vec<(UnsentTransaction, Outcome)> = calls.buffered(CALLS_MAX).collect().await;
    let (mut sent, mut refused) = (Vec::new(), Vec::new());
    for (UnsentTransaction { id, .. }, outcome) in outcomes {
        match outcome {
            Outcome::Sent => sent.push(id),
            Outcome::Refused(reason) => refused.push((id, reason)),
            Outcome::Unsent => {}
        }
    }
    if !sent.is_empty() || !refused.is_empty() {
        cx.write(async move |tx| {
            transactions::set_sent(tx, &sent, now_ms).await?;
            for (id, reason) in &refused {
                transactions::set_refused(tx, *id, now_ms, reason).await?;
            }
            Ok(())
        })
        .await?;
    }
    let (count, oldest) = transactions::refused(&cx.db()).await?;
    Ok(oldest.map(|reason| format!("servers refuse {count} transactions: {reason}")))
}

async fn send_one(cx: &PluginContext<Loadtest>, raw: &str) -> Outcome {
    let call = RawCall::new("eth_sendRawTransaction", format!("[\"{raw}\"]")).timeout(TIMEOUT);
    match cx.chain(MAIN).raw_call(call).await.map(|answer| answer.result) {
        Ok(Ok(_)) => Outcome::Sent,
        Ok(Err(RawCallError::Response { message, .. })) if is_known(&message) => Outcome::Sent,
        Ok(Err(RawCallError::Response { message, .. })) => Outcome::Refused(message.chars().take(200).collect()),
        Ok(Err(_)) | Err(_) => Outcome::Unsent,
    }
}

/// Whether a server refuses a transaction because it has it, in its pool or in a block: the words of geth, Nethermind, Erigon, Besu and anvil.
fn is_known(message: &str) -> bool {
    let message = message.to_lowercase();
    ["already known", "known transaction", "already imported", "alreadyknown"].iter().any(|text| message.contains(text))
}
