//! Work that runs by itself, on one gateway at a time.

use super::{Gateway, fence};
use crate::{
    abi::{Fault, HostError},
    manifest::{JobSpec, Schedule},
};
use abi_stable::std_types::RResult;
use async_ffi::{FfiFuture, FutureExt as _};
use std::{future::Future, time::Duration};

pub(crate) type RunJob<P> = Box<dyn Fn(&Gateway<P>) -> FfiFuture<RResult<(), Fault>> + Send + Sync>;

/// A job must bear to be run twice: a gateway may die between the work and the note that it is done.
pub struct Job<P> {
    pub(crate) spec: JobSpec,
    pub(crate) run: RunJob<P>,
}

const TIMEOUT_MS: u64 = 60_000;

impl<P: Send + Sync + 'static> Job<P> {
    /// Runs that long after the end of the run before.
    pub fn every<F, Fut>(name: &'static str, interval: Duration, run: F) -> Self
    where
        F: Fn(Gateway<P>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        let interval_ms = u64::try_from(interval.as_millis()).unwrap_or(u64::MAX);
        Self::new(name, Schedule::EveryMs(interval_ms), run)
    }

    /// Runs at the times of a cron line (five or six fields, UTC), for example `0 3 * * *`.
    pub fn cron<F, Fut>(name: &'static str, line: &str, run: F) -> Self
    where
        F: Fn(Gateway<P>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        Self::new(name, Schedule::Cron(line.to_owned()), run)
    }

    /// A run is dropped after this long; a minute unless said.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.spec.timeout_ms = u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX);
        self
    }

    fn new<F, Fut>(name: &'static str, schedule: Schedule, run: F) -> Self
    where
        F: Fn(Gateway<P>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HostError>> + Send + 'static,
    {
        let run = move |gateway: &Gateway<P>| contained(gateway, name, || run(gateway.clone()));
        Self { spec: JobSpec { name: name.to_owned(), schedule, timeout_ms: TIMEOUT_MS }, run: Box::new(run) }
    }
}

/// Makes a future inside the fence and keeps it there.
pub(crate) fn contained<P, T, Fut>(
    gateway: &Gateway<P>,
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
            let reporter = gateway.clone();
            let report = move |fault| reporter.report(place, fault);
            fence::ContainedFuture::new(async move { future.await.map_err(fence::error_fault) }, report).into_ffi()
        }
        Err(fault) => std::future::ready(RResult::RErr(fault)).into_ffi(),
    }
}
