//! What this process uses, under the names that Prometheus' own client libraries have for it.
//!
//! The rule: what cannot be read is left out. A scrape never fails for it.

use crate::exposition::Exposition;
use nix::sys::resource::{Resource, UsageWho, getrlimit, getrusage};
use std::fs;

/// Of the times in `/proc`, on every architecture that the gateway runs on.
const TICKS_PER_SECOND: f64 = 100.0;

pub(crate) fn write(out: &mut Exposition) {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let limit = getrlimit(Resource::RLIMIT_NOFILE).ok().map(|(soft, _)| soft.to_string());
    let metrics = [
        ("process_cpu_seconds_total", "counter", "Time of processors in user and system", cpu_seconds()),
        ("process_open_fds", "gauge", "Open files", open_files()),
        ("process_max_fds", "gauge", "Most open files", limit),
        (
            "process_resident_memory_bytes",
            "gauge",
            "Memory of the process that is not swapped out",
            bytes(&status, "VmRSS:"),
        ),
        ("process_virtual_memory_bytes", "gauge", "Addresses that the process has reserved", bytes(&status, "VmSize:")),
        ("process_threads", "gauge", "Threads of the process", field(&status, "Threads:")),
        ("process_start_time_seconds", "gauge", "Start of the process, in seconds since 1970", start_seconds()),
    ];
    for (name, kind, help, value) in metrics {
        if let Some(value) = value {
            out.family(name, kind, Some(help));
            out.sample(name, "", value);
        }
    }
}

fn cpu_seconds() -> Option<String> {
    let usage = getrusage(UsageWho::RUSAGE_SELF).ok()?;
    let total = usage.user_time() + usage.system_time();
    Some(format!("{}.{:06}", total.tv_sec(), total.tv_usec()))
}

fn open_files() -> Option<String> {
    // One of them is this folder itself.
    Some(fs::read_dir("/proc/self/fd").ok()?.count().saturating_sub(1).to_string())
}

/// The first word after a label of `/proc/self/status`.
fn field(status: &str, label: &str) -> Option<String> {
    let value = status.lines().find_map(|line| line.strip_prefix(label))?;
    value.split_whitespace().next().map(str::to_owned)
}

/// It is told in KiB.
fn bytes(status: &str, label: &str) -> Option<String> {
    let kib: u64 = field(status, label)?.parse().ok()?;
    Some((kib * 1024).to_string())
}

fn start_seconds() -> Option<String> {
    let machine = fs::read_to_string("/proc/stat").ok()?;
    let booted: f64 = field(&machine, "btime ")?.parse().ok()?;
    let own = fs::read_to_string("/proc/self/stat").ok()?;
    // The second field is a name in parentheses, which may hold spaces; the start is the 22nd, in ticks since boot.
    let ticks: f64 = own.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    Some(format!("{:.2}", booted + ticks / TICKS_PER_SECOND))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_can_be_read_here_and_is_plausible() {
        let mut out = Exposition::default();
        write(&mut out);
        let text = out.into_text();
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.and_then(|value| value.parse().ok()).unwrap_or_default()
        };
        assert_eq!(text.lines().filter(|line| line.starts_with("# HELP ")).count(), 7, "{text}");
        assert!(value("process_cpu_seconds_total") > 0.0, "{text}");
        assert!(value("process_open_fds") >= 3.0 && value("process_open_fds") <= value("process_max_fds"), "{text}");
        assert!(value("process_resident_memory_bytes") > 100_000.0, "{text}");
        assert!(value("process_virtual_memory_bytes") > value("process_resident_memory_bytes"), "{text}");
        assert!(value("process_threads") >= 1.0, "{text}");
        let booted = field(&fs::read_to_string("/proc/stat").unwrap_or_default(), "btime ").unwrap_or_default();
        assert!(value("process_start_time_seconds") >= booted.parse().unwrap_or(f64::MAX), "{text}");
    }
}
