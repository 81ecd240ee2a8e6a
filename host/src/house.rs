//! Opening and closing everything behind the doors: database, services, plugins, background work.

use crate::{
    activity::{self, ActivityLog, StreamLimits},
    chain::{
        ChainError, Chains,
        index::{self, Indexes},
    },
    clock::Clock,
    config::{ChainConfig, Config, DatabaseTarget, MAIN},
    egress::{Egress, EgressSettings},
    envelope::Brand,
    gateway::Gateway,
    housekeeping,
    jobs::{self, Jitter, JobRunner, JobStore},
    meta::{ChainFacts, Limits},
    operators::{self, Operators},
    plugins::{FenceRequest, GUARD_MIGRATION, KeptContributions, LoadedPlugin, PluginReport, Serving},
    services::{Services, SharedServices},
    signers::Signers,
    storage::{Database, DatabaseSettings, Dialect, Schema, Scope, StorageError},
    telemetry::Usage,
    tx::{self, Journal},
};
use plugin_api::manifest::{self, Environment, MigrationSpec};
use secrecy::ExposeSecret as _;
use std::{net::SocketAddr, sync::Arc, time::Duration};
use tokio::sync::mpsc;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// Why the house does not open.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the folder {path} cannot be used: {reason}")]
    DataDir { path: String, reason: String },
    #[error("the database cannot be opened: {0}")]
    Database(#[from] StorageError),
    #[error("the database URL is not valid: {0}")]
    DatabaseUrl(String),
    #[error("[brand] is not valid: {0}")]
    Brand(String),
    #[error("[egress] is not valid: {0}")]
    Egress(String),
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error("the gateway's own routes clash: {0}")]
    Routes(String),
}

/// An open house.
pub struct House {
    pub gateway: Arc<Gateway>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl House {
    /// Opens the database and the services, then the plugins.
    pub async fn open(
        config: Config,
        clock: Clock,
        bound: SocketAddr,
        loaded: Vec<Result<LoadedPlugin, Box<PluginReport>>>,
    ) -> Result<Self, OpenError> {
        let (fence_requests, fences) = mpsc::unbounded_channel();
        let services = open_services(config, clock, bound, fence_requests).await?;
        let jobs = job_runner(&services);
        let gateway = Gateway::new(services, jobs).map_err(|conflict| OpenError::Routes(conflict.to_string()))?;
        gateway.load_switches().await?;
        gateway.open_plugins(loaded).await;
        let house = Self { gateway, tasks: TaskTracker::new(), stop: CancellationToken::new() };
        house.start_background(fences);
        Ok(house)
    }

    /// Drains the plugins, stops the background work, writes out what is left.
    pub async fn close(self) {
        self.gateway.close_plugins().await;
        self.stop.cancel();
        self.tasks.close();
        self.tasks.wait().await;
        self.gateway.services.database.close().await;
    }

    fn start_background(&self, mut fences: mpsc::UnboundedReceiver<FenceRequest>) {
        let (gateway, stop) = (self.gateway.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            loop {
                tokio::select! {
                    () = stop.cancelled() => return,
                    request = fences.recv() => match request {
                        Some(request) => gateway.fence_plugin(&request).await,
                        None => return,
                    },
                }
            }
        });
        let services = &self.gateway.services;
        services.chains.start(&self.tasks, &self.stop);
        for chain in services.chains.iter() {
            self.tasks.spawn(tx::run(services.clone(), chain.clone(), self.stop.clone()));
        }
        self.tasks.spawn(housekeeping::run(self.gateway.clone(), self.stop.clone()));
        self.tasks.spawn(housekeeping::follow_replicas(self.gateway.clone(), self.stop.clone()));
    }
}

async fn open_services(
    mut config: Config,
    clock: Clock,
    bound: SocketAddr,
    fence_requests: mpsc::UnboundedSender<FenceRequest>,
) -> Result<SharedServices, OpenError> {
    prepare_data_dir(&config)?;
    let database = Database::open(database_settings(&config)?).await?;
    migrate_own(&database).await?;
    let environment = environment(&config, bound, database.dialect());
    let environment_json = serde_json::to_string(&environment).unwrap_or_default();
    let brand = Brand::new(&config.brand.message_line, &config.brand.header_prefix)
        .map_err(|error| OpenError::Brand(error.to_string()))?;
    let started_ms = clock.now_ms();
    let signers;
    (config, signers) = open_signers(config).await;
    let chains = Arc::new(Chains::new(&config)?);
    let journal = Journal::new(database.clone(), signers.clone(), chains.clone(), clock.clone(), config.tx.clone());
    Ok(Arc::new(Services {
        activity: ActivityLog::new(database.clone()),
        operators: Operators::new(database.clone()),
        streams: StreamLimits::new(config.limits.streams_max, config.limits.streams_per_ip_max),
        egress: open_egress(&config)?,
        chains,
        signers,
        tx: journal,
        indexes: Indexes::default(),
        serving: Serving::default(),
        contributions: KeptContributions::new(config.http.cache_bytes_max),
        usage: Usage::default(),
        database,
        brand,
        environment,
        environment_json,
        clock,
        config,
        fence_requests,
        started_ms,
    }))
}

/// Keystores are slow to open: not on a thread that serves.
async fn open_signers(config: Config) -> (Config, Arc<Signers>) {
    let open = |mut config: Config| {
        let signers = Arc::new(Signers::open(&mut config));
        (config, signers)
    };
    let without = config.clone();
    tokio::task::spawn_blocking(move || open(config)).await.unwrap_or_else(|error| {
        tracing::error!(%error, "opening the keys ended badly; all are off");
        (without, Arc::default())
    })
}

fn job_runner(services: &Services) -> JobRunner {
    JobRunner {
        store: JobStore::new(services.database.clone()),
        clock: services.clock.clone(),
        holder: uuid::Uuid::now_v7().to_string().into(),
        // A clock that a test moves has no crowd to spread.
        jitter: if matches!(services.clock, Clock::System) { Jitter::Random } else { Jitter::None },
        drain_timeout: Duration::from_millis(services.config.http.drain_timeout_ms),
    }
}

fn prepare_data_dir(config: &Config) -> Result<(), OpenError> {
    std::fs::create_dir_all(&config.data_dir)
        .map_err(|error| OpenError::DataDir { path: config.data_dir.display().to_string(), reason: error.to_string() })
}

pub fn database_settings(config: &Config) -> Result<DatabaseSettings, OpenError> {
    let target = config.database_target().map_err(|error| OpenError::DatabaseUrl(error.to_string()))?;
    let url = match target {
        DatabaseTarget::Sqlite(path) => format!("sqlite:{}", path.display()),
        DatabaseTarget::Postgres(url) => url.expose_secret().to_owned(),
    };
    Ok(DatabaseSettings {
        synchronous_full: config.database.synchronous == crate::config::Synchronous::Full,
        read_connections: u32::try_from(config.database.read_connections).unwrap_or(u32::MAX),
        write_group_max: config.database.write_group_max,
        pool_max: config.database.pool_max,
        statement_timeout_ms: config.database.statement_timeout_ms,
        transaction_timeout_ms: config.database.transaction_timeout_ms,
        ..DatabaseSettings::new(url)
    })
}

/// Brings the gateway's own tables up to date; answers how many steps were applied.
pub async fn migrate_own(database: &Database) -> Result<usize, StorageError> {
    let (migrations, views) = (migrations(), views());
    Ok(database.migrate(&Schema { scope: &Scope::Host, views: &views, migrations: &migrations }).await?.applied.len())
}

/// The views that the gateway itself publishes.
pub fn views() -> Vec<String> {
    vec![activity::VIEW.to_owned()]
}

/// The gateway's own migrations.
pub fn migrations() -> Vec<MigrationSpec> {
    let own = |version, (name, sql): (&str, &str)| MigrationSpec {
        version,
        name: name.to_owned(),
        sql: sql.to_owned(),
        postgres: None,
    };
    // Only ever append: a database remembers what it has applied.
    let first = [
        ("activity", activity::MIGRATION),
        ("guards", GUARD_MIGRATION),
        ("jobs", jobs::MIGRATION),
        ("operators", operators::MIGRATION),
    ];
    let then = [("tx", tx::MIGRATION), ("tx_given_up", tx::GIVEN_UP_MIGRATION)];
    let (first, then) = ((1..).zip(first), (6..).zip(then));
    first
        .map(|(version, step)| own(version, step))
        .chain([index::migration(5)])
        .chain(then.map(|(version, step)| own(version, step)))
        .collect()
}

pub fn environment(config: &Config, bound: SocketAddr, dialect: Dialect) -> Environment {
    let deployed =
        |main: &ChainConfig| main.contracts.keys().filter_map(|key| Some((key.clone(), main.contract(key)?))).collect();
    Environment {
        gateway_version: env!("CARGO_PKG_VERSION").to_owned(),
        base_url: config.public_url(bound),
        chain_id: config.chain_id,
        brand: manifest::Brand {
            network_name: config.brand.network_author.clone(),
            message_line: config.brand.message_line.clone(),
            header_prefix: config.brand.header_prefix.clone(),
            marker: config.brand.marker.clone(),
        },
        dialect: match dialect {
            Dialect::Sqlite => "sqlite".to_owned(),
            Dialect::Postgres => "postgres".to_owned(),
        },
        egress_allows_private: !config.egress.allow_hosts.is_empty(),
        contracts: config.chains.get(MAIN).map(deployed).unwrap_or_default(),
    }
}

/// The chain as the configuration knows it.
pub fn chain_facts(config: &Config) -> ChainFacts {
    let main = config.chains.get(MAIN).cloned().unwrap_or_default();
    ChainFacts {
        contracts: main.told(),
        name: main.label.unwrap_or_else(|| config.network_name.clone()),
        currency_name: main.currency_name,
        symbol: main.currency_symbol,
        decimals: 18,
        rpc: main.public_rpc,
        explorer: main.explorer,
        block_time_s: main.block_time_s,
        consensus: main.consensus,
        evm: main.evm,
        deploy_block: main.deploy_block,
    }
}

/// The limits that the gateway itself keeps.
pub fn own_limits(config: &Config) -> Limits {
    Limits {
        write_interval_ms: config.limits.write_interval_ms,
        writes_per_ip_per_minute: config.limits.commons_writes_per_ip_per_minute,
        body_bytes_max: config.http.body_bytes_max as u64,
        ts_window_s: crate::envelope::TS_WINDOW_S,
    }
}

/// Without root certificates the gateway runs, but what needs the outside says why it cannot.
fn open_egress(config: &Config) -> Result<Option<Egress>, OpenError> {
    let settings = EgressSettings {
        allow_hosts: config.egress.allow_hosts.clone(),
        timeout_ms: config.egress.timeout_ms,
        connect_timeout_ms: config.egress.connect_timeout_ms,
        response_bytes_max: config.egress.response_bytes_max as u64,
        per_plugin_concurrency: config.egress.per_plugin_concurrency,
        ..EgressSettings::default()
    };
    match Egress::new(settings) {
        Ok(egress) => Ok(Some(egress)),
        Err(error) if error.code() == "certificates" => {
            tracing::warn!(%error, "outbound HTTP is off");
            Ok(None)
        }
        Err(error) => Err(OpenError::Egress(error.to_string())),
    }
}
