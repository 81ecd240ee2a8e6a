//! Puts a gateway together from what the start has built.

use super::Gateway;
use crate::{
    background::{Backups, Replicas},
    dispatch::{Dispatcher, DispatcherParts, EnvelopeVerifier, Payments, PositionHeader, Streams},
    health::HealthMonitor,
    lifecycle::{PluginManager, PluginManagerParts, StartMode, Topics},
    operators::{Controls, Operators, Reports},
    pages::{HealthMembers, Pages},
    routes::RouteTable,
};
use arc_swap::ArcSwap;
use gateway_activity::StreamLimits;
use gateway_clock::Clock;
use gateway_config::Config;
use gateway_envelope::Brand;
use gateway_indexer::{IndexerContext, Indexes};
use gateway_jobs::{Jitter, JobRunner, LEASE};
use gateway_plugins::{CapabilityContext, ContainmentRequest, IntervalClock};
use parking_lot::Mutex;
use plugin_api::manifest::Environment;
use std::{sync::Arc, time::Duration};
use tokio::{runtime::Handle, sync::mpsc};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

/// What is built before the parts that need plugins.
pub(crate) struct BuiltParts {
    pub config: Arc<Config>,
    pub live: Arc<ArcSwap<Config>>,
    pub signers_digest: blake3::Hash,
    pub environment: Arc<Environment>,
    pub brand: Brand,
    pub position: PositionHeader,
    pub payments: Payments,
    pub capabilities: Arc<CapabilityContext>,
    pub routes: Arc<RouteTable>,
    pub containment_requests: mpsc::UnboundedSender<ContainmentRequest>,
    pub mode: StartMode,
}

pub(crate) fn assemble(parts: BuiltParts) -> Gateway {
    let (capabilities, transactions) = (parts.capabilities.clone(), parts.capabilities.transactions.clone());
    let (database, clock) = (transactions.database.clone(), transactions.clock.clone());
    let (indexes, topics, stop) = (Arc::<Indexes>::default(), Arc::<Topics>::default(), CancellationToken::new());
    let operators = Operators::new(database.clone());
    let plugins = plugin_manager(&parts, &indexes, &topics, &operators);
    let replicas = Replicas::new(database.clone(), clock.clone(), plugins.clone());
    let required = parts.config.plugins.required.clone();
    let health = Arc::new(HealthMonitor::new(database.clone(), clock.clone(), plugins.clone(), required));
    let backups = Arc::new(Backups::new(database.clone(), clock.clone(), parts.config.backup.clone()));
    let pages = pages(&parts, &plugins, &indexes, &health, &backups);
    let dispatcher = DispatcherParts {
        streams: streams(&parts.config, topics),
        verifier: envelope_verifier(&parts),
        cache_bytes_max: parts.config.http.cache_bytes_max,
        position: parts.position,
        payments: parts.payments,
    };
    Gateway {
        dispatcher: Arc::new(Dispatcher::new(pages, dispatcher)),
        config: parts.config,
        live: parts.live,
        signers_digest: parts.signers_digest,
        environment: parts.environment,
        brand: parts.brand,
        database,
        clock,
        activity: transactions.activity.clone(),
        journal: transactions.journal.clone(),
        chains: capabilities.chains.clone(),
        egress: capabilities.egress.clone(),
        usage: capabilities.usage.clone(),
        active: transactions.active.clone(),
        extension_points: capabilities.extension_points.clone(),
        secrets: capabilities.secrets.clone(),
        operators,
        controls: Controls::new(capabilities.extension_points.clone()),
        reports: Reports::new(capabilities.extension_points.clone()),
        replicas,
        indexes,
        jobs: capabilities.jobs.clone(),
        plugins,
        health,
        backups,
        tls: Mutex::default(),
        runtime: Handle::current(),
        tasks: TaskTracker::new(),
        stop_publishing: stop.child_token(),
        stop,
    }
}

fn plugin_manager(
    parts: &BuiltParts,
    indexes: &Arc<Indexes>,
    topics: &Arc<Topics>,
    operators: &Operators,
) -> Arc<PluginManager> {
    let (config, capabilities) = (&parts.config, &parts.capabilities);
    PluginManager::new(PluginManagerParts {
        config: config.clone(),
        capabilities: capabilities.clone(),
        routes: parts.routes.clone(),
        topics: topics.clone(),
        operators: operators.clone(),
        jobs: job_runner(config, capabilities),
        indexer: IndexerContext {
            transactions: capabilities.transactions.clone(),
            chains: capabilities.chains.clone(),
            indexes: indexes.clone(),
            log_format: config.log.format,
            transaction_timeout: Duration::from_millis(config.database.transaction_timeout_ms),
        },
        containment_requests: parts.containment_requests.clone(),
        mode: parts.mode,
    })
}

fn job_runner(config: &Config, capabilities: &CapabilityContext) -> JobRunner {
    let clock = capabilities.transactions.clock.clone();
    JobRunner {
        store: capabilities.jobs.clone(),
        holder: capabilities.transactions.database.instance_id().into(),
        // Jitter spreads the load of many gateways; a test's manual clock needs none.
        jitter: if matches!(clock, Clock::System) { Jitter::Random } else { Jitter::None },
        clock,
        lease: LEASE,
        drain_timeout: Duration::from_millis(config.http.drain_timeout_ms),
    }
}

fn pages(
    parts: &BuiltParts,
    plugins: &Arc<PluginManager>,
    indexes: &Arc<Indexes>,
    health: &Arc<HealthMonitor>,
    backups: &Arc<Backups>,
) -> Pages {
    let capabilities = &parts.capabilities;
    Pages {
        config: parts.live.clone(),
        environment: parts.environment.clone(),
        transactions: capabilities.transactions.clone(),
        extension_points: capabilities.extension_points.clone(),
        chains: capabilities.chains.clone(),
        signers: capabilities.signers.clone(),
        routes: parts.routes.clone(),
        plugins: plugins.clone(),
        health: health.clone(),
        health_members: HealthMembers::default(),
        backups: backups.clone(),
        indexes: indexes.clone(),
        jobs: capabilities.jobs.clone(),
        started_ms: capabilities.transactions.clock.now_ms(),
    }
}

fn streams(config: &Config, topics: Arc<Topics>) -> Streams {
    let limits = StreamLimits::new(config.limits.streams_max, config.limits.streams_per_ip_max);
    Streams { topics, limits }
}

fn envelope_verifier(parts: &BuiltParts) -> EnvelopeVerifier {
    let transactions = &parts.capabilities.transactions;
    EnvelopeVerifier {
        brand: parts.brand.clone(),
        clock: transactions.clock.clone(),
        config: parts.live.clone(),
        interval_clock: IntervalClock::of(transactions.database.dialect(), &transactions.clock),
    }
}
