//! Scheduled jobs. Each runs on one gateway at a time.

use super::{PluginContext, fence};
use crate::{
    abi::{Fault, HostError},
    manifest::{JobSpec, Schedule},
};
use abi_stable::std_types::RResult;
use async_ffi::{FfiFuture, FutureExt as _};
use std::{future::Future, time::Duration};

pub(crate) type JobFn<P> = Box<dyn Fn(&PluginContext<P>) -> FfiFuture<RResult<(), Fault>> + Send + Sync>;

/// A scheduled job. It must be idempotent: a gateway may crash between the work and the record that it is done, and then another one
/// begins ten seconds later. (One that follows the log: two and a half.) A run that has lost its lease to another gateway is cancelled; until then its writes fail with
/// [`HostErrorCode::Closed`](crate::HostErrorCode::Closed).
///
/// It fails with a [`HostError`](crate::HostError) or with an error of the plugin's own, whose text, with those of its sources, is
/// in the operator's report and in the log. The next run follows at its time.
///
/// ```
/// use plugin_api::{HostError, Job, PluginContext, Query, sql};
/// use std::time::Duration;
///
/// #[derive(Debug, thiserror::Error)]
/// enum CountError {
///     #[error("{0} notes are more than there is room for")]
///     Full(i64),
///     #[error(transparent)]
///     Host(#[from] HostError),
/// }
///
/// # struct Notes;
/// fn job() -> Job<Notes> {
///     Job::every("count_notes", Duration::from_secs(3600), count_notes).timeout(Duration::from_secs(10))
/// }
///
/// async fn count_notes(cx: PluginContext<Notes>) -> Result<(), CountError> {
///     match cx.db().one(sql("SELECT count(*) FROM notes_notes")).await? {
///         notes @ ..=1_000_000 => Ok(cx.info(&format!("{notes} notes"))),
///         notes => Err(CountError::Full(notes)),
///     }
/// }
/// ```
pub struct Job<P> {
    pub(crate) spec: JobSpec,
    pub(crate) run: JobFn<P>,
}

const TIMEOUT_MS: u64 = 60_000;

impl<P: Send + Sync + 'static> Job<P> {
    /// Runs `interval` after the end of the previous run.
    pub fn every<F, Fut, E>(name: &'static str, interval: Duration, run: F) -> Self
    where
        F: Fn(PluginContext<P>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: std::error::Error + 'static,
    {
        let interval_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        Self::new(name, Schedule::EveryMs(interval_ms), run)
    }

    /// Runs at the times of a cron expression (five or six fields, UTC), for example `0 3 * * *`.
    pub fn cron<F, Fut, E>(name: &'static str, expression: &str, run: F) -> Self
    where
        F: Fn(PluginContext<P>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: std::error::Error + 'static,
    {
        Self::new(name, Schedule::Cron(expression.to_owned()), run)
    }

    /// The gateway cancels a run after this long; one minute by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.spec.timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self
    }

    /// How long a gateway that died keeps the others from the job; ten seconds by default.
    pub(crate) fn lease(mut self, lease: Duration) -> Self {
        self.spec.lease_ms = u64::try_from(lease.as_millis()).ok();
        self
    }

    fn new<F, Fut, E>(name: &'static str, schedule: Schedule, run: F) -> Self
    where
        F: Fn(PluginContext<P>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), E>> + Send + 'static,
        E: std::error::Error + 'static,
    {
        let run = move |cx: &PluginContext<P>| contained_with(cx, name, || run(cx.clone()), with_sources);
        let spec = JobSpec { name: name.to_owned(), schedule, timeout_ms: TIMEOUT_MS, lease_ms: None };
        Self { spec, run: Box::new(run) }
    }
}

/// The error's text and those of its sources that it does not quote itself.
fn with_sources<E: std::error::Error>(error: &E) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

/// Creates a future and polls it inside the fence; `place` names it in reports of faults.
pub(crate) fn contained<P, T, Fut>(
    cx: &PluginContext<P>,
    place: &'static str,
    make: impl FnOnce() -> Fut,
) -> FfiFuture<RResult<T, Fault>>
where
    P: Send + Sync + 'static,
    T: Send + 'static,
    Fut: Future<Output = Result<T, HostError>> + Send + 'static,
{
    contained_with(cx, place, make, |error| error.to_string())
}

/// As [`contained`], for any error and its text.
fn contained_with<P, T, E, Fut>(
    cx: &PluginContext<P>,
    place: &'static str,
    make: impl FnOnce() -> Fut,
    text_of: fn(&E) -> String,
) -> FfiFuture<RResult<T, Fault>>
where
    P: Send + Sync + 'static,
    T: Send + 'static,
    E: 'static,
    Fut: Future<Output = Result<T, E>> + Send + 'static,
{
    match fence::contain(make) {
        Ok(future) => {
            let reporter = cx.clone();
            let report = move |fault| reporter.report(place, fault);
            let result = async move { future.await.map_err(|error| fence::error_fault(text_of(&error))) };
            fence::ContainedFuture::new(result, report).into_ffi()
        }
        Err(fault) => std::future::ready(RResult::RErr(fault)).into_ffi(),
    }
}
