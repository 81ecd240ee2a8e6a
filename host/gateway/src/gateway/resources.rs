//! What the gateway has in use: streams, the database with its disk and its connections, RPC servers. Read when a scrape or the
//! operator's page asks.

use super::Gateway;
use gateway_storage::DatabaseResources;

#[derive(Clone, Debug)]
pub struct Resources {
    /// Open streams by operation.
    pub streams: Vec<(String, usize)>,
    /// Of one operation.
    pub streams_max: usize,
    pub database: DatabaseResources,
}

impl Gateway {
    pub fn resources(&self) -> Resources {
        let limits = &self.dispatcher.streams.limits;
        Resources {
            streams: limits.open(),
            streams_max: self.live.load().limits.streams_max,
            database: self.database.resources(),
        }
    }

    /// Sets the gauges of [`Self::resources`] and of the RPC servers to what holds now.
    pub fn record_resources(&self) {
        let Resources { streams, database, .. } = self.resources();
        for (operation, open) in streams {
            metrics::gauge!("gateway_streams_open", "operation" => operation).set(open as f64);
        }
        record_database(&database);
        for chain in self.chains.reports(self.clock.now_s()) {
            for server in chain.servers {
                let labels = [("chain", chain.name.clone()), ("server", server.url)];
                metrics::gauge!("gateway_chain_rpc_server_up", &labels).set(f64::from(u8::from(server.ok)));
                if let Some(latency_ms) = server.latency_ms {
                    let seconds = latency_ms as f64 / 1000.0;
                    metrics::gauge!("gateway_chain_rpc_server_latency_seconds", &labels).set(seconds);
                }
            }
        }
    }
}

fn record_database(database: &DatabaseResources) {
    if let Some(bytes) = database.file_bytes {
        metrics::gauge!("gateway_database_file_bytes").set(bytes as f64);
    }
    if let Some(bytes) = database.wal_bytes {
        metrics::gauge!("gateway_database_wal_bytes").set(bytes as f64);
    }
    if let Some(bytes) = database.free_disk_bytes {
        metrics::gauge!("gateway_database_free_disk_bytes").set(bytes as f64);
    }
    if let Some(pool) = &database.pool {
        for (state, connections) in [("idle", pool.idle), ("busy", pool.open.saturating_sub(pool.idle))] {
            metrics::gauge!("gateway_database_pool_connections", "state" => state).set(connections as f64);
        }
        metrics::gauge!("gateway_database_pool_waiting").set(pool.waiting as f64);
    }
}
