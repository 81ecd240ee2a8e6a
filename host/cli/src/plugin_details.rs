//! One plugin in full for people: a label and its values, one line each.

use crate::output::printable;
use gateway_plugins::PluginReport;

const LABEL_WIDTH: usize = 12;

/// Lines of labels and values, in their order.
#[derive(Default)]
pub(crate) struct PluginDetails {
    text: String,
}

impl PluginDetails {
    /// What the plugin is and offers, and how it does.
    pub(crate) fn of_report(report: &PluginReport) -> Self {
        let unknown = || "unknown".to_owned();
        let path = report.path.as_ref().map(|path| path.display().to_string());
        let mut facts = Self::default();
        facts.one("name", &report.name);
        facts.one("version", &report.version.clone().unwrap_or_else(unknown));
        let state = if report.reason.is_empty() {
            report.state.to_string()
        } else {
            format!("{}: {}", report.state, report.reason)
        };
        facts.one("state", &state);
        facts.one("plugin API", &report.abi.clone().unwrap_or_else(unknown));
        facts.one("sha256", &report.sha256.clone().unwrap_or_else(unknown));
        facts.some("file sha256", report.file_sha256.as_slice());
        facts.some("file", path.as_slice());
        facts.one("jobs", &report.jobs.to_string());
        facts.one("migrations", &report.migrations_applied.to_string());
        facts.one("faults", &report.faults.to_string());
        facts.some("last fault", report.last_fault.as_slice());
        facts.add_offers(report);
        facts.some("tables", &report.tables);
        facts
    }

    /// What the plugin asks for and offers.
    pub(crate) fn add_offers(&mut self, report: &PluginReport) {
        self.all("grants", &report.grants);
        self.all("routes", &report.endpoints);
        self.all("actions", &report.actions);
        self.all("events", &report.events);
    }

    pub(crate) fn one(&mut self, label: &str, value: &str) {
        self.some(label, &[value.to_owned()]);
    }

    /// Says so when there is none.
    fn all(&mut self, label: &str, values: &[String]) {
        if values.is_empty() { self.one(label, "none") } else { self.some(label, values) }
    }

    fn some(&mut self, label: &str, values: &[String]) {
        for (index, value) in values.iter().enumerate() {
            let label = if index == 0 { label } else { "" };
            self.text.push_str(&format!("{label:LABEL_WIDTH$}{}\n", printable(value)));
        }
    }

    pub(crate) fn into_text(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gateway_plugins::PluginState;

    #[test]
    fn values_stand_below_each_other() {
        let mut report = PluginReport::named("forum", PluginState::NeedsRestart, "another\x1b build");
        report.endpoints = vec!["GET /api/forum/threads".into(), "POST /api/forum/threads".into()];
        (report.sha256, report.file_sha256) = (Some("aa".into()), Some("bb".into()));
        report.grants = vec!["egress".into()];
        let text = PluginDetails::of_report(&report).into_text();
        let expected = "name        forum\n\
                        version     unknown\n\
                        state       needs_restart: another\\u{1b} build\n\
                        plugin API  unknown\n\
                        sha256      aa\n\
                        file sha256 bb\n\
                        jobs        0\n\
                        migrations  0\n\
                        faults      0\n\
                        grants      egress\n\
                        routes      GET /api/forum/threads\n\
                        \x20           POST /api/forum/threads\n\
                        actions     none\n\
                        events      none\n";
        assert_eq!(text, expected);
    }
}
