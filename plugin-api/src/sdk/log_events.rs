//! Subscriptions to the activity log: a job that follows it, and the events that it hands over.

use super::{Job, PluginContext, Tx};
use crate::{
    abi::{FfiBytes, HostError, HostErrorCode},
    manifest::{ActivityRow, LogBatch, LogBatchCall, LogDoneCall},
};
use std::{
    future::Future,
    ops::Deref,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};

/// How long one run of the job follows the log. When its gateway is gone, another one takes over after the lease, whatever the time limit.
const RUN: Duration = Duration::from_secs(30);
/// Not much longer than that of the gateway that sequences the log. Two that follow at a time do no harm: a subscription moves on only
/// from where its events began.
const LEASE: Duration = Duration::from_millis(2_500);
const PAUSE: Duration = Duration::from_millis(100);

/// Events of the log for [`crate::Definition::on_events`], in ascending order: at least one, at most 500.
#[derive(Clone, Debug)]
pub struct LogEvents {
    subscription: &'static str,
    after: i64,
    up_to: i64,
    events: Arc<[ActivityRow]>,
    is_marked: Arc<AtomicBool>,
}

impl LogEvents {
    /// Records, in the transaction of what the plugin made of them, that these events are done: the next ones follow. Fails with
    /// [`HostErrorCode::Constraint`] when another gateway was faster, which takes back the transaction.
    pub async fn mark_done(&self, tx: &Tx) -> Result<(), HostError> {
        let (after, up_to) = (self.after, self.up_to);
        let call = LogDoneCall { subscription: self.subscription.to_owned(), after, up_to };
        tx.call_capability("log_done", &call).await?;
        self.is_marked.store(true, Relaxed);
        Ok(())
    }
}

impl Deref for LogEvents {
    type Target = [ActivityRow];

    fn deref(&self) -> &[ActivityRow] {
        &self.events
    }
}

/// The job that follows the log.
pub(crate) fn job<P, F, Fut>(name: &'static str, types: &'static [&'static str], handle: F) -> Job<P>
where
    P: Send + Sync + 'static,
    F: Fn(PluginContext<P>, LogEvents) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HostError>> + Send + 'static,
{
    let handle = Arc::new(handle);
    Job::every(name, PAUSE, move |cx| follow(cx, name, types, handle.clone())).timeout(2 * RUN).lease(LEASE)
}

async fn follow<P, F, Fut>(
    cx: PluginContext<P>,
    subscription: &'static str,
    types: &'static [&'static str],
    handle: Arc<F>,
) -> Result<(), HostError>
where
    P: Send + Sync + 'static,
    F: Fn(PluginContext<P>, LogEvents) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HostError>> + Send + 'static,
{
    let begun = Instant::now();
    loop {
        let Some(remaining) = RUN.checked_sub(begun.elapsed()) else { return Ok(()) };
        let LogBatch { after, up_to, events, is_stopping } = next_batch(&cx, subscription, types, remaining).await?;
        if is_stopping {
            return Ok(());
        }
        if events.is_empty() {
            continue;
        }
        let is_marked = Arc::new(AtomicBool::new(false));
        let events = LogEvents { subscription, after, up_to, events: events.into(), is_marked: is_marked.clone() };
        handle(cx.clone(), events).await?;
        if !is_marked.load(Relaxed) {
            let message = format!("the handler of {subscription} returned without `mark_done`");
            return Err(HostError::new(HostErrorCode::Invalid, message));
        }
    }
}

async fn next_batch<P>(
    cx: &PluginContext<P>,
    subscription: &str,
    types: &[&str],
    wait: Duration,
) -> Result<LogBatch, HostError> {
    let call = LogBatchCall {
        subscription: subscription.to_owned(),
        types: types.iter().map(ToString::to_string).collect(),
        wait_ms: u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
    };
    let response = cx.call_capability("log_batch", &call, FfiBytes::default()).await?.response;
    serde_json::from_slice(&response).map_err(|error| HostError::new(HostErrorCode::Invalid, error.to_string()))
}
