//! How the file of a plugin compares with what this process has mapped of it, and what the report says about that.
//!
//! The rule: a library that is mapped goes on serving whatever becomes of its file, and only what lies in the folder is started.

use gateway_plugins::{PluginReport, PluginState};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) enum FileState {
    #[default]
    Unchanged,
    /// It is another build.
    Replaced { sha256: String },
    /// The next start will refuse it.
    Unusable { reason: String },
    /// The plugin's tables are named, once they are known.
    Removed { tables: Vec<String> },
}

impl FileState {
    pub(crate) fn is_unchanged(&self) -> bool {
        *self == Self::Unchanged
    }

    /// Adds what has happened to the file.
    pub(crate) fn describe(&self, report: &mut PluginReport) {
        let line = match self {
            Self::Unchanged => return,
            Self::Replaced { sha256 } => {
                report.file_sha256 = Some(sha256.clone());
                if report.serves {
                    report.state = PluginState::NeedsRestart;
                }
                replaced(report, sha256)
            }
            Self::Unusable { reason } => {
                format!("its file has changed, and the next start refuses it: {reason}")
            }
            Self::Removed { tables } => {
                report.tables.clone_from(tables);
                if !report.serves {
                    report.state = PluginState::Gone;
                }
                removed(report, tables)
            }
        };
        // What kept it from starting is the same line.
        if report.reason.is_empty() || report.reason.contains(&line) {
            report.reason = line;
        } else {
            report.reason = format!("{line}; {}", report.reason);
        }
    }

    /// Why the plugin cannot be started from it, and what it is then.
    pub(crate) fn obstacle(&self, loaded: &PluginReport) -> Option<(PluginState, String)> {
        let mut report = PluginReport { reason: String::new(), serves: false, ..loaded.clone() };
        self.describe(&mut report);
        let state = match self {
            Self::Unchanged => return None,
            Self::Replaced { .. } => PluginState::NeedsRestart,
            Self::Unusable { .. } => PluginState::Failed,
            Self::Removed { .. } => PluginState::Gone,
        };
        Some((state, report.reason))
    }
}

fn replaced(report: &PluginReport, file: &str) -> String {
    let running = report.sha256.as_deref().unwrap_or_default();
    let what = if report.serves { "serves" } else { "has loaded" };
    format!(
        "the gateway {what} the build {running:.12}, the file is another one, {file:.12}: restart the gateway to \
         run that"
    )
}

fn removed(report: &PluginReport, tables: &[String]) -> String {
    let until = if report.serves {
        "it serves until the gateway restarts"
    } else {
        "the gateway has it loaded until it restarts"
    };
    format!("its file is gone: {until}; {}", tables_line(tables))
}

/// The tables of a plugin whose file is gone.
pub(super) fn tables_line(tables: &[String]) -> String {
    match tables {
        [] => "it has no tables".to_owned(),
        [one] => format!("its table is {one}"),
        many => format!("its {} tables are {}", many.len(), many.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(file: &FileState, state: PluginState, serves: bool, reason: &str) -> (PluginState, String) {
        let mut report = PluginReport::named("forum", state, reason);
        (report.serves, report.sha256) = (serves, Some("a".repeat(64)));
        file.describe(&mut report);
        (report.state, report.reason)
    }

    #[test]
    fn a_replaced_file_is_named_with_both_hashes() {
        let replaced = FileState::Replaced { sha256: "b".repeat(64) };
        let serving = "the gateway serves the build aaaaaaaaaaaa, the file is another one, bbbbbbbbbbbb: restart the gateway to run that";
        assert_eq!(
            described(&replaced, PluginState::Serving, true, ""),
            (PluginState::NeedsRestart, serving.to_owned())
        );
        let off = serving.replace("serves", "has loaded");
        let (state, reason) = described(&replaced, PluginState::Disabled, false, "switched off");
        assert_eq!((state, reason), (PluginState::Disabled, format!("{off}; switched off")));
        assert_eq!(
            described(&replaced, PluginState::NeedsRestart, false, &off),
            (PluginState::NeedsRestart, off.clone())
        );
    }

    #[test]
    fn a_removed_file_is_described_with_the_tables() {
        let removed = FileState::Removed { tables: vec!["forum_posts".into(), "forum_threads".into()] };
        let (state, reason) = described(&removed, PluginState::Serving, true, "");
        let serving =
            "its file is gone: it serves until the gateway restarts; its 2 tables are forum_posts, forum_threads";
        assert_eq!((state, reason.as_str()), (PluginState::Serving, serving));
        assert_eq!(described(&removed, PluginState::Disabled, false, "").0, PluginState::Gone);
    }
}
