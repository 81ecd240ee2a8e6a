//! `GET /api/status`: asks every part of the gateway and every plugin how it gets on, all at once.

use super::{body::Body, dispatch::HOST, meta::json, refused::Refused};
use crate::{
    gateway::Gateway,
    jobs,
    meta::{stats, status},
    plugins::{self, Running},
    storage::StorageError,
};
use http::{HeaderName, HeaderValue, Response};
use plugin_api::{
    point::{self, Counters, Discovery, ServiceStatus},
    sql,
};
use std::collections::{BTreeMap, BTreeSet};

type Services = BTreeMap<String, ServiceStatus>;

impl Gateway {
    pub(super) async fn status(&self) -> Result<Response<Body>, Refused> {
        let (own, contributed, discovery, counters) = tokio::join!(
            self.own_services(),
            self.contributions::<Services>(point::STATUS),
            self.contributions::<Discovery>(point::DISCOVERY),
            self.contributions::<Counters>(point::STATS),
        );
        let counters = stats::merge(counters.into_iter().map(|(_, counters)| counters));
        let mut services = status::merge(own, self.told(contributed));
        if let Some(database) = services.get_mut("db") {
            status::count_records(database, &counters);
        }
        let moment = status::Moment {
            started_s: self.services.started_ms / 1000,
            head: self.head(),
            indexed_block: self.services.indexes.indexed_block(),
        };
        let document = self.facts_of(&discovery, &counters, |facts| status::status(facts, moment, services));
        let mut response = json(&document);
        if let Some((name, value)) = status::degraded_header(&document, &self.services.environment.brand.header_prefix)
            && let (Ok(name), Ok(value)) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(&value))
        {
            response.headers_mut().insert(name, value);
        }
        Ok(response)
    }

    /// What plugins say of their services; those that should and say nothing are told as such.
    fn told(&self, contributed: Vec<(String, Services)>) -> Vec<status::Contribution> {
        let answered: BTreeSet<String> = contributed.iter().map(|(plugin, _)| plugin.clone()).collect();
        let serving = self.services.serving.list();
        let is_silent = |plugin: &Running| contributes(plugin, point::STATUS) && !answered.contains(plugin.name());
        let silent =
            serving.iter().filter(|plugin| is_silent(plugin)).map(|plugin| (plugin.name().to_owned(), Err(())));
        contributed.into_iter().map(|(plugin, services)| (plugin, Ok(services))).chain(silent).collect()
    }

    /// The gateway's own services: a line for each part that has some.
    async fn own_services(&self) -> Services {
        let (database, jobs) = tokio::join!(self.database_service(), self.job_service());
        let mut own = Services::from([("db".to_owned(), database), ("jobs".to_owned(), jobs)]);
        own.insert("plugins".to_owned(), self.plugin_service());
        own.extend(self.services.chains.services(self.services.clock.now_s()));
        own.extend(self.services.tx.services());
        own.extend(self.index_services());
        own
    }

    async fn database_service(&self) -> ServiceStatus {
        let (bytes, events) = tokio::join!(self.database_bytes(), self.services.activity.latest_id());
        status::database(bytes, events.ok().and_then(|count| u64::try_from(count).ok()))
    }

    async fn job_service(&self) -> ServiceStatus {
        let known = self.jobs.store.list().await;
        let mut serving = self.plugin_reports();
        serving.retain(|report| report.state == plugins::PluginState::Serving);
        jobs::service(known, |plugin| serving.iter().any(|report| report.name == plugin), self.services.clock.now_ms())
    }

    fn index_services(&self) -> Services {
        let Some(chain) = self.services.chains.main() else { return Services::new() };
        self.services.indexes.services(&chain.settings, self.head())
    }

    /// Plugins that should serve and do not are a degraded service.
    fn plugin_service(&self) -> ServiceStatus {
        let reports = self.plugin_reports();
        let failing: Vec<String> =
            reports.iter().filter(|report| report.is_setback()).map(|report| report.name.clone()).collect();
        let serving = reports.iter().filter(|report| report.state == plugins::PluginState::Serving).count();
        let detail = (!failing.is_empty()).then(|| format!("not serving: {}", failing.join(", ")));
        let numbers = serde_json::Map::from_iter([("serving".to_owned(), serving.into())]);
        ServiceStatus { ok: failing.is_empty(), enabled: None, detail, numbers }
    }

    async fn database_bytes(&self) -> Option<u64> {
        let size = match self.services.database.dialect() {
            crate::storage::Dialect::Sqlite => {
                "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()"
            }
            crate::storage::Dialect::Postgres => "SELECT pg_database_size(current_database())",
        };
        self.number(size).await.ok().and_then(|bytes| u64::try_from(bytes).ok())
    }

    async fn number(&self, statement: &'static str) -> Result<i64, StorageError> {
        let rows = self.services.database.read(&HOST, sql(statement).into()).await?;
        let numbers: Vec<i64> =
            plugin_api::decode_rows(&rows).map_err(|error| StorageError::Internal(error.to_string()))?;
        Ok(numbers.into_iter().next().unwrap_or_default())
    }
}

fn contributes(plugin: &Running, point: &str) -> bool {
    plugin.manifest.contributions.iter().any(|spec| spec.point == point)
}
