//! Tables of plugins for operators: the contributions to [`point::REPORTS`].

use gateway_plugins::ExtensionPoints;
use plugin_api::point::{self, ReportRequest, ReportTable, ReportsInput};
use serde::Serialize;
use std::{collections::BTreeSet, sync::Arc};

/// Rows of one request.
pub const REPORT_ROWS_MAX: u32 = 500;

/// The reports of one plugin, without rows.
#[derive(Clone, Debug, Serialize)]
pub struct PluginReports {
    pub plugin: String,
    pub reports: Vec<ReportTable>,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReportError {
    #[error("no plugin that serves has this name, or it has no report of this name")]
    Unknown,
    #[error("the report has no option {0:?}")]
    UnknownOption(String),
    #[error("the plugin did not answer as it should: the gateway's log says more")]
    NoAnswer,
}

/// The reports of all plugins.
#[derive(Clone)]
pub struct Reports {
    points: Arc<ExtensionPoints>,
}

impl Reports {
    pub(crate) fn new(points: Arc<ExtensionPoints>) -> Self {
        Self { points }
    }

    pub async fn list(&self) -> Vec<PluginReports> {
        let parts = self.points.collect_decoded(point::REPORTS, &ReportsInput { read: None }).await;
        parts.into_iter().map(|(plugin, reports)| PluginReports { plugin, reports }).collect()
    }

    /// Rows of a report of this plugin, from `offset` on.
    pub async fn read(
        &self,
        plugin: &str,
        report: &str,
        options: BTreeSet<String>,
        offset: u32,
    ) -> Result<ReportTable, ReportError> {
        let find = |reports: Vec<ReportTable>| reports.into_iter().find(|one| one.name == report);
        let described = self.of_plugin(plugin, None).await.and_then(find).ok_or(ReportError::Unknown)?;
        if let Some(option) = options.iter().find(|option| !described.options.contains_key(*option)) {
            return Err(ReportError::UnknownOption(option.clone()));
        }
        let request = ReportRequest { report: report.to_owned(), options, offset, limit: REPORT_ROWS_MAX };
        let read = self.of_plugin(plugin, Some(request)).await.and_then(find);
        let is_table = |read: &ReportTable| read.rows.iter().all(|row| row.len() == read.columns.len());
        read.filter(is_table).ok_or(ReportError::NoAnswer)
    }

    async fn of_plugin(&self, plugin: &str, read: Option<ReportRequest>) -> Option<Vec<ReportTable>> {
        self.points.collect_decoded_from(plugin, point::REPORTS, &ReportsInput { read }).await
    }
}
