//! The response to a scrape by Prometheus: what this process is and uses, the usage of each plugin, then the series of the recorder.

use crate::{
    descriptions,
    exposition::{Exposition, label_text},
    process,
    recorder::MetricsRecorder,
    usage::{OperationUsage, PluginUsage, STATUS_CLASSES, Usage},
};
use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

type Plugins = BTreeMap<String, Arc<PluginUsage>>;

/// `plugins_serving`: each plugin by name, and whether it serves.
pub fn render_metrics<'p>(
    usage: &Usage,
    recorder: Option<&MetricsRecorder>,
    plugins_serving: impl Iterator<Item = (&'p str, bool)>,
) -> String {
    let mut out = Exposition::default();
    let plugins = usage.plugins();
    write_build(&mut out);
    process::write(&mut out);
    write_serving(&mut out, plugins_serving);
    write_requests(&mut out, &plugins);
    write_database(&mut out, &plugins);
    if let Some(recorder) = recorder {
        recorder.write(&mut out);
        write_unrecorded(&mut out, recorder);
    }
    out.into_text()
}

fn write_build(out: &mut Exposition) {
    let plugin_api = format!("{}.{}", plugin_api::abi::ABI_MAJOR, plugin_api::abi::ABI_MINOR);
    let labels = [("version", env!("CARGO_PKG_VERSION")), ("plugin_api", plugin_api.as_str())];
    out.family("gateway_build_info", "gauge", Some("1; the labels say which gateway this is"));
    out.sample("gateway_build_info", &label_text(labels), 1);
}

/// Kind and meaning of what has no sample yet.
fn write_unrecorded(out: &mut Exposition, recorder: &MetricsRecorder) {
    let recorded = recorder.names();
    for (name, kind, help) in descriptions::RECORDED.iter().filter(|(name, ..)| !recorded.contains(*name)) {
        out.family(name, kind, Some(help));
    }
}

fn write_serving<'p>(out: &mut Exposition, plugins: impl Iterator<Item = (&'p str, bool)>) {
    out.family("gateway_plugin_serving", "gauge", Some("1 while the plugin serves, else 0"));
    for (plugin, is_serving) in plugins {
        out.sample("gateway_plugin_serving", &label_text([("plugin", plugin)]), u8::from(is_serving));
    }
}

fn write_requests(out: &mut Exposition, plugins: &Plugins) {
    let name = "gateway_requests_total";
    out.family(name, "counter", Some("Requests by the class of their answer"));
    each_operation(plugins, |labels, operation| {
        write_counts(out, name, labels, ("status", &STATUS_CLASSES), &operation.responses);
    });
    let name = "gateway_request_duration_seconds";
    out.family(name, "histogram", Some("Time until the head of the answer"));
    each_operation(plugins, |labels, operation| {
        out.histogram(name, &label_text(labels), &operation.latency.snapshot());
    });
}

fn write_database(out: &mut Exposition, plugins: &Plugins) {
    let name = "gateway_database_duration_seconds";
    out.family(name, "histogram", Some("Time of a plugin's calls to the database"));
    for (plugin, usage) in plugins {
        for (kind, histogram) in [("read", &usage.database.read), ("write", &usage.database.write)] {
            out.histogram(name, &label_text([("plugin", plugin.as_str()), ("kind", kind)]), &histogram.snapshot());
        }
    }
}

fn each_operation(plugins: &Plugins, mut write: impl FnMut([(&str, &str); 2], &OperationUsage)) {
    for (plugin, usage) in plugins {
        for (operation, usage) in usage.operations() {
            write([("plugin", plugin.as_str()), ("operation", operation.as_str())], &usage);
        }
    }
}

/// One sample for each value of the label `label`.
fn write_counts(
    out: &mut Exposition,
    name: &str,
    [plugin, operation]: [(&str, &str); 2],
    (label, values): (&str, &[&str]),
    counts: &[AtomicU64],
) {
    for (value, count) in values.iter().zip(counts) {
        out.sample(name, &label_text([plugin, operation, (label, value)]), count.load(Relaxed));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn buckets_are_cumulative() {
        let usage = Usage::default();
        let operation = usage.plugin("forum").operation("list_threads");
        for duration_us in [50, 200, 20_000_000] {
            operation.latency.record(Duration::from_micros(duration_us));
        }
        let recorder = MetricsRecorder::default();
        metrics::with_local_recorder(&recorder, || metrics::counter!("runs_total").increment(3));
        let text = render_metrics(&usage, Some(&recorder), [("fo\"rum", false)].into_iter());
        let labels = "plugin=\"forum\",operation=\"list_threads\"";
        for line in [
            "# HELP gateway_plugin_serving 1 while the plugin serves, else 0".to_owned(),
            "gateway_plugin_serving{plugin=\"fo\\\"rum\"} 0".to_owned(),
            format!("gateway_request_duration_seconds_bucket{{{labels},le=\"0.0001\"}} 1"),
            format!("gateway_request_duration_seconds_bucket{{{labels},le=\"10\"}} 2"),
            format!("gateway_request_duration_seconds_bucket{{{labels},le=\"+Inf\"}} 3"),
            format!("gateway_request_duration_seconds_sum{{{labels}}} 20.00025"),
            format!("gateway_request_duration_seconds_count{{{labels}}} 3"),
            "runs_total 3".to_owned(),
            "# HELP gateway_tx_queued Transactions of the key that wait to be signed".to_owned(),
            format!(
                "gateway_build_info{{version=\"{}\",plugin_api=\"{}.{}\"}} 1",
                env!("CARGO_PKG_VERSION"),
                plugin_api::abi::ABI_MAJOR,
                plugin_api::abi::ABI_MINOR
            ),
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is missing in\n{text}");
        }
    }
}
