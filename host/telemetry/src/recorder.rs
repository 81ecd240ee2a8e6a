//! The recorder behind the macros of the `metrics` crate, for what is recorded too rarely to need a handle.
//!
//! The rule: a recording takes a read lock and an atomic operation. No task and no memory per recorded value.

use crate::{
    descriptions,
    exposition::{self, Exposition},
    histogram::Histogram,
    registry::Registry,
};
use metrics::{Counter, Gauge, Key, KeyName, Metadata, Recorder, SharedString, Unit};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

/// Clones record into the same series.
#[derive(Clone, Default)]
pub struct MetricsRecorder(Arc<RecordedMetrics>);

#[derive(Default)]
struct RecordedMetrics {
    counters: Registry<Key, AtomicU64>,
    /// The bits of an `f64`.
    gauges: Registry<Key, AtomicU64>,
    histograms: Registry<Key, Histogram>,
    descriptions: Registry<String, SharedString>,
}

impl MetricsRecorder {
    /// The recorder of this process; `None` when it has another one already.
    pub fn install() -> Option<Self> {
        let recorder = Self::default();
        metrics::set_global_recorder(recorder.clone()).ok()?;
        Some(recorder)
    }

    /// What a counter has counted, by the values of its labels.
    pub fn counts(&self, name: &str) -> BTreeMap<String, u64> {
        let mut counts = BTreeMap::new();
        for (key, count) in self.0.counters.list().into_iter().filter(|(key, _)| key.name() == name) {
            let labels = key.labels().map(|label| label.value()).collect::<Vec<_>>().join(" ");
            *counts.entry(labels).or_default() += count.load(Relaxed);
        }
        counts
    }

    /// The values of a gauge, by those of its labels.
    pub fn gauges(&self, name: &str) -> BTreeMap<String, f64> {
        let gauges = self.0.gauges.list().into_iter().filter(|(key, _)| key.name() == name);
        let values = |key: &Key| key.labels().map(|label| label.value()).collect::<Vec<_>>().join(" ");
        gauges.map(|(key, bits)| (values(&key), f64::from_bits(bits.load(Relaxed)))).collect()
    }

    pub fn render(&self) -> String {
        let mut out = Exposition::default();
        self.write(&mut out);
        out.into_text()
    }

    /// Names of the metrics that have a sample.
    pub(crate) fn names(&self) -> BTreeSet<String> {
        let RecordedMetrics { counters, gauges, histograms, .. } = &*self.0;
        let keys = counters.list().into_iter().map(|(key, _)| key).chain(gauges.list().into_iter().map(|(key, _)| key));
        let keys = keys.chain(histograms.list().into_iter().map(|(key, _)| key));
        keys.map(|key| exposition::metric_name(key.name())).collect()
    }

    pub(crate) fn write(&self, out: &mut Exposition) {
        let RecordedMetrics { counters, gauges, histograms, descriptions } = &*self.0;
        let descriptions: BTreeMap<_, _> = descriptions.list().into_iter().collect();
        write_families(out, ("counter", counters), &descriptions, |out, name, labels, counter| {
            out.sample(name, labels, counter.load(Relaxed));
        });
        write_families(out, ("gauge", gauges), &descriptions, |out, name, labels, gauge| {
            out.sample(name, labels, f64::from_bits(gauge.load(Relaxed)));
        });
        write_families(out, ("histogram", histograms), &descriptions, |out, name, labels, histogram| {
            out.histogram(name, labels, &histogram.snapshot());
        });
    }

    /// The first description of a metric counts.
    fn describe(&self, name: &KeyName, description: SharedString) {
        self.0.descriptions.get_or_insert_with(&exposition::metric_name(name.as_str()), || description);
    }
}

/// Series whose names and labels are equal once they are valid are one sample: Prometheus refuses a second one.
fn write_families<V>(
    out: &mut Exposition,
    (kind, series): (&str, &Registry<Key, V>),
    descriptions: &BTreeMap<String, Arc<SharedString>>,
    write_sample: impl Fn(&mut Exposition, &str, &str, &V),
) {
    let mut families: BTreeMap<String, BTreeMap<String, Arc<V>>> = BTreeMap::new();
    for (key, value) in series.list() {
        let labels = exposition::label_text(key.labels().map(|label| (label.key(), label.value())));
        families.entry(exposition::metric_name(key.name())).or_default().insert(labels, value);
    }
    for (name, samples) in &families {
        let described = descriptions.get(name).map(|description| &***description);
        out.family(name, kind, described.or_else(|| descriptions::help(name)));
        samples.iter().for_each(|(labels, value)| write_sample(out, name, labels, value));
    }
}

impl Recorder for MetricsRecorder {
    fn describe_counter(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, description);
    }

    fn describe_gauge(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, description);
    }

    fn describe_histogram(&self, name: KeyName, _: Option<Unit>, description: SharedString) {
        self.describe(&name, description);
    }

    fn register_counter(&self, key: &Key, _: &Metadata<'_>) -> Counter {
        self.0.counters.get_or_insert_with(key, AtomicU64::default).into()
    }

    fn register_gauge(&self, key: &Key, _: &Metadata<'_>) -> Gauge {
        self.0.gauges.get_or_insert_with(key, AtomicU64::default).into()
    }

    fn register_histogram(&self, key: &Key, _: &Metadata<'_>) -> metrics::Histogram {
        self.0.histograms.get_or_insert_with(key, Histogram::of_jobs).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// What `record` records, line by line.
    fn recorded(record: impl FnOnce()) -> Vec<String> {
        let recorder = MetricsRecorder::default();
        metrics::with_local_recorder(&recorder, record);
        recorder.render().lines().map(str::to_owned).collect()
    }

    #[test]
    fn concurrent_increments_add_up() {
        let recorder = MetricsRecorder::default();
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    metrics::with_local_recorder(&recorder, || {
                        for n in 0..1_000 {
                            metrics::counter!("events_total", "parity" => if n % 2 == 0 { "even" } else { "odd" })
                                .increment(2);
                            metrics::gauge!("open").increment(0.5);
                        }
                    });
                });
            }
        });
        let text = "# TYPE events_total counter\nevents_total{parity=\"even\"} 8000\nevents_total{parity=\"odd\"} 8000\n\
                    # TYPE open gauge\nopen 4000\n";
        assert_eq!(recorder.render(), text);
    }

    #[test]
    fn a_gauge_is_set_and_moved() {
        let lines = recorded(|| {
            metrics::gauge!("head", "chain" => "main").set(7.0);
            metrics::gauge!("head", "chain" => "main").increment(2.5);
            metrics::gauge!("head", "chain" => "main").decrement(10.0);
        });
        assert_eq!(lines, ["# TYPE head gauge", "head{chain=\"main\"} -0.5"]);
    }

    #[test]
    fn durations_are_counted_in_the_buckets_of_jobs() {
        let lines = recorded(|| {
            for ms in [1, 2, 90_000, 4_000_000] {
                metrics::histogram!("run_seconds", "job" => "a").record(Duration::from_millis(ms));
            }
        });
        let bounds = ["0.001", "0.005", "0.01", "0.05", "0.1", "0.5", "1", "5", "10", "60", "300", "3600", "+Inf"];
        let counts = [1, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4];
        let mut expected = vec!["# TYPE run_seconds histogram".to_owned()];
        for (bound, count) in bounds.iter().zip(counts) {
            expected.push(format!("run_seconds_bucket{{job=\"a\",le=\"{bound}\"}} {count}"));
        }
        expected.push("run_seconds_sum{job=\"a\"} 4090.003".to_owned());
        expected.push("run_seconds_count{job=\"a\"} 4".to_owned());
        assert_eq!(lines, expected);
    }

    #[test]
    fn names_and_labels_of_a_plugin_are_made_valid() {
        let lines = recorded(|| {
            metrics::counter!("a-b", "x" => "1\"} 9\nevil 1", "y\nz" => "\\").increment(1);
            metrics::counter!("a_b", "q" => "2").increment(2);
        });
        assert_eq!(lines, ["# TYPE a_b counter", "a_b{q=\"2\"} 2", r#"a_b{x="1\"} 9\nevil 1",y_z="\\"} 1"#]);
    }

    #[test]
    fn a_description_is_the_help_of_its_family() {
        let lines = recorded(|| {
            metrics::describe_counter!("seen_total", "Events\nseen");
            metrics::describe_counter!("seen_total", "Later");
            metrics::describe_gauge!("never_set", "Shown with a sample only");
            metrics::counter!("seen_total").increment(1);
        });
        assert_eq!(lines, ["# HELP seen_total Events\\nseen", "# TYPE seen_total counter", "seen_total 1"]);
    }
}
