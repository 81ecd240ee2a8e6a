//! One run of a plugin's job. The rule: whatever ends it but a stop of the plugin is told as the plugin's fault.

use super::running::Running;
use crate::jobs::JobFailure;
use abi_stable::std_types::RResult;
use plugin_api::abi::FaultKind;
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// Runs the job at that place of the manifest; failures are the plugin's faults.
pub(super) async fn run(plugin: &Arc<Running>, job: u32) -> Result<(), JobFailure> {
    let Some(_visit) = plugin.enter() else { return Err(JobFailure::Failed("the plugin is draining".into())) };
    let Some(spec) = plugin.manifest.jobs.get(job as usize) else {
        return Err(JobFailure::Failed("the plugin has no such job".into()));
    };
    let place = format!("job {}", spec.name);
    let mut overrun = Overrun {
        plugin,
        place: &place,
        limit: Duration::from_millis(spec.timeout_ms),
        is_over: false,
        begun: Instant::now(),
    };
    let outcome = plugin.object.run_job(job).await;
    overrun.is_over = true;
    match outcome {
        RResult::ROk(()) => Ok(()),
        RResult::RErr(fault) => {
            plugin.life.fault(&place, &fault);
            Err(match fault.kind {
                FaultKind::Panic => {
                    JobFailure::Panicked { message: fault.message.to_string(), location: fault.location.to_string() }
                }
                _ => JobFailure::Failed(fault.message.to_string()),
            })
        }
    }
}

/// A run that the runner drops because its time is up is a fault of the plugin; one dropped for a stop is not.
struct Overrun<'a> {
    plugin: &'a Running,
    place: &'a str,
    limit: Duration,
    is_over: bool,
    begun: Instant,
}

impl Drop for Overrun<'_> {
    fn drop(&mut self) {
        if !self.is_over && self.begun.elapsed() >= self.limit {
            self.plugin.life.timed_out(self.place, self.limit);
        }
    }
}
