//! The operator's page: plugins, jobs, activity and what operators did. Rendered for every request; its
//! script (`page.js`) sends the buttons' commands and refreshes it.
//!
//! The rule: text from plugins, clients and the database is escaped. It reaches the page through [`Html`] only.

mod chain_sections;
mod html;
mod page_data;
mod plots;
mod resource_sections;
mod sections;

use gateway::Gateway;
use gateway::operators::{PluginControls, PluginReports};
use gateway_activity::ActivityLog;
use gateway_plugins::PluginReport;
use gateway_storage::StorageError;
use gateway_telemetry::MetricsRecorder;
use html::Html;
use page_data::{PageData, PluginLine};
use plugin_api::manifest::ActivityRow;
use std::{sync::Arc, time::Duration};

pub(crate) const STYLE: &str = include_str!("page.css");
pub(crate) const SCRIPT: &str = include_str!("page.js");

/// Rows of activity, and of audit.
const ROWS: u32 = 20;

/// How long the page waits for each part that the database has to give.
const PART_TIMEOUT: Duration = Duration::from_secs(2);

pub(crate) async fn render(gateway: &Arc<Gateway>, metrics: Option<&MetricsRecorder>) -> String {
    let (health, services, controls, reports, replicas, unfinished, jobs, activity, audit) = tokio::join!(
        within(async { Ok(gateway.health.report().await) }),
        within(services(gateway)),
        controls(gateway),
        reports(gateway),
        within(gateway.replicas.reports()),
        within(gateway.journal.unfinished(ROWS)),
        within(gateway.jobs.list()),
        within(latest(&gateway.activity)),
        within(gateway.operators.audit(ROWS)),
    );
    html(&PageData {
        now_ms: gateway.clock.now_ms(),
        public_url: gateway.environment.base_url.clone(),
        health,
        services,
        controls,
        traffic: gateway.usage.traffic(),
        reports,
        plugins: plugin_lines(gateway),
        replicas,
        resources: gateway.resources(),
        refusals: metrics.map(|metrics| metrics.counts("gateway_limits_refused_total")).unwrap_or_default(),
        queues: metrics.map(|metrics| metrics.gauges("gateway_queue_tasks")).unwrap_or_default(),
        log_level: gateway_telemetry::log_level(),
        memory_warn_mib: gateway.config.plugins.memory_warn_mib,
        chains: gateway.chains.reports(gateway.clock.now_s()),
        accounts: gateway.journal.accounts(),
        unfinished,
        indexes: gateway.indexes.reports(),
        jobs,
        activity,
        audit,
    })
}

/// The page shows at once what it has, also while the database is silent.
async fn within<T>(part: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
    let late = |_elapsed| StorageError::Unavailable(format!("no answer within {PART_TIMEOUT:?}"));
    tokio::time::timeout(PART_TIMEOUT, part).await.map_err(late).flatten()
}

/// Plugins report some of them.
async fn services(gateway: &Arc<Gateway>) -> Result<Vec<(String, String)>, StorageError> {
    let asked = gateway.clone();
    let answer = gateway.runtime.spawn(async move { asked.dispatcher.pages.degraded_services().await });
    answer.await.map_err(|error| StorageError::Unavailable(error.to_string()))
}

/// What plugins let operators switch.
pub(crate) async fn controls(gateway: &Arc<Gateway>) -> Result<Vec<PluginControls>, StorageError> {
    let asked = gateway.clone();
    within(async {
        let answer = gateway.runtime.spawn(async move { asked.controls.list().await });
        answer.await.map_err(|error| StorageError::Unavailable(error.to_string()))
    })
    .await
}

/// Which tables plugins have for operators.
async fn reports(gateway: &Arc<Gateway>) -> Result<Vec<PluginReports>, StorageError> {
    let asked = gateway.clone();
    within(async {
        let answer = gateway.runtime.spawn(async move { asked.reports.list().await });
        answer.await.map_err(|error| StorageError::Unavailable(error.to_string()))
    })
    .await
}

fn plugin_lines(gateway: &Gateway) -> Vec<PluginLine> {
    let latency = |name: &str| gateway.usage.latency(name);
    let line = |report: PluginReport| PluginLine { latency: latency(&report.name), report };
    gateway.plugins.all_reports().into_iter().map(line).collect()
}

/// Newest first.
async fn latest(log: &ActivityLog) -> Result<Vec<ActivityRow>, StorageError> {
    let mut rows = log.rows_after(log.latest_id().await?.saturating_sub(i64::from(ROWS))).await?;
    rows.reverse();
    Ok(rows)
}

fn html(data: &PageData) -> String {
    let mut page = Html::new();
    page.raw(concat!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\">",
        "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">",
        "<title>gateway</title><link rel=\"stylesheet\" href=\"/page.css\"><script src=\"/page.js\" defer></script>",
        "</head><body><header><h1>gateway <small>",
        env!("CARGO_PKG_VERSION"),
        "</small></h1><p id=\"said\" role=\"status\"></p></header><main id=\"live\"><p class=\"note\">",
    ));
    page.text(&data.public_url);
    page.raw(" · times in UTC, now ");
    page.text(&sections::time_of_day(data.now_ms));
    page.raw(" · ");
    sections::health(&mut page, &data.health);
    page.raw("</p>");
    sections::services(&mut page, &data.services);
    plots::traffic(&mut page, &data.traffic);
    sections::plugins(&mut page, &data.plugins);
    resource_sections::replicas(&mut page, &data.replicas);
    resource_sections::resources(&mut page, &data.resources, (&data.queues, &data.refusals));
    resource_sections::log_level(&mut page, &data.log_level);
    sections::controls(&mut page, &data.controls);
    plots::counters(&mut page, &data.controls);
    sections::reports(&mut page, &data.reports);
    chain_sections::chains(&mut page, &data.chains);
    chain_sections::accounts(&mut page, &data.accounts);
    chain_sections::unfinished(&mut page, &data.unfinished);
    sections::indexes(&mut page, &data.indexes);
    sections::jobs(&mut page, &data.jobs, data.now_ms);
    sections::activity(&mut page, &data.activity);
    sections::audit(&mut page, &data.audit);
    sections::bounds(&mut page, data);
    page.raw(concat!(
        "</main><dialog id=\"confirm\" aria-labelledby=\"question\"><p id=\"question\"></p>",
        "<button type=\"button\" value=\"no\" autofocus>no</button> ",
        "<button type=\"button\" value=\"yes\">yes</button></dialog></body></html>"
    ));
    page.into_string()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use alloy_primitives::Address;
    use gateway::{ReplicaReport, Resources, operators::AuditRow};
    use gateway_chain::{ChainReport, RpcServerReport};
    use gateway_indexer::IndexReport;
    use gateway_jobs::JobStatus;
    use gateway_plugins::PluginState;
    use gateway_storage::DatabaseResources;
    use gateway_telemetry::HistogramSnapshot;
    use gateway_tx::{AccountReport, TransactionReport};
    use plugin_api::manifest::TxState;
    use plugin_api::point::{Control, ControlPlot, ReportTable};
    use serde_json::json;

    const HOSTILE: &str = "</td><script>alert('x')</script>\"><img src=x onerror=\"alert(1)\"> & more";

    fn replica(state: &str) -> ReplicaReport {
        ReplicaReport {
            address: HOSTILE.to_owned(),
            version: HOSTILE.to_owned(),
            since_ms: 0,
            seen_ms: 0,
            seen_ago_ms: 0,
            is_silent: false,
            is_this: false,
            plugins: [(HOSTILE.to_owned(), state.to_owned())].into(),
        }
    }

    fn hostile_job() -> JobStatus {
        let said = || HOSTILE.to_owned();
        JobStatus {
            plugin: said(),
            job: said(),
            schedule: said(),
            next_run_ms: i64::MAX,
            last_result: Some(said()),
            last_error: Some(said()),
            last_started_ms: Some(i64::MIN),
            last_finished_ms: None,
            runs: 1,
            failures: 1,
            holder: Some(said()),
        }
    }

    fn hostile_data() -> PageData {
        let said = || HOSTILE.to_owned();
        let mut plugin = PluginReport::named(HOSTILE, PluginState::Fenced, HOSTILE);
        (plugin.version, plugin.last_fault) = (Some(said()), Some(said()));
        let plot = ControlPlot { title: said(), since: said(), values: vec![0, u64::MAX] };
        let control = Control { reason: Some(said()), plot: Some(plot), ..Control::new(HOSTILE, HOSTILE, &[HOSTILE]) }
            .counter(HOSTILE, HOSTILE);
        let report = ReportTable::new(HOSTILE, HOSTILE, &[]).option(HOSTILE, HOSTILE);
        let server = RpcServerReport { url: said(), ok: false, reason: Some(said()), head: None, latency_ms: None };
        let chain = ChainReport { name: said(), chain_id: 1, head: None, head_age_s: None, servers: vec![server] };
        let account = AccountReport {
            chain: said(),
            address: Address::ZERO,
            roles: vec![said()],
            balance_wei: Some(said()),
            queued: 1,
            pending: 0,
            oldest_age_s: Some(i64::MAX),
            reason: Some(said()),
        };
        let transaction = TransactionReport {
            id: 1,
            plugin: said(),
            role: said(),
            key: said(),
            chain: said(),
            to: Address::ZERO,
            value_wei: said(),
            state: TxState::Queued,
            reason: Some(said()),
            nonce: None,
            hash: None,
            block: None,
            created_ms: i64::MIN,
        };
        let event = json!({ "id": 1, "type": HOSTILE, "ts": 0, "actor": HOSTILE,
            "ref": { "kind": HOSTILE, "id": HOSTILE }, "data": { HOSTILE: HOSTILE } });
        let audit = AuditRow { id: 1, at_ms: 0, who: said(), action: said(), subject: said(), outcome: said() };
        PageData {
            now_ms: 0,
            public_url: said(),
            health: Err(StorageError::Unavailable(said())),
            services: Ok(vec![(said(), said())]),
            controls: Ok(vec![PluginControls { plugin: said(), controls: vec![control] }]),
            traffic: Vec::new(),
            reports: Ok(vec![PluginReports { plugin: said(), reports: vec![report] }]),
            plugins: vec![PluginLine { report: plugin, latency: HistogramSnapshot::default() }],
            replicas: Ok(vec![replica("one"), replica("two")]),
            resources: Resources { streams: vec![(said(), 1)], streams_max: 1, database: DatabaseResources::default() },
            refusals: [(said(), 1)].into(),
            queues: [(said(), 1.0)].into(),
            log_level: said(),
            memory_warn_mib: 0,
            chains: vec![chain],
            accounts: vec![account],
            unfinished: Ok(vec![transaction]),
            indexes: vec![IndexReport { plugin: said(), reason: Some(said()), ..IndexReport::default() }],
            jobs: Ok(vec![hostile_job()]),
            activity: Ok(vec![serde_json::from_value(event).unwrap()]),
            audit: Ok(vec![audit]),
        }
    }

    #[test]
    fn hostile_text_stays_text() {
        let page = html(&hostile_data());
        assert_eq!(page.matches("<script").count(), 1, "only the page's own: {page}");
        assert!(!page.contains("<img") && !page.contains("alert('x')"), "{page}");
        let shown = "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot;&gt;&lt;img";
        assert!(page.matches(shown).count() >= 40, "everything is shown: {page}");
    }

    #[test]
    fn every_bound_of_the_report_is_shown() {
        let mut data = hostile_data();
        let bounds = serde_json::to_value(data.plugins[0].report.bounds).unwrap();
        let page = html(&data);
        for (name, value) in bounds.as_object().unwrap() {
            let row = format!("<th scope=\"row\">{name}</th><td>{value}</td>");
            assert!(page.contains(&row), "{row} is not shown: {page}");
        }
        let memory = |page: &str, mark: &str| page.contains(&format!("memory_warn_mib</th><td>{mark}</td>"));
        assert!(memory(&page, "80 % of what there is"), "{page}");
        data.memory_warn_mib = 512;
        assert!(memory(&html(&data), "512"));
        data.plugins.clear();
        assert!(!html(&data).contains("Bounds"), "without plugins there is nothing to bound");
    }

    #[test]
    fn a_part_that_cannot_be_read_says_so() {
        let away = || StorageError::Unavailable("away for lunch".into());
        let mut data = hostile_data();
        (data.jobs, data.activity, data.audit, data.unfinished) = (Err(away()), Err(away()), Err(away()), Err(away()));
        (data.health, data.services) = (Err(away()), Err(away()));
        (data.controls, data.reports, data.replicas) = (Err(away()), Err(away()), Err(away()));
        let page = html(&data);
        assert_eq!(page.matches("away for lunch").count(), 9, "{page}");
        assert!(page.contains("data-action=\"resume\""), "plugins can be acted on: {page}");
    }
}
