//! The tables of the operator's page.

use super::{
    html::Html,
    page_data::{PageData, PluginLine},
};
use gateway::health::HealthReport;
use gateway::lifecycle::OperatorAction;
use gateway::operators::{AuditRow, PluginControls, PluginReports};
use gateway_indexer::{IndexReport, IndexState};
use gateway_jobs::JobStatus;
use gateway_plugins::{PluginReport, PluginState};
use gateway_storage::StorageError;
use gateway_telemetry::HistogramSnapshot;
use jiff::Timestamp;
use plugin_api::manifest::ActivityRow;
use serde_json::Value;
use std::time::Duration;

const PLUGIN_HEADINGS: [&str; 11] = [
    "Plugin",
    "State",
    "Switch",
    "Version",
    "Routes",
    "Jobs",
    "Requests",
    "Half within",
    "99 % within",
    "Faults",
    "Why, and the last fault",
];

/// One badge, and the reasons when the gateway is not ready.
pub(super) fn health(page: &mut Html, health: &Result<HealthReport, StorageError>) {
    match health {
        Ok(report) if report.ok => page.raw("<span class=\"badge good\">ready</span>"),
        Ok(report) => {
            for reason in report.database.iter().chain(&report.plugins) {
                page.badge("bad", reason);
            }
        }
        Err(error) => page.badge("bad", &error.to_string()),
    }
}

/// Writes nothing while every service is ok.
pub(super) fn services(page: &mut Html, services: &Result<Vec<(String, String)>, StorageError>) {
    if services.as_ref().is_ok_and(Vec::is_empty) {
        return;
    }
    page.table("Degraded", &["Service", "Why"]);
    for (service, reason) in rows(page, services, 2) {
        page.raw("<tr><th scope=\"row\">");
        page.text(service);
        page.raw("</th>");
        page.cell(reason);
        page.raw("</tr>");
    }
    page.end_table();
}

pub(super) fn plugins(page: &mut Html, plugins: &[PluginLine]) {
    page.table("Plugins", &PLUGIN_HEADINGS);
    for PluginLine { report, latency } in plugins {
        page.raw("<tr data-plugin=\"");
        page.text(&report.name);
        page.raw("\"><th scope=\"row\">");
        page.text(&report.name);
        page.raw("</th><td>");
        page.badge(colour(report.state), report.state.name());
        if !report.paused.is_empty() {
            page.badge("bad", &format!("{} paused", report.paused.len()));
        }
        page.raw("</td><td class=\"buttons\">");
        for action in actions(report) {
            button(page, action.name(), &report.name, None);
        }
        page.raw("</td>");
        page.cell(report.version.as_deref().unwrap_or("–"));
        page.number_cell(count(report.routes));
        page.number_cell(count(report.jobs));
        page.number_cell(latency.count());
        page.cell(&within(latency, 500));
        page.cell(&within(latency, 990));
        page.number_cell(report.faults);
        page.raw("<td class=\"words\">");
        page.text(&report.reason);
        if report.threads_lost > 0 {
            page.text(&format!(" (holds {} threads)", report.threads_lost));
        }
        last_fault(page, report);
        page.raw("</td></tr>");
    }
    page.end_table();
}

/// Writes nothing when no plugin has any.
pub(super) fn controls(page: &mut Html, controls: &Result<Vec<PluginControls>, StorageError>) {
    if controls.as_ref().is_ok_and(|controls| controls.iter().all(|of| of.controls.is_empty())) {
        return;
    }
    page.table("Switches", &["Plugin", "Of", "State", "Switch", "Why"]);
    for PluginControls { plugin, controls } in rows(page, controls, 5) {
        for control in controls {
            page.raw("<tr><th scope=\"row\">");
            page.text(plugin);
            page.raw("</th>");
            page.cell(&control.name);
            page.raw("<td>");
            page.badge(if control.reason.is_some() { "bad" } else { "calm" }, &control.state);
            page.raw("</td><td class=\"buttons\">");
            for action in &control.actions {
                button(page, action, plugin, Some(&control.name));
            }
            page.raw("</td><td class=\"words\">");
            page.text(control.reason.as_deref().unwrap_or_default());
            page.raw("</td></tr>");
        }
    }
    page.end_table();
}

/// What to type for a table of a plugin, and where its rows are. Writes nothing when no plugin has any.
pub(super) fn reports(page: &mut Html, reports: &Result<Vec<PluginReports>, StorageError>) {
    if reports.as_ref().is_ok_and(|reports| reports.iter().all(|of| of.reports.is_empty())) {
        return;
    }
    page.table("Reports", &["Command", "Shows"]);
    for PluginReports { plugin, reports } in rows(page, reports, 2) {
        for report in reports {
            report_row(page, (plugin, &report.name), None, &report.title);
            for (option, what) in &report.options {
                report_row(page, (plugin, &report.name), Some(option), what);
            }
        }
    }
    page.end_table();
}

fn report_row(page: &mut Html, (plugin, report): (&str, &str), option: Option<&str>, shows: &str) {
    page.raw("<tr><th scope=\"row\"><a href=\"/plugins/");
    page.text(plugin);
    page.raw("/reports/");
    page.text(report);
    if let Some(option) = option {
        page.raw("?option=");
        page.text(option);
    }
    page.raw("\">gateway ");
    page.text(plugin);
    page.raw(" ");
    page.text(report);
    if let Some(option) = option {
        page.raw(" --");
        page.text(option);
    }
    page.raw("</a></th><td class=\"words\">");
    page.text(shows);
    page.raw("</td></tr>");
}

fn last_fault(page: &mut Html, report: &PluginReport) {
    let Some(fault) = &report.last_fault else { return };
    page.raw("<div class=\"fault\" tabindex=\"0\">");
    page.text(&report.last_fault_ms.map_or_else(|| "–".to_owned(), time));
    // The reason of a fenced plugin repeats the fault.
    if !report.reason.contains(fault) {
        page.raw(" ");
        page.text(fault);
    }
    page.raw("</div>");
}

/// The latency at this quantile, rounded up to the bounds of the histogram.
pub(super) fn within(latency: &HistogramSnapshot, permille: u64) -> String {
    match latency.quantile(permille) {
        None => "–".to_owned(),
        Some(Duration::MAX) => "over 10 s".to_owned(),
        Some(limit) if limit < Duration::from_secs(1) => milliseconds(limit),
        Some(limit) => format!("{limit:?}").replace('s', " s"),
    }
}

fn milliseconds(limit: Duration) -> String {
    let us = limit.as_micros();
    let text = format!("{}.{:03}", us / 1000, us % 1000);
    format!("{} ms", text.trim_end_matches('0').trim_end_matches('.'))
}

/// Only the actions that can succeed in this state; the command line accepts the others too, and prints why they fail.
const fn actions(report: &PluginReport) -> &'static [OperatorAction] {
    match report.state {
        PluginState::Serving if !report.paused.is_empty() => &[OperatorAction::Resume, OperatorAction::Disable],
        PluginState::Serving => &[OperatorAction::Disable],
        PluginState::NeedsRestart if report.serves => &[OperatorAction::Disable],
        PluginState::Fenced | PluginState::Failed => &[OperatorAction::Resume, OperatorAction::Disable],
        PluginState::Disabled | PluginState::Stopped => &[OperatorAction::Enable],
        // A corrected or restored file is found by it.
        PluginState::Refused | PluginState::NeedsRestart => &[OperatorAction::Enable],
        PluginState::Gone | PluginState::Starting | PluginState::Draining => &[],
    }
}

/// Of a plugin, or of one of its switches.
fn button(page: &mut Html, action: &str, plugin: &str, control: Option<&str>) {
    page.raw("<button type=\"button\" data-action=\"");
    page.text(action);
    page.raw("\" data-plugin=\"");
    page.text(plugin);
    if let Some(control) = control {
        page.raw("\" data-control=\"");
        page.text(control);
    }
    let words: Vec<&str> = [action, plugin].into_iter().chain(control).collect();
    page.raw("\" aria-label=\"");
    page.text(&words.join(" "));
    page.raw("\">");
    page.text(action);
    page.raw("</button>");
}

const fn colour(state: PluginState) -> &'static str {
    match state {
        PluginState::Serving => "good",
        PluginState::Refused | PluginState::Failed | PluginState::Fenced | PluginState::NeedsRestart => "bad",
        PluginState::Disabled
        | PluginState::Stopped
        | PluginState::Starting
        | PluginState::Draining
        | PluginState::Gone => "calm",
    }
}

/// Writes nothing when no plugin follows a chain.
pub(crate) fn indexes(page: &mut Html, reports: &[IndexReport]) {
    if reports.is_empty() {
        return;
    }
    page.table(
        "Indexes",
        &["Plugin", "Chain", "State", "Block", "Head", "Behind", "Blocks/s", "Seconds left", "Why", "Do"],
    );
    for report in reports {
        page.raw("<tr><th scope=\"row\">");
        page.text(&report.plugin);
        page.raw("</th>");
        page.cell(&report.chain);
        page.raw("<td>");
        let colour = match report.state {
            IndexState::Following | IndexState::Elsewhere => "good",
            IndexState::Off | IndexState::Backfilling => "calm",
            IndexState::Failing | IndexState::Stopped => "bad",
        };
        page.badge(colour, report.state.name());
        page.raw("</td>");
        let rate = Some(report.blocks_per_s);
        for number in [report.indexed_block, report.head, report.lag_blocks, rate, report.left_s] {
            page.cell(&number.map_or_else(|| "–".to_owned(), |number| number.to_string()));
        }
        page.cell(report.reason.as_deref().unwrap_or_default());
        page.raw("<td>");
        // Another gateway that derives the rows sees the request, too.
        if report.state != IndexState::Off {
            button(page, OperatorAction::Reindex.name(), &report.plugin, None);
        }
        page.raw("</td></tr>");
    }
    page.end_table();
}

pub(crate) fn jobs(page: &mut Html, jobs: &Result<Vec<JobStatus>, StorageError>, now_ms: i64) {
    page.table("Jobs", &["Plugin", "Job", "Schedule", "Last run", "Result", "Next run", "Runs", "Failed"]);
    for job in rows(page, jobs, 8) {
        page.raw("<tr><th scope=\"row\">");
        page.text(&job.plugin);
        page.raw("</th>");
        page.cell(&job.job);
        page.cell(&job.schedule);
        page.cell(&job.last_finished_ms.map_or_else(|| "never".to_owned(), time));
        page.raw("<td class=\"words\">");
        if let Some(result) = &job.last_result {
            page.badge(if result == "ok" { "good" } else { "bad" }, result);
        }
        if let Some(error) = &job.last_error {
            page.raw("<div class=\"fault\" tabindex=\"0\">");
            page.text(error);
            page.raw("</div>");
        }
        page.raw("</td>");
        page.cell(&next_run(job, now_ms));
        page.number_cell(job.runs);
        page.number_cell(job.failures);
        page.raw("</tr>");
    }
    page.end_table();
}

fn next_run(job: &JobStatus, now_ms: i64) -> String {
    match &job.holder {
        Some(_) => "runs now".to_owned(),
        None if job.next_run_ms <= now_ms => format!("{}, due", time(job.next_run_ms)),
        None => time(job.next_run_ms),
    }
}

pub(crate) fn activity(page: &mut Html, events: &Result<Vec<ActivityRow>, StorageError>) {
    page.table("Live activity", &["Id", "Time", "Event", "About", "By"]);
    for event in rows(page, events, 5) {
        page.raw("<tr>");
        page.number_cell(event.id);
        page.cell(&time(event.ts.saturating_mul(1000)));
        page.cell(&event.kind);
        page.cell(
            &event.subject.as_ref().map(|subject| format!("{} {}", subject.kind, subject.id)).unwrap_or_default(),
        );
        page.cell(event.actor.as_deref().unwrap_or_default());
        page.raw("</tr>");
    }
    page.end_table();
}

pub(crate) fn audit(page: &mut Html, audit: &Result<Vec<AuditRow>, StorageError>) {
    page.table("What operators did", &["Time", "From", "Action", "On", "Outcome"]);
    for row in rows(page, audit, 5) {
        page.raw("<tr>");
        page.cell(&time(row.at_ms));
        page.cell(&row.who);
        page.cell(&row.action);
        page.cell(&row.subject);
        page.raw("<td class=\"words\">");
        page.text(&row.outcome);
        page.raw("</td></tr>");
    }
    page.end_table();
}

/// They are the same for every plugin. Memory has a mark, above which the log names who was at work.
pub(super) fn bounds(page: &mut Html, data: &PageData) {
    let Some(plugin) = data.plugins.first() else { return };
    let Ok(Value::Object(bounds)) = serde_json::to_value(plugin.report.bounds) else { return };
    page.table("Bounds of each plugin", &["Bound", "At most"]);
    let memory = match data.memory_warn_mib {
        0 => "80 % of what there is".to_owned(),
        mark => mark.to_string(),
    };
    let memory = ("memory_warn_mib".to_owned(), memory);
    for (name, most) in bounds.into_iter().map(|(name, most)| (name, most.to_string())).chain([memory]) {
        page.raw("<tr><th scope=\"row\">");
        page.text(&name);
        page.raw("</th>");
        page.cell(&most);
        page.raw("</tr>");
    }
    page.end_table();
}

/// The rows; when there are none, a line that says why.
pub(super) fn rows<'a, T>(page: &mut Html, rows: &'a Result<Vec<T>, StorageError>, columns: u32) -> &'a [T] {
    let note = match rows {
        Ok(rows) if rows.is_empty() => "none yet".to_owned(),
        Ok(rows) => return rows,
        Err(error) => format!("cannot be read: {error}"),
    };
    page.raw("<tr><td class=\"note\" colspan=\"");
    page.number(columns);
    page.raw("\">");
    page.text(&note);
    page.raw("</td></tr>");
    &[]
}

/// As UTC, to the second.
pub(super) fn time(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| "–".to_owned(), |time| time.strftime("%F %T").to_string())
}

/// As UTC, to the minute, so that the page changes at most once a minute when nothing happens.
pub(super) fn time_of_day(ms: i64) -> String {
    Timestamp::from_millisecond(ms).map_or_else(|_| "–".to_owned(), |time| time.strftime("%H:%M").to_string())
}

fn count(number: usize) -> u64 {
    number as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use gateway_telemetry::Usage;

    #[test]
    fn times_are_told_as_people_say_them() {
        let shown = |took_us: u64| {
            let usage = Usage::default();
            usage.plugin("forum").operation("list_threads").latency.record(Duration::from_micros(took_us));
            within(&usage.latency("forum"), 500)
        };
        let told = [90, 1_000, 2_000, 90_000, 900_000, 2_000_000, 60_000_000].map(shown);
        assert_eq!(told, ["0.1 ms", "1 ms", "2.5 ms", "100 ms", "1 s", "2.5 s", "over 10 s"]);
        assert_eq!(within(&HistogramSnapshot::default(), 990), "–");
    }
}
