//! One run of a plugin's job. The rule: every end but success and a stop of the plugin is recorded as a fault of the plugin.

use super::{ActivePlugin, polls::GateClosed};
use abi_stable::std_types::RResult;
use gateway_jobs::JobFailure;
use plugin_api::abi::FaultKind;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Runs the job with that index in the manifest; failures are the plugin's faults.
pub async fn run(plugin: &Arc<ActivePlugin>, job: u32) -> Result<(), JobFailure> {
    let Some(_in_flight) = plugin.acquire() else { return Err(JobFailure::Failed("the plugin is draining".into())) };
    let Some(spec) = plugin.manifest.jobs.get(job as usize) else {
        return Err(JobFailure::Failed("the plugin has no such job".into()));
    };
    let Some(operation) = plugin.operations.job(job) else {
        return Err(JobFailure::Failed("the plugin has no such job".into()));
    };
    let probe = plugin.handle.admit(operation).map_err(|paused| {
        let seconds = paused.retry_after_s(plugin.handle.now_ms());
        JobFailure::Failed(format!("it failed too often and is paused for {seconds} s: {}", paused.reason))
    })?;
    let name = format!("job {}", spec.name);
    let mut timeout_guard = TimeoutGuard {
        plugin,
        operation: &name,
        limit: Duration::from_millis(spec.timeout_ms),
        is_over: false,
        begun: Instant::now(),
    };
    let outcome = plugin.call(operation.number, || plugin.object.run_job(job)).await;
    timeout_guard.is_over = true;
    match outcome {
        Ok(RResult::ROk(())) => {
            plugin.handle.end_probe(operation, probe);
            Ok(())
        }
        Err(GateClosed) => Err(JobFailure::Failed("the plugin is fenced".into())),
        Ok(RResult::RErr(fault)) => {
            plugin.handle.fault(&name, &fault);
            Err(match fault.kind {
                FaultKind::Panic => {
                    JobFailure::Panicked { message: fault.message.to_string(), location: fault.location.to_string() }
                }
                _ => JobFailure::Failed(fault.message.to_string()),
            })
        }
    }
}

/// Records a fault when the runner drops a run that exceeded its time limit, but not when it drops one for a stop.
struct TimeoutGuard<'a> {
    plugin: &'a ActivePlugin,
    operation: &'a str,
    limit: Duration,
    is_over: bool,
    begun: Instant,
}

impl Drop for TimeoutGuard<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.begun.elapsed() >= self.limit {
            self.plugin.handle.timed_out(self.operation, self.limit);
        }
    }
}
