//! The gateways on one database as a table for people: a heading and one aligned line per gateway.

use crate::output::{aligned, printable};
use gateway::{ReplicaReport, differing_plugins};
use jiff::Timestamp;

const COLUMNS: usize = 6;
const HEADINGS: [&str; COLUMNS] = ["REPLICA", "VERSION", "STATE", "SINCE (UTC)", "LAST HEARD", "PLUGINS THAT DIFFER"];

/// The table as text that ends with a line break.
pub(crate) fn replica_table(replicas: &[ReplicaReport]) -> String {
    let differing = differing_plugins(replicas);
    aligned(HEADINGS.map(str::to_owned), replicas.iter().map(|replica| cells(replica, &differing)))
}

fn cells(replica: &ReplicaReport, differing: &[&str]) -> [String; COLUMNS] {
    let state = match (replica.is_silent, replica.is_this) {
        (true, _) => "silent",
        (false, true) => "this one",
        (false, false) => "answers",
    };
    let since = Timestamp::from_millisecond(replica.since_ms).ok();
    let plugin = |name: &&str| {
        let state = replica.plugins.get(*name).map_or("not there", String::as_str);
        printable(&format!("{name}: {state}"))
    };
    let differing: Vec<String> = differing.iter().map(plugin).collect();
    [
        printable(&replica.address),
        printable(&replica.version),
        state.to_owned(),
        since.map_or_else(|| "-".to_owned(), |since| since.strftime("%F %T").to_string()),
        format!("{} s ago", replica.seen_ago_ms.max(0) / 1000),
        if differing.is_empty() { "-".to_owned() } else { differing.join(", ") },
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    fn replica(address: &str, is_silent: bool, forum: &str) -> ReplicaReport {
        let plugins = [("forum", forum), ("hello", "serving")];
        ReplicaReport {
            address: address.to_owned(),
            version: "0.6.0".to_owned(),
            since_ms: 86_400_000,
            seen_ms: 90_000_000,
            seen_ago_ms: 4_900,
            is_silent,
            is_this: address == "a:1",
            plugins: plugins.map(|(name, state)| (name.to_owned(), state.to_owned())).into(),
        }
    }

    #[test]
    fn one_aligned_line_per_replica_names_the_plugins_that_differ() {
        let all = [
            replica("a:1", false, "serving"),
            replica("b\u{1b}[2J:1", false, "disabled"),
            replica("c:1", true, "fenced"),
        ];
        let text = replica_table(&all);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 4, "{text}");
        let cell = |line: usize, heading: &str| &lines[line][lines[0].find(heading).unwrap()..];
        assert!(cell(1, "STATE").starts_with("this one  "), "{text}");
        assert!(cell(1, "SINCE").starts_with("1970-01-02 00:00:00  4 s ago"), "{text}");
        assert_eq!(cell(1, "PLUGINS"), "forum: serving");
        assert_eq!(cell(2, "PLUGINS"), "forum: disabled");
        assert!(cell(3, "STATE").starts_with("silent"), "{text}");
        assert!(!text.contains('\u{1b}') && !text.contains("hello"), "{text}");
        let alone = replica_table(&all[..1]);
        assert!(alone.lines().nth(1).unwrap().ends_with("4 s ago     -"), "{alone}");
    }
}
