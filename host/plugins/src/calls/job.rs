//! One run of a plugin's job.

use crate::plugin::{ActivePlugin, CallError};
use gateway_jobs::JobFailure;
use plugin_api::abi::FaultKind;
use std::{sync::Arc, time::Duration};

/// Runs the job with that index in the manifest, for no longer than it may; failures are the plugin's faults.
pub async fn run_job(plugin: &Arc<ActivePlugin>, job: u32) -> Result<(), JobFailure> {
    let known = plugin.manifest.jobs.get(job as usize).zip(plugin.operations.job(job));
    let Some((spec, operation)) = known else { return Err(JobFailure::Failed("the plugin has no such job".into())) };
    let limit = Duration::from_millis(spec.timeout_ms);
    let outcome = plugin.call_contained(operation, limit, || plugin.object.run_job(job), Ok).await;
    outcome.map_err(|error| match error {
        CallError::TimedOut(_) => JobFailure::TimedOut,
        CallError::Fault(fault) if fault.kind == FaultKind::Panic => {
            JobFailure::Panicked { message: fault.message.to_string(), location: fault.location.to_string() }
        }
        CallError::Paused(paused) => {
            let seconds = paused.retry_after_s(plugin.handle.now_ms());
            JobFailure::Failed(format!("it failed too often and is paused for {seconds} s: {}", paused.reason))
        }
        other => JobFailure::Failed(other.to_string()),
    })
}
