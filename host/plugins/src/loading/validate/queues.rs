//! The queues of a manifest, and the limits that a plugin gives them when it starts, by its configuration.

use plugin_api::{
    abi::is_snake_case,
    manifest::{Manifest, QueueLimits, QueueSpec},
};
use std::collections::HashSet;

const DAY_MS: u64 = 86_400_000;
const WAIT_MAX_MS: u64 = 365 * DAY_MS;
const CONCURRENCY_MAX: u32 = 1_024;

/// Their tables are written into statements of the gateway's own, and belong to the plugin.
pub(crate) fn check_queues(manifest: &Manifest, problems: &mut Vec<String>) {
    let mut tables = HashSet::new();
    let prefix = format!("{}_", manifest.name);
    for QueueSpec { table } in &manifest.queues {
        if !is_snake_case(table) || table.strip_prefix(&prefix).is_none_or(str::is_empty) {
            problems.push(format!("queue `{table}`: expected a table of the plugin, such as `{prefix}mails`"));
        }
        if !tables.insert(table) {
            problems.push(format!("queue `{table}` is there twice"));
        }
    }
}

/// Limits that a queue cannot run by. The names are those of `plugin_api::queue::QueueSettings`, which the author wrote.
pub(crate) fn check_queue_limits(limits: &QueueLimits) -> Result<(), Vec<String>> {
    let QueueLimits { backoff_ms, concurrency, concurrency_per_group, lease_ms, timeout_ms, .. } = limits;
    let mut problems = Vec::new();
    // One of them is enough: there may be thousands.
    if let Some((index, wait_ms)) = backoff_ms.iter().enumerate().find(|(_, wait_ms)| **wait_ms > WAIT_MAX_MS) {
        problems.push(format!("`backoff[{index}]` is {wait_ms} ms: expected a year at most"));
    }
    for (name, duration_ms) in [("lease", *lease_ms), ("timeout", *timeout_ms)] {
        if !(1..=DAY_MS).contains(&duration_ms) {
            problems.push(format!("`{name}` is {duration_ms} ms: expected 1 ms to a day"));
        }
    }
    if !(1..=CONCURRENCY_MAX).contains(concurrency) {
        problems.push(format!("`concurrency` is {concurrency}: expected 1 to {CONCURRENCY_MAX}"));
    }
    if *concurrency_per_group == 0 {
        problems.push("`concurrency_per_group` is 0: expected 1 or more".to_owned());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_limit_that_a_queue_cannot_run_by_is_named() {
        let good = QueueLimits {
            backoff_ms: vec![0, 365 * 86_400_000],
            concurrency: 1_024,
            concurrency_per_group: 1,
            lease_ms: 1,
            timeout_ms: 86_400_000,
            slow_after_ms: u64::MAX,
            keep_dead_ms: u64::MAX,
        };
        assert_eq!(check_queue_limits(&good), Ok(()));
        let bad = QueueLimits {
            backoff_ms: vec![1_000, u64::MAX, u64::MAX],
            concurrency: 0,
            concurrency_per_group: 0,
            lease_ms: 0,
            timeout_ms: 86_400_001,
            ..good.clone()
        };
        let problems = [
            "`backoff[1]` is 18446744073709551615 ms: expected a year at most",
            "`lease` is 0 ms: expected 1 ms to a day",
            "`timeout` is 86400001 ms: expected 1 ms to a day",
            "`concurrency` is 0: expected 1 to 1024",
            "`concurrency_per_group` is 0: expected 1 or more",
        ];
        assert_eq!(check_queue_limits(&bad), Err(problems.map(str::to_owned).into()));
        assert!(check_queue_limits(&QueueLimits { concurrency: 1_025, ..good.clone() }).is_err());
        assert!(check_queue_limits(&QueueLimits { timeout_ms: 0, lease_ms: 86_400_001, ..good }).is_err());
    }

    fn problems(tables: &[&str]) -> Vec<String> {
        let queues = tables.iter().map(|table| QueueSpec { table: (*table).to_owned() }).collect();
        let manifest = Manifest { name: "notes".to_owned(), queues, ..Manifest::default() };
        let mut problems = Vec::new();
        check_queues(&manifest, &mut problems);
        problems
    }

    #[test]
    fn a_queue_is_a_table_of_the_plugin_by_a_plain_name() {
        assert!(problems(&["notes_mails", "notes_calls"]).is_empty());
        for wrong in ["mails", "notes_", "forum_mails", "notes_mails; DROP TABLE a", "notes_Mails", "host_jobs"] {
            assert_eq!(problems(&[wrong]).len(), 1, "{wrong}");
        }
        assert_eq!(problems(&["notes_mails", "notes_mails"]), ["queue `notes_mails` is there twice"]);
    }
}
