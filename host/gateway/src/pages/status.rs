//! `GET /api/status`: collects the status of every part of the gateway and of every plugin, all at once.

use super::{Pages, json};
use crate::error_response::ErrorResponse;
use gateway_http::body::Body;
use gateway_indexer::ChainState;
use gateway_meta::status;
use gateway_plugins::ActivePlugin;
use http::{HeaderName, HeaderValue, Response};
use plugin_api::point::{self, Counters, ServiceStatus};
use std::{
    collections::{BTreeMap, BTreeSet},
    time::Duration,
};

/// Another gateway takes over from a sequencer that died in less time.
const STANDSTILL_MAX: Duration = Duration::from_secs(5);

type Services = BTreeMap<String, ServiceStatus>;

impl Pages {
    pub(super) async fn status(&self) -> Result<Response<Body>, ErrorResponse> {
        let (services, counters) = self.services().await;
        let state = status::RuntimeState {
            started_s: self.started_ms / 1000,
            head: self.head(),
            indexed_block: self.indexes.indexed_block(),
        };
        let document = self.with_contributions(&[], &counters, |context| status::status(context, state, services));
        let mut response = json(&document);
        if let Some((name, value)) = status::degraded_header(&document, &self.environment.brand.header_prefix)
            && let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value))
        {
            response.headers_mut().insert(name, value);
        }
        Ok(response)
    }

    /// The services that are not ok, with the reason, for the operator's page.
    pub async fn degraded_services(&self) -> Vec<(String, String)> {
        let (services, _) = self.services().await;
        let degraded = services.into_iter().filter(|(_, service)| !service.ok);
        degraded.map(|(name, service)| (name, service.detail.unwrap_or_default())).collect()
    }

    async fn services(&self) -> (Services, Counters) {
        // Before the contributions, not beside them: a plugin that never returns would keep what its neighbours in this task have
        // locked, such as the test write that all probes share.
        let own = self.own_services().await;
        let (contributed, counters) = tokio::join!(self.contributions(point::STATUS), self.counters());
        let mut services = status::merge_services(own, self.with_silent_plugins(contributed));
        if let Some(database) = services.get_mut("db") {
            status::add_record_counts(database, &counters);
        }
        (services, counters)
    }

    /// The services that plugins report; a plugin that should report and does not is listed as silent.
    fn with_silent_plugins(&self, contributed: Vec<(String, Services)>) -> Vec<status::StatusContribution> {
        let answered: BTreeSet<String> = contributed.iter().map(|(plugin, _)| plugin.clone()).collect();
        let serving = self.transactions.active.list();
        let is_silent =
            |plugin: &ActivePlugin| contributes(plugin, point::STATUS.name()) && !answered.contains(plugin.name());
        let silent =
            serving.iter().filter(|plugin| is_silent(plugin)).map(|plugin| (plugin.name().to_owned(), Err(())));
        contributed.into_iter().map(|(plugin, services)| (plugin, Ok(services))).chain(silent).collect()
    }

    /// The gateway's own services: a line for each part that has some.
    async fn own_services(&self) -> Services {
        let (database, jobs) = tokio::join!(self.database_service(), self.job_service());
        let mut own = Services::from([("db".to_owned(), database), ("jobs".to_owned(), jobs)]);
        own.insert("plugins".to_owned(), self.plugin_service());
        own.insert("backup".to_owned(), self.backups.service());
        own.extend(self.connection_service().map(|service| ("connections".to_owned(), service)));
        own.extend(self.chains.services(self.transactions.clock.now_s()));
        own.extend(self.transactions.journal.services());
        own.extend(self.index_services());
        own
    }

    /// Listed only while the limit of open files lowers the cap: it serves, and the operator should know.
    fn connection_service(&self) -> Option<ServiceStatus> {
        let lowered = self.config.load().lowered_connections?;
        let numbers = serde_json::Map::from_iter([("max".to_owned(), lowered.effective.into())]);
        Some(ServiceStatus { ok: true, enabled: None, detail: Some(lowered.to_string()), numbers })
    }

    async fn database_service(&self) -> ServiceStatus {
        let (database, activity) = (&self.transactions.database, &self.transactions.activity);
        let (bytes, events, problem) =
            tokio::join!(database.size_bytes(), activity.latest_id(), self.health.database_problem());
        let problem = problem.or_else(|| self.standstill());
        status::database_service(bytes.ok(), events.ok().and_then(|count| u64::try_from(count).ok()), problem)
    }

    /// Why streams get no new events, although writes are kept.
    fn standstill(&self) -> Option<String> {
        let standstill = self.transactions.activity.standstill();
        (standstill > STANDSTILL_MAX).then(|| {
            format!("new events wait for their positions in the activity log, for {} s now", standstill.as_secs())
        })
    }

    async fn job_service(&self) -> ServiceStatus {
        let known = self.jobs.list().await;
        let mut serving = self.plugins.reports();
        serving.retain(|report| report.serves);
        gateway_jobs::service_status(
            known,
            |plugin| serving.iter().any(|report| report.name == plugin),
            self.transactions.clock.now_ms(),
        )
    }

    fn index_services(&self) -> Services {
        let chains = &self.chains;
        let Some(main) = chains.main() else { return gateway_indexer::unconfigured_services() };
        let serving = self.transactions.active.list();
        let subscriptions = serving.iter().flat_map(|plugin| &plugin.manifest.subscriptions);
        let on_main = subscriptions.filter(|subscription| subscription.chain == main.name);
        let indexed = on_main.map(|subscription| subscription.contract.clone()).collect();
        self.indexes.services(&main.settings, &indexed, |name| {
            let chain = chains.get(name)?;
            Some(ChainState { settings: &chain.settings, head: chain.live_head().map(|head| head.number) })
        })
    }

    /// Enabled plugins that do not serve, and paused operations, degrade the service `plugins`.
    fn plugin_service(&self) -> ServiceStatus {
        let reports = self.plugins.reports();
        let failing: Vec<String> =
            reports.iter().filter(|report| report.is_failure()).map(|report| report.name.clone()).collect();
        let serving = reports.iter().filter(|report| report.serves).count();
        let paused: Vec<String> = reports
            .iter()
            .flat_map(|report| report.paused.iter().map(|paused| format!("{} of {}", paused.operation, report.name)))
            .collect();
        let not_serving = (!failing.is_empty()).then(|| format!("not serving: {}", failing.join(", ")));
        let is_paused = (!paused.is_empty()).then(|| format!("paused: {}", paused.join(", ")));
        let problems: Vec<String> = not_serving.into_iter().chain(is_paused).collect();
        let mut numbers = serde_json::Map::from_iter([("serving".to_owned(), serving.into())]);
        let lost: usize = reports.iter().map(|report| report.threads_lost).sum();
        if lost > 0 {
            numbers.insert("threadsLost".to_owned(), lost.into());
        }
        if !paused.is_empty() {
            numbers.insert("paused".to_owned(), paused.len().into());
        }
        let detail = (!problems.is_empty()).then(|| problems.join("; "));
        ServiceStatus { ok: problems.is_empty(), enabled: None, detail, numbers }
    }
}

fn contributes(plugin: &ActivePlugin, point: &str) -> bool {
    plugin.manifest.contributions.iter().any(|spec| spec.point == point)
}
