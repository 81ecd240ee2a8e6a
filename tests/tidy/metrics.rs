//! Metrics: each has the prefix of the gateway and a meaning that a scrape tells.

use crate::repository::{assert_none, files, read};
use std::collections::BTreeSet;

const DESCRIPTIONS: &str = "host/telemetry/src/descriptions.rs";
const CALLS: [&str; 4] = ["metrics::counter!(\"", "metrics::gauge!(\"", "metrics::histogram!(\"", "self.set_gauge(\""];

/// Names that a source of the host records, without tests.
fn recorded(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let after = CALLS.iter().flat_map(|call| code.split(*call).skip(1));
    after.filter_map(|rest| rest.split('"').next()).collect()
}

#[test]
fn each_metric_of_the_host_is_described_and_each_description_is_of_one() {
    let descriptions = read(DESCRIPTIONS);
    let code = descriptions.split("#[cfg(test)]").next().unwrap_or_default();
    let described: BTreeSet<&str> =
        code.split('"').filter(|text| text.starts_with("gateway_") && !text.contains(' ')).collect();
    let sources: Vec<_> = files().into_iter().filter(|file| file.is_rust() && file.below("host")).collect();
    let names: BTreeSet<&str> = sources.iter().flat_map(|file| recorded(&file.text)).collect();
    assert!(names.len() > 20, "{names:?}");
    let undescribed = names.difference(&described).map(|name| format!("{name}: add it to {DESCRIPTIONS}"));
    assert_none("a metric without a meaning", &undescribed.collect::<Vec<_>>());
    let unrecorded = described.difference(&names).map(|name| format!("{name}: nothing records it"));
    assert_none("a meaning without a metric", &unrecorded.collect::<Vec<_>>());
}
