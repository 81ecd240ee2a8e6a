//! The text exposition format of Prometheus (version 0.0.4).
//!
//! The rule: names and label values come from plugins too, so each of them is made valid here. One invalid line makes
//! Prometheus refuse the whole scrape.

use crate::histogram::HistogramSnapshot;
use std::fmt::{Display, Write as _};

#[derive(Default)]
pub(crate) struct Exposition(String);

/// Writing to a string cannot fail.
macro_rules! line {
    ($out:expr, $($text:tt)*) => { let _ = writeln!($out.0, $($text)*); };
}

impl Exposition {
    /// Begins a metric family; its samples have to follow before the next family.
    pub(crate) fn family(&mut self, name: &str, kind: &str, help: Option<&str>) {
        if let Some(help) = help {
            line!(self, "# HELP {name} {}", help.replace('\\', "\\\\").replace('\n', "\\n"));
        }
        line!(self, "# TYPE {name} {kind}");
    }

    pub(crate) fn sample(&mut self, name: &str, labels: &str, value: impl Display) {
        if labels.is_empty() {
            line!(self, "{name} {value}");
        } else {
            line!(self, "{name}{{{labels}}} {value}");
        }
    }

    pub(crate) fn histogram(&mut self, name: &str, labels: &str, snapshot: &HistogramSnapshot) {
        let separator = if labels.is_empty() { "" } else { "," };
        let bucket = format!("{name}_bucket");
        let mut count = 0;
        for (bound_us, in_bucket) in snapshot.bounds_us.iter().zip(snapshot.counts) {
            count += in_bucket;
            self.sample(&bucket, &format!("{labels}{separator}le=\"{}\"", seconds(*bound_us)), count);
        }
        let count = snapshot.count();
        self.sample(&bucket, &format!("{labels}{separator}le=\"+Inf\""), count);
        self.sample(&format!("{name}_sum"), labels, seconds(snapshot.sum_us));
        self.sample(&format!("{name}_count"), labels, count);
    }

    pub(crate) fn into_text(self) -> String {
        self.0
    }
}

/// The text between the braces of a sample. Of two labels whose names are equal once they are valid, the last counts.
pub(crate) fn label_text<'l>(labels: impl IntoIterator<Item = (&'l str, &'l str)>) -> String {
    let mut valid: Vec<(String, &str)> = Vec::new();
    for (name, value) in labels {
        let name = valid_name(name, false);
        match valid.iter_mut().find(|(known, _)| *known == name) {
            Some(label) => label.1 = value,
            None => valid.push((name, value)),
        }
    }
    let escaped = |value: &str| value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    let labels: Vec<_> = valid.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    labels.join(",")
}

pub(crate) fn metric_name(name: &str) -> String {
    valid_name(name, true)
}

/// With `_` for every character that Prometheus refuses.
fn valid_name(name: &str, allows_colon: bool) -> String {
    let is_valid = |at: usize, c: char| {
        c == '_' || c.is_ascii_alphabetic() || (c == ':' && allows_colon) || (at > 0 && c.is_ascii_digit())
    };
    name.chars().enumerate().map(|(at, c)| if is_valid(at, c) { c } else { '_' }).collect()
}

/// Exactly: 1500 µs are 0.0015 s.
fn seconds(us: u64) -> String {
    let (whole, part) = (us / 1_000_000, us % 1_000_000);
    format!("{whole}.{part:06}").trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_exact() {
        assert_eq!([0, 100, 1_500, 1_000_000, 10_000_001].map(seconds), ["0", "0.0001", "0.0015", "1", "10.000001"]);
    }

    #[test]
    fn names_become_valid() {
        assert_eq!(metric_name("1plugin_a-b:c\n9é"), "_plugin_a_b:c_9_");
        assert_eq!(label_text([("a:b", "1"), ("c", "2"), ("a b", "3")]), "a_b=\"3\",c=\"2\"");
    }

    #[test]
    fn label_values_are_escaped() {
        assert_eq!(label_text([("a", "\\\"\n\\n")]), r#"a="\\\"\n\\n""#);
    }

    #[test]
    fn a_sample_without_labels_has_no_braces() {
        let mut out = Exposition::default();
        out.family("up", "gauge", Some("a\\b\nc"));
        out.sample("up", "", 1.5);
        assert_eq!(out.into_text(), "# HELP up a\\\\b\\nc\n# TYPE up gauge\nup 1.5\n");
    }
}
