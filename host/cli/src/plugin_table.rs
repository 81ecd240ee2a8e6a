//! Plugin reports as a table for people: a heading and one aligned line per plugin.

use crate::output::{aligned, printable};
use gateway_plugins::PluginReport;

const COLUMNS: usize = 12;
const HEADINGS: [&str; COLUMNS] = [
    "PLUGIN",
    "VERSION",
    "STATE",
    "API",
    "ROUTES",
    "ACTIONS",
    "EVENTS",
    "JOBS",
    "MIGRATIONS",
    "FAULTS",
    "GRANTS",
    "REASON",
];

/// The table as text that ends with a line break.
pub(crate) fn plugin_table(reports: &[PluginReport]) -> String {
    aligned(HEADINGS.map(str::to_owned), reports.iter().map(cells))
}

fn cells(report: &PluginReport) -> [String; COLUMNS] {
    let or_dash = |text: &Option<String>| text.as_deref().map_or_else(|| "-".to_owned(), printable);
    [
        printable(&report.name),
        or_dash(&report.version),
        report.state.to_string(),
        or_dash(&report.abi),
        report.routes.to_string(),
        report.actions.len().to_string(),
        report.events.len().to_string(),
        report.jobs.to_string(),
        report.migrations_applied.to_string(),
        report.faults.to_string(),
        if report.grants.is_empty() { "-".to_owned() } else { printable(&report.grants.join(",")) },
        printable(&report.reason),
    ]
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use gateway_plugins::PluginState;

    #[test]
    fn the_table_has_one_aligned_line_per_plugin() {
        let mut forum = PluginReport::named("forum", PluginState::Serving, "");
        forum.version = Some("0.6.0".into());
        forum.routes = 12;
        forum.grants = vec!["egress".into(), "chain:main".into()];
        let broken = PluginReport::named("broken_one", PluginState::NeedsRestart, "restart the gateway");
        let text = plugin_table(&[forum, broken]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        let column = |heading: &str| lines[0].find(heading).unwrap();
        assert_eq!(&lines[1][column("STATE")..][..7], "serving");
        assert_eq!(&lines[1][column("ROUTES")..][..2], "12");
        assert_eq!(lines[1][column("GRANTS")..].trim_end(), "egress,chain:main");
        assert_eq!(&lines[2][column("REASON")..], "restart the gateway");
        assert!(lines.iter().all(|line| line.trim_end() == *line), "{text}");
    }

    #[test]
    fn text_from_outside_cannot_steer_the_terminal() {
        let text = plugin_table(&[PluginReport::named("evil", PluginState::Refused, "a\x1b[2J\nb\u{9b}")]);
        assert_eq!(text.lines().count(), 2, "{text:?}");
        assert!(!text.contains(['\x1b', '\u{9b}']), "{text:?}");
    }
}
