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

/// A scheduled job. It must be idempotent: a gateway may crash between the work and the record that it is done.
///
/// ```
/// use plugin_api::{HostError, Job, PluginContext};
/// use std::time::Duration;
///
/// # struct Notes;
/// fn job() -> Job<Notes> {
///     Job::every("count_notes", Duration::from_secs(3600), count_notes).timeout(Duration::from_secs(10))
/// }
///
/// async fn count_notes(cx: PluginContext<Notes>) -> Result<(), HostError> {
///     cx.info("counted");
///     Ok(())
/// }
/// ```
pub struct Job<P> {
    pub(crate) spec: JobSpec,
    pub(crate) run: JobFn<P>,
}

const TIMEOUT_MS: u64 = 60_000;

impl<P: Send + Sync + 'static> Job<P> {
    /// Runs `interval` after the end of the previous run.
    pub fn every<F, Fut>(name: &'static str, interval: Duration, run: F) -> Self
    where
        F: Fn(PluginContext<P>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        let interval_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        Self::new(name, Schedule::EveryMs(interval_ms), run)
    }

    /// Runs at the times of a cron expression (five or six fields, UTC), for example `0 3 * * *`.
    pub fn cron<F, Fut>(name: &'static str, expression: &str, run: F) -> Self
    where
        F: Fn(PluginContext<P>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        Self::new(name, Schedule::Cron(expression.to_owned()), run)
    }

    /// The gateway cancels a run after this long; one minute by default.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.spec.timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self
    }

    fn new<F, Fut>(name: &'static str, schedule: Schedule, run: F) -> Self
    where
        F: Fn(PluginContext<P>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        let run = move |cx: &PluginContext<P>| contained(cx, name, || run(cx.clone()));
        Self { spec: JobSpec { name: name.to_owned(), schedule, timeout_ms: TIMEOUT_MS }, run: Box::new(run) }
    }
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
    match fence::contain(make) {
        Ok(future) => {
            let reporter = cx.clone();
            let report = move |fault| reporter.report(place, fault);
            fence::ContainedFuture::new(async move { future.await.map_err(fence::error_fault) }, report).into_ffi()
        }
        Err(fault) => std::future::ready(RResult::RErr(fault)).into_ffi(),
    }
}
