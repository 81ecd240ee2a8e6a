//! The queues of a manifest.

use plugin_api::{
    abi::is_snake_case,
    manifest::{Manifest, QueueSpec},
};
use std::collections::HashSet;

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

#[cfg(test)]
mod tests {
    use super::*;

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
