//! The counters as text for Prometheus (exposition format 0.0.4).

use super::{
    histogram::{Durations, LIMITS_US},
    usage::{FAULTS, OUTCOMES, PluginUsage, Usage},
};
use std::{
    fmt::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Writing to a string cannot fail.
macro_rules! line {
    ($out:expr, $($text:tt)*) => { let _ = writeln!($out, $($text)*); };
}

/// All counters of `usage`, and for each plugin by name whether it serves.
pub fn render<'p>(usage: &Usage, plugins_serving: impl Iterator<Item = (&'p str, bool)>) -> String {
    let mut out = String::new();
    let plugins = usage.plugins();
    serving(&mut out, plugins_serving);
    counters(&mut out, &plugins);
    head(&mut out, "gateway_request_duration_seconds", "histogram", "Time until the head of the answer");
    each_operation(&plugins, |labels, operation| {
        durations(&mut out, "gateway_request_duration_seconds", labels, &operation.latency.read());
    });
    head(&mut out, "gateway_database_duration_seconds", "histogram", "Time of a plugin's calls to the database");
    for (name, plugin) in &plugins {
        for (kind, histogram) in [("read", &plugin.database.read), ("write", &plugin.database.write)] {
            let labels = format!("plugin=\"{}\",kind=\"{kind}\"", escaped(name));
            durations(&mut out, "gateway_database_duration_seconds", &labels, &histogram.read());
        }
    }
    out
}

fn serving<'p>(out: &mut String, plugins: impl Iterator<Item = (&'p str, bool)>) {
    head(out, "gateway_plugin_serving", "gauge", "1 while the plugin serves, else 0");
    for (plugin, is_serving) in plugins {
        line!(out, "gateway_plugin_serving{{plugin=\"{}\"}} {}", escaped(plugin), u8::from(is_serving));
    }
}

fn counters(out: &mut String, plugins: &[(String, Arc<PluginUsage>)]) {
    head(out, "gateway_requests_total", "counter", "Requests by the class of their answer");
    each_operation(plugins, |labels, operation| {
        counts(out, "gateway_requests_total", (labels, "status"), &OUTCOMES, &operation.outcomes);
    });
    head(out, "gateway_request_faults_total", "counter", "What the handler did wrong");
    each_operation(plugins, |labels, operation| {
        counts(out, "gateway_request_faults_total", (labels, "kind"), &FAULTS, &operation.faults);
    });
}

fn each_operation(plugins: &[(String, Arc<PluginUsage>)], mut show: impl FnMut(&str, &super::usage::OperationUsage)) {
    for (name, plugin) in plugins {
        for (operation, usage) in plugin.operations() {
            show(&format!("plugin=\"{}\",operation=\"{}\"", escaped(name), escaped(&operation)), &usage);
        }
    }
}

fn head(out: &mut String, metric: &str, kind: &str, help: &str) {
    line!(out, "# HELP {metric} {help}\n# TYPE {metric} {kind}");
}

fn counts(out: &mut String, metric: &str, (labels, name): (&str, &str), values: &[&str], counts: &[AtomicU64]) {
    for (value, count) in values.iter().zip(counts) {
        line!(out, "{metric}{{{labels},{name}=\"{value}\"}} {}", count.load(Relaxed));
    }
}

fn durations(out: &mut String, metric: &str, labels: &str, durations: &Durations) {
    let mut count = 0;
    for (limit_us, more) in LIMITS_US.iter().zip(durations.counts) {
        count += more;
        line!(out, "{metric}_bucket{{{labels},le=\"{}\"}} {count}", seconds(*limit_us));
    }
    let count = durations.count();
    line!(out, "{metric}_bucket{{{labels},le=\"+Inf\"}} {count}");
    line!(out, "{metric}_sum{{{labels}}} {}", seconds(durations.sum_us));
    line!(out, "{metric}_count{{{labels}}} {count}");
}

/// Exactly: 1500 µs are 0.0015 s.
fn seconds(us: u64) -> String {
    let (whole, part) = (us / 1_000_000, us % 1_000_000);
    format!("{whole}.{part:06}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn escaped(label: &str) -> String {
    label.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn seconds_are_exact() {
        assert_eq!([0, 100, 1_500, 1_000_000, 10_000_001].map(seconds), ["0", "0.0001", "0.0015", "1", "10.000001"]);
    }

    #[test]
    fn steps_add_up() {
        let usage = Usage::default();
        let operation = usage.plugin("forum").operation("list_threads");
        for took_us in [50, 200, 20_000_000] {
            operation.latency.record(Duration::from_micros(took_us));
        }
        let text = render(&usage, [("fo\"rum", false)].into_iter());
        let labels = "plugin=\"forum\",operation=\"list_threads\"";
        for line in [
            "gateway_plugin_serving{plugin=\"fo\\\"rum\"} 0".to_owned(),
            format!("gateway_request_duration_seconds_bucket{{{labels},le=\"0.0001\"}} 1"),
            format!("gateway_request_duration_seconds_bucket{{{labels},le=\"10\"}} 2"),
            format!("gateway_request_duration_seconds_bucket{{{labels},le=\"+Inf\"}} 3"),
            format!("gateway_request_duration_seconds_sum{{{labels}}} 20.00025"),
            format!("gateway_request_duration_seconds_count{{{labels}}} 3"),
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }
}
