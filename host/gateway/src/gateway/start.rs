//! Starts a gateway: builds its parts from the configuration in the order in which they need each other, then starts the
//! plugins and the background tasks.

use super::{
    Gateway,
    assemble::{BuiltParts, assemble},
    reload::signers_digest,
};
use crate::{
    background::{housekeeping, memory_watch},
    database_settings::{DatabaseSettingsError, database_settings},
    dispatch::{Payments, PositionHeader},
    environment,
    lifecycle::{PluginManager, StartMode},
    migrations,
    routes::RouteTable,
};
use arc_swap::ArcSwap;
use futures_util::future::BoxFuture;
use gateway_activity::{ActivityLog, SequencerSettings};
use gateway_chain::{ChainError, Chains};
use gateway_clock::Clock;
use gateway_config::Config;
use gateway_egress::{Egress, EgressSettings, Resolver, SystemResolver};
use gateway_envelope::Brand;
use gateway_jobs::JobStore;
use gateway_plugins::{
    ActivePlugins, CapabilityContext, ContainmentRequest, ExtensionPoints, LoadOutcome, PluginPresences,
    TransactionContext,
};
use gateway_queue::QueueWakes;
use gateway_secrets::Secrets;
use gateway_signers::Signers;
use gateway_storage::{Database, StorageError};
use gateway_tx::Journal;
use plugin_api::{Address, manifest::Environment};
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

/// Why the gateway does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("the folder {path} cannot be used: {reason}")]
    DataDir { path: String, reason: String },
    #[error("the database cannot be opened: {0}")]
    Database(#[from] StorageError),
    #[error(transparent)]
    DatabaseUrl(#[from] DatabaseSettingsError),
    #[error("[brand] is not valid: {0}")]
    Brand(String),
    #[error("[egress] is not valid: {0}")]
    Egress(String),
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error("the gateway's own routes conflict: {0}")]
    Routes(String),
    #[error("plugins that must serve do not: {0}")]
    RequiredPlugins(String),
}

impl Gateway {
    /// Opens the database and everything that needs it, then starts the plugins.
    pub fn start(
        config: Config,
        clock: Clock,
        bound: SocketAddr,
        loaded: Vec<LoadOutcome>,
    ) -> BoxFuture<'static, Result<Arc<Self>, StartError>> {
        Self::start_with_resolver(config, clock, Arc::new(SystemResolver), bound, loaded)
    }

    /// As [`Self::start`], with another source of the addresses that outbound HTTP connects to. They are checked like the system's.
    pub fn start_with_resolver(
        config: Config,
        clock: Clock,
        resolver: Arc<dyn Resolver>,
        bound: SocketAddr,
        loaded: Vec<LoadOutcome>,
    ) -> BoxFuture<'static, Result<Arc<Self>, StartError>> {
        Box::pin(async move {
            let (containment_requests, requests) = mpsc::unbounded_channel();
            let gateway =
                Arc::new(build(config, clock, resolver, bound, containment_requests, StartMode::Serve).await?);
            gateway.plugins.load_switches().await?;
            gateway.plugins.start(loaded).await;
            if let Err(error) = gateway.check_required().await {
                gateway.stop().await;
                return Err(error);
            }
            gateway.start_background(requests, bound);
            Ok(gateway)
        })
    }

    /// With `plugins.strict` every plugin that is on must serve, else only those of `plugins.required`.
    async fn check_required(&self) -> Result<(), StartError> {
        let plugins = &self.config.plugins;
        let mut required = plugins.required.clone();
        if plugins.strict {
            required.extend(self.plugins.wanted());
        }
        required.sort();
        required.dedup();
        self.plugins.settled(&required.iter().cloned().collect()).await;
        let missing = self.plugins.not_serving(&required);
        if missing.is_empty() { Ok(()) } else { Err(StartError::RequiredPlugins(missing.join("; "))) }
    }

    fn start_background(&self, requests: mpsc::UnboundedReceiver<ContainmentRequest>, bound: SocketAddr) {
        let (database, stop) = (&self.database, &self.stop);
        self.tasks.spawn(contain_plugins(self.plugins.clone(), requests, stop.clone()));
        self.chains.start(&self.tasks, stop);
        for chain in self.chains.iter() {
            self.tasks.spawn(gateway_tx::run(self.journal.clone(), chain.clone(), stop.clone()));
            self.tasks.spawn(gateway_indexer::publish_events(
                database.clone(),
                self.activity.clone(),
                chain.clone(),
                self.indexes.clone(),
                self.stop_publishing.clone(),
            ));
        }
        let routes = self.dispatcher.routes.clone();
        self.tasks.spawn(housekeeping::run(database.clone(), self.clock.clone(), routes, stop.clone()));
        self.tasks.spawn(housekeeping::compact_counts(database.clone(), self.activity.clone(), stop.clone()));
        self.tasks.spawn(housekeeping::follow_replicas(database.clone(), self.activity.clone(), stop.clone()));
        self.tasks.spawn(self.replicas.clone().follow(bound, stop.clone()));
        let settings = SequencerSettings {
            holder: database.instance_id().to_owned(),
            transaction_timeout: Duration::from_millis(self.config.database.transaction_timeout_ms),
        };
        self.tasks.spawn(gateway_activity::run_sequencer(self.activity.clone(), settings, stop.clone()));
        self.tasks.spawn(memory_watch::run(self.active.clone(), self.config.plugins.memory_warn_mib, stop.clone()));
        self.tasks.spawn(self.backups.clone().run(stop.clone()));
    }
}

async fn contain_plugins(
    plugins: Arc<PluginManager>,
    mut requests: mpsc::UnboundedReceiver<ContainmentRequest>,
    stop: CancellationToken,
) {
    loop {
        tokio::select! {
            () = stop.cancelled() => return,
            request = requests.recv() => match request {
                Some(request) => plugins.contain(&request).await,
                None => return,
            },
        }
    }
}

/// Builds everything but the plugins and the background tasks.
pub(crate) async fn build(
    config: Config,
    clock: Clock,
    resolver: Arc<dyn Resolver>,
    bound: SocketAddr,
    containment_requests: mpsc::UnboundedSender<ContainmentRequest>,
    mode: StartMode,
) -> Result<Gateway, StartError> {
    prepare_data_dir(&config)?;
    let database = Database::open_as_gateway(database_settings(&config)?).await?;
    migrations::migrate(&database).await?;
    let restored_s = gateway_storage::last_restore_ms(&database).await?.map(|restored_ms| restored_ms.div_euclid(1000));
    let brand = Brand::new(&config.brand.message_line, &config.brand.header_prefix)
        .map_err(|error| StartError::Brand(error.to_string()))?;
    let position =
        PositionHeader::new(&config.brand.header_prefix).map_err(|error| StartError::Brand(error.to_string()))?;
    let signers_digest = signers_digest(&config);
    let (config, signers) = open_signers(config).await;
    let signer_addresses = signers.ready().map(|(_, key)| Address(key.address().into_array())).collect();
    let environment = environment::environment(&config, bound, database.dialect(), restored_s);
    let environment = Arc::new(Environment { signer_addresses, ..environment });
    let config = Arc::new(config);
    let live = Arc::new(ArcSwap::new(config.clone()));
    let chains = Arc::new(Chains::new(&config)?);
    let journal = Journal::new(database.clone(), signers.clone(), chains.clone(), clock.clone(), config.tx.clone());
    let transactions = Arc::new(TransactionContext {
        activity: ActivityLog::new(database.clone()),
        journal: Arc::new(journal),
        queues: QueueWakes::default(),
        active: ActivePlugins::default(),
        database: database.clone(),
        clock: clock.clone(),
    });
    let (active, network_name) = (transactions.active.clone(), &environment.brand.network_name);
    let points = ExtensionPoints::new(active.clone(), database.clone(), config.http.cache_bytes_max, network_name);
    let capabilities = Arc::new(CapabilityContext {
        extension_points: Arc::new(points),
        presences: PluginPresences::default(),
        data_dir: config.data_dir.clone(),
        egress: open_egress(&config, resolver)?,
        chains,
        jobs: JobStore::new(database.clone()),
        secrets: Arc::new(Secrets::new(&config, database.clone(), clock)),
        signers,
        usage: Arc::default(),
        environment_json: serde_json::to_string(&*environment).unwrap_or_default(),
        transactions,
    });
    let payments =
        Payments::new(capabilities.transactions.clone(), environment.base_url.clone(), &config.brand.header_prefix)
            .map_err(|error| StartError::Brand(error.to_string()))?;
    let own = gateway_meta::meta_routes(&environment);
    let routes = RouteTable::new(live.clone(), database, capabilities.usage.clone(), active, own);
    let routes = Arc::new(routes.map_err(|conflict| StartError::Routes(conflict.to_string()))?);
    let parts = BuiltParts {
        config,
        live,
        signers_digest,
        environment,
        brand,
        position,
        payments,
        capabilities,
        routes,
        containment_requests,
        mode,
    };
    Ok(assemble(parts))
}

/// Keystores are slow to open, so a blocking thread does it.
async fn open_signers(config: Config) -> (Config, Arc<Signers>) {
    let open = |mut config: Config| {
        let signers = Arc::new(Signers::open(&mut config));
        (config, signers)
    };
    let without_keys = config.clone();
    tokio::task::spawn_blocking(move || open(config)).await.unwrap_or_else(|error| {
        tracing::error!(%error, "opening the keys ended badly; all are off");
        (without_keys, Arc::default())
    })
}

fn prepare_data_dir(config: &Config) -> Result<(), StartError> {
    std::fs::create_dir_all(&config.data_dir)
        .map_err(|error| StartError::DataDir { path: config.data_dir.display().to_string(), reason: error.to_string() })
}

/// Without root certificates the gateway runs, and outbound requests fail with that reason.
fn open_egress(config: &Config, resolver: Arc<dyn Resolver>) -> Result<Option<Egress>, StartError> {
    let settings = EgressSettings {
        allow_hosts: config.egress.allow_hosts.clone(),
        timeout_ms: config.egress.timeout_ms,
        connect_timeout_ms: config.egress.connect_timeout_ms,
        response_bytes_max: config.egress.response_bytes_max as u64,
        stream_bytes_max: config.egress.stream_bytes_max,
        per_plugin_concurrency: config.egress.per_plugin_concurrency,
        per_destination_concurrency: config.egress.per_destination_concurrency,
        per_destination_per_second: config.egress.per_destination_per_second,
        per_answering_destination_concurrency: config.egress.per_answering_destination_concurrency,
        per_answering_destination_per_second: config.egress.per_answering_destination_per_second,
        unanswered_interval_ms: config.egress.unanswered_interval_ms,
        resolve_interval_ms: config.egress.resolve_interval_ms,
        ..EgressSettings::default()
    };
    match Egress::with_resolver(settings, resolver) {
        Ok(egress) => Ok(Some(egress)),
        Err(error) if error.code() == "certificates" => {
            tracing::warn!(%error, "outbound HTTP is off");
            Ok(None)
        }
        Err(error) => Err(StartError::Egress(error.to_string())),
    }
}
