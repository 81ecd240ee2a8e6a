//! Metrics for Prometheus: the text follows the format, and the numbers match what happened.

use super::{
    faults, setup,
    site::{Site, THREADS},
};
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{TestGateway, Wallet};
use std::collections::{BTreeMap, BTreeSet};

/// Values by name and sorted labels.
type Samples = BTreeMap<(String, BTreeMap<String, String>), f64>;

async fn scrape(gateway: &GatewayProcess) -> Samples {
    let answer = Site::at(gateway.admin_url()).get("/metrics").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "text/plain; version=0.0.4; charset=utf-8"));
    parse(&answer.text())
}

/// A strict reader of the exposition format: one TYPE per metric and before its samples, samples of a metric together, no
/// sample twice, no name or label that Prometheus would refuse, histograms that add up.
fn parse(text: &str) -> Samples {
    assert!(text.ends_with('\n'), "the last line is ended");
    let (mut samples, mut kinds) = (Samples::new(), BTreeMap::new());
    let (mut current, mut finished) = (String::new(), BTreeSet::new());
    for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with("# HELP ")) {
        if let Some(head) = line.strip_prefix("# TYPE ") {
            let (name, kind) = head.split_once(' ').unwrap();
            assert!(["counter", "gauge", "histogram", "summary"].contains(&kind), "{line}");
            assert!(kinds.insert(name.to_owned(), kind.to_owned()).is_none(), "a second {line}");
            finished.insert(std::mem::replace(&mut current, name.to_owned()));
            continue;
        }
        assert!(!line.starts_with('#'), "{line}");
        let (name, labels, value) = sample(line);
        let family = [
            &name[..],
            name.trim_end_matches("_bucket"),
            name.trim_end_matches("_sum"),
            name.trim_end_matches("_count"),
        ]
        .into_iter()
        .find(|family| kinds.contains_key(*family))
        .unwrap_or_else(|| panic!("no TYPE before {line}"));
        assert_eq!(family, current, "samples of a metric stand together: {line}");
        assert!(!finished.contains(family), "{line}");
        assert!(samples.insert((name, labels), value).is_none(), "twice: {line}");
    }
    for (name, _) in kinds.iter().filter(|(_, kind)| *kind == "histogram") {
        check_histogram(name, &samples);
    }
    samples
}

fn sample(line: &str) -> (String, BTreeMap<String, String>, f64) {
    let (series, value) = line.rsplit_once(' ').unwrap();
    let (name, rest) = series.split_once('{').unwrap_or((series, "}"));
    let is_name = |text: &str| {
        let mut bytes = text.bytes();
        bytes.next().is_some_and(|first| first.is_ascii_alphabetic() || first == b'_')
            && bytes.all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    assert!(is_name(name), "{line}");
    let mut labels = BTreeMap::new();
    let mut rest = rest.strip_suffix('}').unwrap_or_else(|| panic!("not closed: {line}"));
    while !rest.is_empty() {
        let (label, quoted) = rest.split_once("=\"").unwrap();
        assert!(is_name(label), "{line}");
        let end =
            (0..quoted.len()).find(|at| quoted.as_bytes()[*at] == b'"' && !quoted[..*at].ends_with('\\')).unwrap();
        assert!(labels.insert(label.to_owned(), quoted[..end].to_owned()).is_none(), "{line}");
        rest = quoted[end + 1..].strip_prefix(',').unwrap_or(&quoted[end + 1..]);
    }
    (name.to_owned(), labels, value.parse().unwrap_or_else(|_| panic!("no number: {line}")))
}

fn check_histogram(name: &str, samples: &Samples) {
    let mut buckets: BTreeMap<BTreeMap<String, String>, Vec<(f64, f64)>> = BTreeMap::new();
    for ((_, labels), value) in samples.iter().filter(|((sample, _), _)| *sample == format!("{name}_bucket")) {
        let mut labels = labels.clone();
        let limit = labels.remove("le").unwrap().replace("+Inf", "inf").parse().unwrap();
        buckets.entry(labels).or_default().push((limit, *value));
    }
    for (labels, mut steps) in buckets {
        steps.sort_by(|one, next| one.0.total_cmp(&next.0));
        assert!(steps.is_sorted_by(|one, next| one.1 <= next.1), "{name}{labels:?}: {steps:?}");
        let count = samples[&(format!("{name}_count"), labels.clone())];
        assert_eq!(steps.last().unwrap(), &(f64::INFINITY, count), "{name}{labels:?}");
        assert!(samples.contains_key(&(format!("{name}_sum"), labels)), "{name} has no sum");
    }
}

fn value(samples: &Samples, name: &str, labels: &[(&str, &str)]) -> f64 {
    let key = (name.to_owned(), labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect());
    samples.get(&key).copied().unwrap_or_else(|| panic!("{key:?} is missing"))
}

#[tokio::test]
async fn requests_are_counted_by_plugin_and_operation() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    let before = scrape(&gateway).await;
    let thread = site.open_thread(&Wallet::new(1), "Counted").await;
    for _ in 0..7 {
        assert_eq!(site.get(THREADS).await.status, 200);
    }
    assert_eq!(site.get(&format!("{THREADS}/{}", thread + 1)).await.status, 404);
    for path in ["/nowhere", "/api/nowhere/1", "/api/nowhere/2"] {
        assert_eq!(site.get(path).await.status, 404);
    }
    let after = scrape(&gateway).await;
    let requests = |operation, status| {
        let labels = [("plugin", "forum"), ("operation", operation), ("status", status)];
        value(&after, "gateway_requests_total", &labels)
    };
    assert_eq!((requests("list_threads", "2xx"), requests("list_threads", "5xx")), (7.0, 0.0));
    assert_eq!((requests("create_thread", "2xx"), requests("get_thread", "4xx")), (1.0, 1.0));
    let nowhere = [("plugin", "host"), ("operation", "none"), ("status", "4xx")];
    assert_eq!(value(&after, "gateway_requests_total", &nowhere), 3.0);
    let list = [("plugin", "forum"), ("operation", "list_threads")];
    assert_eq!(value(&after, "gateway_request_duration_seconds_count", &list), 7.0);
    assert!(value(&after, "gateway_request_duration_seconds_sum", &list) > 0.0);
    for kind in ["read", "write"] {
        let database = [("plugin", "forum"), ("kind", kind)];
        assert!(value(&after, "gateway_database_duration_seconds_count", &database) >= 1.0, "{kind}");
    }
    assert_eq!(value(&after, "gateway_plugin_serving", &[("plugin", "forum")]), 1.0);

    // Unknown paths add no series: such requests are only counted.
    let own = |samples: &Samples| samples.keys().filter(|(name, _)| name.starts_with("gateway_request")).count();
    assert_eq!(own(&before), own(&after));
}

#[tokio::test]
async fn faults_and_jobs_are_counted() {
    let gateway = faults::start(|setup| setup.set("plugins.fence_faults", 100_000)).await;
    let site = Site::of(&gateway);
    assert_eq!(site.get("/api/misbehaves/panic").await.status, 500);
    assert_eq!(site.get("/api/misbehaves/hang").await.status, 503);
    let job = [("plugin", "misbehaves"), ("job", "panic_in_job")];
    let ran = async || {
        let samples = scrape(&gateway).await;
        let key = (
            "gateway_job_duration_seconds_count".to_owned(),
            job.iter().map(|(a, b)| ((*a).into(), (*b).into())).collect(),
        );
        samples.get(&key).is_some_and(|count| *count >= 1.0)
    };
    TestGateway::eventually(LIMIT, "the job is counted", ran).await;
    let samples = scrape(&gateway).await;
    let failed = [("plugin", "misbehaves"), ("job", "panic_in_job"), ("result", "panicked")];
    assert!(value(&samples, "gateway_job_runs_total", &failed) >= 1.0);
    for (kind, operation) in [("panic", "panic_at_once"), ("timeout", "hang")] {
        let labels = [("plugin", "misbehaves"), ("operation", operation), ("kind", kind)];
        assert_eq!(value(&samples, "gateway_plugin_faults_total", &labels), 1.0, "{kind}");
    }
}

#[test]
#[should_panic = "samples of a metric stand together"]
fn the_reader_is_strict() {
    parse("# TYPE a counter\na 1\n# TYPE b counter\na{x=\"y\"} 1\n");
}
