//! The gateways on one PostgreSQL database, as each tells of itself.

use crate::{
    database::{Database, engine::Engine, gateway_description::GatewayDescription},
    error::StorageError,
    postgres::gateway_registration,
};
use futures_util::future::BoxFuture;
use plugin_api::sql;
use std::{collections::BTreeSet, sync::Arc};
use tokio::sync::watch;

/// A gateway that was heard of within the last hour. All times are those of the database's clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisteredGateway {
    pub description: GatewayDescription,
    /// Since when it has the database open.
    pub since_ms: i64,
    pub seen_ms: i64,
    pub seen_ago_ms: i64,
    /// It was not heard of for 15 seconds.
    pub is_silent: bool,
    /// The one that has this database open.
    pub is_this: bool,
}

/// Instance, name, version, plugins, since, seen, how long ago, whether that is too long.
type Row = (String, String, String, String, i64, i64, i64, i64);

impl Database {
    /// Tells the other gateways at once what this one is; its heartbeats repeat it. On SQLite there are no others.
    pub fn describe_gateway(&self, description: GatewayDescription) {
        if let Engine::Postgres(postgres) = &self.inner.engine {
            postgres.registration.describe(description);
        }
    }

    /// Those that have described themselves, by name; none on SQLite.
    pub fn registered_gateways(&self) -> BoxFuture<'_, Result<Vec<RegisteredGateway>, StorageError>> {
        Box::pin(async move {
            let Engine::Postgres(_) = &self.inner.engine else { return Ok(Vec::new()) };
            let rows: Vec<Row> = self.fetch_all(sql(gateway_registration::SELECT_DESCRIBED)).await?;
            Ok(rows.into_iter().map(|row| registered(row, self.instance_id())).collect())
        })
    }
}

/// What leases that end with their gateway need. On SQLite, which one gateway has open, there is nothing of it.
impl Database {
    /// Names this gateway among those that have, or had, the database open.
    pub fn gateway_instance(&self) -> Option<&str> {
        matches!(self.inner.engine, Engine::Postgres(_)).then(|| self.instance_id())
    }

    /// Ends when other gateways may take this one for ended from now on, because it does not reach the database. What must not happen at
    /// two gateways at a time has to stop then.
    pub fn absence(&self) -> BoxFuture<'static, ()> {
        let Engine::Postgres(postgres) = &self.inner.engine else { return Box::pin(std::future::pending()) };
        postgres.registration.absence()
    }

    /// The instances of gateways that ended without a word in the last hour: a process that was killed, not one that stands still, or
    /// whose machine is away.
    pub fn ended_gateways(&self) -> Option<watch::Receiver<Arc<BTreeSet<String>>>> {
        let Engine::Postgres(postgres) = &self.inner.engine else { return None };
        Some(postgres.registration.ended())
    }
}

fn registered(row: Row, this: &str) -> RegisteredGateway {
    let (instance, name, version, plugins, since_ms, seen_ms, seen_ago_ms, is_silent) = row;
    RegisteredGateway {
        description: GatewayDescription { name, version, plugins: serde_json::from_str(&plugins).unwrap_or_default() },
        since_ms,
        seen_ms,
        seen_ago_ms,
        is_silent: is_silent != 0,
        is_this: instance == this,
    }
}
