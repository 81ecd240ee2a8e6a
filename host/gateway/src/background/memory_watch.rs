//! Watches the memory of the process. Nothing bounds what a plugin allocates on its own side; log and reports name who was at work.

use gateway_plugins::{ActivePlugin, ActivePlugins, polls};
use std::{
    fs,
    sync::Arc,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

const INTERVAL: Duration = Duration::from_secs(1);
/// Between two warnings while the memory stays above the mark.
const REPEAT: Duration = Duration::from_secs(60);
/// In percent of what the machine or the container has.
const SHARE: u64 = 80;
const CGROUP_LIMIT: &str = "/sys/fs/cgroup/memory.max";

/// Warns above `warn_mib`, or above a share of what there is when that is 0.
pub(crate) async fn run(active: ActivePlugins, warn_mib: u64, stop: CancellationToken) {
    let mark_kib = if warn_mib > 0 { Some(warn_mib * 1024) } else { available_kib().map(|kib| kib / 100 * SHARE) };
    let Some(mark_kib) = mark_kib else { return };
    let mut warned: Option<Instant> = None;
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
        let Some(used_kib) = used_kib().filter(|used| *used > mark_kib) else {
            active.list().iter().for_each(|plugin| plugin.handle.set_memory_note(None));
            continue;
        };
        let (used_mib, mark_mib) = (used_kib / 1024, mark_kib / 1024);
        let calls = calls_in_progress(&active.list());
        for (plugin, calls) in &calls {
            let process = format!("the process uses {used_mib} MiB of memory, more than {mark_mib}");
            plugin.handle.set_memory_note(Some(format!("{process}, while calls of it are in progress: {calls}")));
        }
        if warned.is_none_or(|warned| warned.elapsed() >= REPEAT) {
            warned = Some(Instant::now());
            let calls: Vec<String> = calls.iter().map(|(plugin, calls)| format!("{} {calls}", plugin.name())).collect();
            let calls = if calls.is_empty() { "none".to_owned() } else { calls.join(", ") };
            tracing::warn!(
                used_mib,
                mark_mib,
                calls,
                "the process uses much memory; these calls of plugins are in progress"
            );
        }
    }
}

/// Of the plugins that have some: how many, and the operations that have a thread just now: `12 (giant_body, job sweep)`.
fn calls_in_progress(active: &[Arc<ActivePlugin>]) -> Vec<(Arc<ActivePlugin>, String)> {
    let running = polls::running_operations();
    let line = |plugin: &ActivePlugin| {
        let operations =
            running.iter().filter(|(owner, _)| **owner == *plugin.name()).map(|(_, operation)| &**operation);
        let operations: Vec<&str> = operations.collect();
        let on_threads = if operations.is_empty() { String::new() } else { format!(" ({})", operations.join(", ")) };
        format!("{}{on_threads}", plugin.in_flight())
    };
    let busy = active.iter().filter(|plugin| plugin.in_flight() > 0);
    busy.map(|plugin| (plugin.clone(), line(plugin))).collect()
}

fn used_kib() -> Option<u64> {
    kib_of(&fs::read_to_string("/proc/self/status").ok()?, "VmRSS:")
}

fn available_kib() -> Option<u64> {
    let machine = kib_of(&fs::read_to_string("/proc/meminfo").ok()?, "MemTotal:")?;
    // `max`: no limit.
    let container = fs::read_to_string(CGROUP_LIMIT).ok().and_then(|bytes| bytes.trim().parse::<u64>().ok());
    Some(container.map_or(machine, |bytes| machine.min(bytes / 1024)))
}

fn kib_of(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.trim().strip_suffix("kB")?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_systems_numbers_are_read() {
        assert_eq!(kib_of("VmPeak:\t  9 kB\nVmRSS:\t  1234 kB\n", "VmRSS:"), Some(1234));
        assert_eq!(kib_of("VmRSS: much", "VmRSS:"), None);
        if cfg!(target_os = "linux") {
            assert!(used_kib().is_some_and(|used| used > 100) && available_kib() > used_kib());
        }
    }
}
