//! Small pictures, drawn here: the page needs no script for them. Traffic and latency of the last hour, and what plugins count.

use super::{html::Html, sections::within};
use gateway::operators::PluginControls;
use gateway_storage::StorageError;
use gateway_telemetry::{TRAFFIC_INTERVALS_MAX, TrafficInterval, TrafficTotals};
use plugin_api::point::ControlPlot;
use std::fmt::Write as _;

/// The picture's own units; the page stretches it.
const WIDTH: usize = TRAFFIC_INTERVALS_MAX - 1;
const HEIGHT: f64 = 100.0;
const HOUR: [&str; 2] = ["an hour ago", "now"];
/// Of a plot of a plugin.
const VALUES_MAX: usize = 400;
/// Latency is drawn by its logarithm, from 0.1 ms.
const LATENCY_MIN_US: f64 = 100.0;
const LATENCY_LABELS: [&str; 6] = ["10 s", "1 s", "100 ms", "10 ms", "1 ms", "0.1 ms"];
const DECADES: f64 = 5.0;

/// Writes nothing before there is a rate.
pub(super) fn traffic(page: &mut Html, intervals: &[TrafficInterval]) {
    let Some(now) = intervals.last() else { return };
    page.raw("<section tabindex=\"0\" aria-label=\"Last hour\"><h2>Last hour</h2><div class=\"plots\">");
    requests(page, intervals, now);
    latency(page, intervals, now);
    page.raw("</div></section>");
}

fn requests(page: &mut Html, intervals: &[TrafficInterval], now: &TrafficInterval) {
    let rate = |interval: &TrafficInterval| interval.per_second(interval.counted.requests);
    let failed = |interval: &TrafficInterval| interval.per_second(interval.counted.failed);
    let most = intervals.iter().map(rate).fold(0.0, f64::max);
    let top = round_up(most);
    let failures: u64 = intervals.iter().map(|interval| interval.counted.failed).sum();
    let summary = format!("{} now, at most {}; {failures} failed (5xx)", short(rate(now)), short(most));
    let height = |rate: f64| Some(rate / top);
    begin(page, "Requests per second", &summary, &scale(top), WIDTH);
    lines(page, "plot-main", intervals, |interval| height(rate(interval)));
    // Only where there are some: a line at zero looks like the axis.
    lines(page, "plot-failed", intervals, |interval| height(failed(interval)).filter(|height| *height > 0.0));
    end(page, HOUR);
}

fn latency(page: &mut Html, intervals: &[TrafficInterval], now: &TrafficInterval) {
    let TrafficTotals { latency, .. } = &now.counted;
    let summary = format!("half within {}, 99 % within {} now (dashed)", within(latency, 500), within(latency, 990));
    let height = |interval: &TrafficInterval, permille| {
        let us = interval.counted.latency.quantile(permille)?.as_secs_f64() * 1_000_000.0;
        Some(((us / LATENCY_MIN_US).log10() / DECADES).clamp(0.0, 1.0))
    };
    begin(page, "Latency", &summary, &LATENCY_LABELS.map(str::to_owned), WIDTH);
    lines(page, "plot-main", intervals, |interval| height(interval, 500));
    lines(page, "plot-worst", intervals, |interval| height(interval, 990));
    end(page, HOUR);
}

/// What the parts with switches have done, with their plots. Writes nothing when none counts anything.
pub(super) fn counters(page: &mut Html, controls: &Result<Vec<PluginControls>, StorageError>) {
    let Ok(controls) = controls else { return };
    let controls =
        || controls.iter().flat_map(|of| of.controls.iter().map(move |control| (of.plugin.as_str(), control)));
    if controls().all(|(_, control)| control.counters.is_empty()) {
        return;
    }
    page.table("Counters", &["Plugin", "Of", "Counts", "Now"]);
    for (plugin, control) in controls() {
        for counter in &control.counters {
            page.raw("<tr><th scope=\"row\">");
            page.text(plugin);
            page.raw("</th>");
            page.cell(&control.name);
            page.cell(&counter.name);
            page.cell(&counter.value);
            page.raw("</tr>");
        }
    }
    page.end_table();
    let mut plots = controls().filter_map(|(_, control)| control.plot.as_ref()).peekable();
    if plots.peek().is_some() {
        page.raw(
            "<section tabindex=\"0\" aria-label=\"Plots of plugins\"><h2>Plots of plugins</h2><div class=\"plots\">",
        );
        plots.for_each(|plot| of_control(page, plot));
        page.raw("</div></section>");
    }
}

/// Writes nothing before there are two values.
fn of_control(page: &mut Html, plot: &ControlPlot) {
    let values = plot.values.get(plot.values.len().saturating_sub(VALUES_MAX)..).unwrap_or_default();
    let [first @ .., now] = values else { return };
    // Shown as numbers of at most a few digits; a double is exact enough for a line.
    let most = values.iter().fold(0, |most, value| *value.max(&most)) as f64;
    let (top, width) = (round_up(most), first.len());
    if width == 0 {
        return;
    }
    begin(page, &plot.title, &format!("{now} now, at most {}", short(most)), &scale(top), width);
    path(page, "plot-main", (0..).zip(values.iter().map(|value| Some(*value as f64 / top))));
    end(page, [&plot.since, "now"]);
}

fn scale(top: f64) -> [String; 3] {
    [short(top), short(top / 2.0), "0".to_owned()]
}

/// `labels`: the scale, from the top, at equal distances.
fn begin(page: &mut Html, title: &str, summary: &str, labels: &[String], width: usize) {
    page.raw("<figure><figcaption><b>");
    page.text(title);
    page.raw("</b> ");
    page.text(summary);
    page.raw("</figcaption><div class=\"plot\"><div class=\"scale\" aria-hidden=\"true\">");
    for label in labels {
        page.raw("<span>");
        page.text(label);
        page.raw("</span>");
    }
    page.raw("</div><svg role=\"img\" preserveAspectRatio=\"none\" viewBox=\"0 0 ");
    page.number(count(width));
    page.raw(" 100\" aria-label=\"");
    page.text(title);
    page.raw(": ");
    page.text(summary);
    page.raw("\"><path class=\"plot-grid\" d=\"");
    let mut grid = String::new();
    for line in 0..labels.len() {
        let y = HEIGHT * fraction(line, labels.len().saturating_sub(1));
        // Writing to a string cannot fail.
        let _ = write!(grid, "M0 {y:.1}H{width}");
    }
    page.text(&grid);
    page.raw("\"/>");
}

/// `times`: of the left and the right end.
fn end(page: &mut Html, times: [&str; 2]) {
    page.raw("</svg></div><div class=\"times\" aria-hidden=\"true\">");
    for time in times {
        page.raw("<span>");
        page.text(time);
        page.raw("</span>");
    }
    page.raw("</div></figure>");
}

/// A line with gaps where there is no value; the newest point is at the right. `height` is from 0 to 1.
fn lines(
    page: &mut Html,
    class: &'static str,
    intervals: &[TrafficInterval],
    height: impl Fn(&TrafficInterval) -> Option<f64>,
) {
    let first = (WIDTH + 1).saturating_sub(intervals.len());
    path(page, class, (first..).zip(intervals.iter().map(height)));
}

fn path(page: &mut Html, class: &'static str, points: impl Iterator<Item = (usize, Option<f64>)>) {
    let (mut path, mut is_open) = (String::new(), false);
    for (x, height) in points {
        let Some(height) = height else {
            is_open = false;
            continue;
        };
        let y = HEIGHT * (1.0 - height);
        // A point alone is a short line, which its round ends make visible.
        let _ = if is_open { write!(path, "L{x} {y:.1}") } else { write!(path, "M{x} {y:.1}h0.01") };
        is_open = true;
    }
    page.raw("<path class=\"");
    page.raw(class);
    page.raw("\" d=\"");
    page.text(&path);
    page.raw("\"/>");
}

/// The next 1, 2 or 5 with zeros, so that the scale rests while the traffic moves a little.
fn round_up(rate: f64) -> f64 {
    let decade = 10_f64.powf(rate.max(1.0).log10().floor());
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * decade);
    steps.into_iter().find(|step| *step >= rate).unwrap_or(rate)
}

fn short(rate: f64) -> String {
    if rate == 0.0 || rate >= 10.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

fn fraction(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

fn count(number: usize) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gateway_telemetry::Usage;
    use std::time::Duration;

    /// Intervals of 30 s with so many requests.
    fn intervals(requests: &[u64]) -> Vec<TrafficInterval> {
        let interval = |requests: &u64| TrafficInterval {
            length: Duration::from_secs(30),
            counted: TrafficTotals { requests: *requests, failed: requests / 100, ..TrafficTotals::default() },
        };
        requests.iter().map(interval).collect()
    }

    fn drawn(intervals: &[TrafficInterval]) -> String {
        let mut page = Html::new();
        traffic(&mut page, intervals);
        page.into_string()
    }

    #[test]
    fn the_newest_is_at_the_right_and_the_scale_is_round() {
        let page = drawn(&intervals(&[30, 60, 300]));
        assert!(page.contains("<b>Requests per second</b> 10 now, at most 10; 3 failed (5xx)"), "{page}");
        assert!(page.contains("<span>10</span><span>5.0</span><span>0</span>"), "{page}");
        assert!(page.contains("d=\"M117 90.0h0.01L118 80.0L119 0.0\""), "{page}");
        assert!(page.contains("<path class=\"plot-failed\" d=\"M119 99.0h0.01\"/>"), "{page}");
        assert!(page.contains("half within –, 99 % within –"), "no latency is known: {page}");
        assert!(!page.contains("style="), "the page's policy forbids it");
        assert_eq!(drawn(&[]), "");
    }

    #[test]
    fn latency_has_gaps_and_a_logarithmic_scale() {
        let usage = Usage::default();
        let mut all = intervals(&[1, 0, 1]);
        let operation = usage.plugin("forum").operation("list_threads");
        operation.latency.record(Duration::from_millis(10));
        all[0].counted.latency = usage.latency("forum");
        operation.latency.record(Duration::from_secs(20));
        all[2].counted.latency = usage.latency("forum");
        let page = drawn(&all);
        assert!(page.contains("half within 10 ms, 99 % within over 10 s now"), "{page}");
        assert!(page.contains("<path class=\"plot-worst\" d=\"M117 60.0h0.01M119 0.0h0.01\"/>"), "{page}");
    }

    #[test]
    fn what_a_plugin_counts_is_drawn_from_edge_to_edge() {
        let drawn = |values: Vec<u64>| {
            let mut page = Html::new();
            of_control(&mut page, &ControlPlot { title: "Sent <b>".to_owned(), since: "3 h ago".to_owned(), values });
            page.into_string()
        };
        let page = drawn(vec![0, 5, 10]);
        assert!(page.contains("<b>Sent &lt;b&gt;</b> 10 now, at most 10"), "{page}");
        assert!(page.contains("d=\"M0 100.0h0.01L1 50.0L2 0.0\""), "{page}");
        assert!(page.contains("viewBox=\"0 0 2 100\""), "{page}");
        assert!(page.contains("<span>3 h ago</span><span>now</span>"), "{page}");
        assert_eq!((drawn(vec![]), drawn(vec![7])), (String::new(), String::new()), "no line");
        let many = drawn(vec![1; VALUES_MAX + 100]);
        assert!(many.contains(&format!("viewBox=\"0 0 {} 100\"", VALUES_MAX - 1)), "bounded");
        assert!(drawn(vec![0, u64::MAX]).contains("L1 7.8"), "any number");
    }

    #[test]
    fn scales() {
        assert_eq!(
            [0.0, 0.2, 1.0, 1.1, 2.0, 3.0, 7.0, 480.0, 1001.0].map(round_up),
            [1.0, 1.0, 1.0, 2.0, 2.0, 5.0, 10.0, 500.0, 2000.0]
        );
    }
}
