//! Tables for operators, which `gateway PLUGIN REPORT` prints, such as `gateway payin addresses --funded`.
//!
//! Whoever reaches the operator's listener reads them, as he reads the transactions: no signature is asked for. The rule: no plugin can collect
//! this point, and a plugin is asked for a report that it has, with options that this report has.

use super::point::Point;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Reports for operators. The gateway alone collects them.
pub const REPORTS: Point<ReportsInput, Vec<ReportTable>> = Point::new("reports");

/// Asks which reports there are; with `read` for the rows of one of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ReportsInput {
    #[serde(default)]
    pub read: Option<ReportRequest>,
}

/// Asks for rows of a report. A moment ago the plugin had it, and these options.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportRequest {
    pub report: String,
    pub options: BTreeSet<String>,
    /// Rows to leave out at the beginning.
    pub offset: u32,
    /// Most rows to give.
    pub limit: u32,
}

/// A table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ReportTable {
    /// Which one of the plugin's: letters, digits, `_` and `-`.
    pub name: String,
    /// What it shows, in a few words.
    pub title: String,
    /// What may be asked of it: names of letters, digits, `_` and `-`, and what each does in a few words.
    pub options: BTreeMap<String, String>,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Each with a cell for each column; none where nothing was asked for.
    pub rows: Vec<Vec<Value>>,
    /// Whether there are rows after these.
    pub more: bool,
}

impl ReportTable {
    /// Without rows.
    pub fn new(name: &str, title: &str, columns: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            title: title.to_owned(),
            options: BTreeMap::new(),
            columns: columns.iter().map(|column| (*column).to_owned()).collect(),
            rows: Vec::new(),
            more: false,
        }
    }

    /// With an option, and what it does.
    #[must_use]
    pub fn option(mut self, name: &str, what: &str) -> Self {
        self.options.insert(name.to_owned(), what.to_owned());
        self
    }

    /// With rows of it; `more` says whether others follow.
    #[must_use]
    pub fn with_rows(self, rows: Vec<Vec<Value>>, more: bool) -> Self {
        Self { rows, more, ..self }
    }
}
