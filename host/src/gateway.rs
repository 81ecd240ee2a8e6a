//! The house without its doors: everything that answers a request, in one process, with or without a socket in front.

use crate::{
    activity::Topic,
    config::Config,
    http::{
        cache::AnswerCache,
        edge::RouteLabel,
        limits::IpLimits,
        router::{self, Found, Route, RouteConflict, Router, Target},
    },
    jobs::JobRunner,
    meta::{self, OwnRoutes},
    plugins::{self, Plugins, Running},
    provenance::Sources,
    services::SharedServices,
    telemetry::OperationUsage,
};
use arc_swap::ArcSwap;
use http::Method;
use parking_lot::{Mutex, RwLock};
use plugin_api::manifest::RouteSpec;
use std::{
    collections::HashMap,
    num::NonZeroUsize,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread,
    time::Duration,
};
use tokio::sync::Semaphore;

pub struct Gateway {
    pub services: SharedServices,
    pub ip_limits: IpLimits,
    pub topics: Topics,
    pub answers: AnswerCache,
    /// Large bodies that are verified at a time: as many as there are processors, so that they do not crowd out the rest.
    pub large_bodies: Arc<Semaphore>,
    /// The gateway's own routes; `pages[n]` answers `manifest.routes[n]`.
    pub own: OwnRoutes,
    pub jobs: JobRunner,
    pub(crate) plugins: Mutex<Plugins>,
    /// Held by whoever starts or stops plugins.
    pub(crate) plugin_changes: tokio::sync::Mutex<()>,
    router: ArcSwap<Router>,
    routes_made: AtomicU64,
    /// Requests that no route takes.
    pub(crate) unrouted: Arc<OperationUsage>,
}

impl Gateway {
    pub fn new(services: SharedServices, jobs: JobRunner) -> Result<Arc<Self>, RouteConflict> {
        let limits = &services.config.limits;
        let ip_limits = IpLimits::new(limits.per_ip_per_minute, limits.allow.clone());
        let answers = AnswerCache::new(services.config.http.cache_bytes_max);
        let own = meta::own_routes(&services.environment);
        let unrouted = services.usage.plugin(router::HOST).operation("none");
        let gateway = Self {
            services,
            own,
            ip_limits,
            answers,
            large_bodies: Arc::new(Semaphore::new(thread::available_parallelism().map_or(1, NonZeroUsize::get))),
            topics: Topics::default(),
            jobs,
            plugins: Mutex::default(),
            plugin_changes: tokio::sync::Mutex::default(),
            router: ArcSwap::from_pointee(Router::build(Vec::new(), Vec::new())?),
            routes_made: AtomicU64::new(0),
            unrouted,
        };
        gateway.rebuild_router(&[])?;
        Ok(Arc::new(gateway))
    }

    pub fn config(&self) -> &Config {
        &self.services.config
    }

    /// Where that request leads right now.
    pub fn find_route(&self, method: &Method, path: &str) -> Found {
        self.router.load().find(method, path)
    }

    pub fn router(&self) -> Arc<Router> {
        self.router.load_full()
    }

    /// The host's own routes and those of `serving`, in one new table. A conflict leaves the old one.
    pub(crate) fn rebuild_router(&self, serving: &[Arc<Running>]) -> Result<(), RouteConflict> {
        let pages = self.own.manifest.routes.iter().zip(&self.own.pages);
        let own = pages.map(|(spec, page)| self.route(spec.clone(), Target::Meta(*page), Sources::default()));
        let plugins = serving.iter().flat_map(|plugin| {
            let versions = self.services.database.versions();
            let sources = versions.map(|versions| plugins::sources(serving, plugin, versions)).unwrap_or_default();
            plugin.manifest.routes.iter().zip(0u32..).map(move |(spec, index)| {
                self.route(spec.clone(), Target::Plugin { plugin: plugin.clone(), index }, sources.clone())
            })
        });
        let manifests = serving.iter().map(|plugin| plugin.manifest.clone()).collect();
        let router = Router::build(own.chain(plugins).collect(), manifests)?;
        self.router.store(Arc::new(router));
        Ok(())
    }

    fn route(&self, mut spec: RouteSpec, target: Target, sources: Sources) -> Route {
        let config = self.config();
        if spec.cached {
            // Nobody but the gateway knows when the data changes: others ask with `If-None-Match`.
            spec.cache_control.get_or_insert_with(|| "no-cache".to_owned());
        }
        for limit in &mut spec.rate_limits {
            if limit.bucket == COMMONS_BUCKET {
                limit.calls = config.limits.commons_writes_per_ip_per_minute;
            }
        }
        let body_max = spec.body_max_bytes.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(usize::MAX);
        let parent = spec.parent.clone().and_then(|parent| {
            let position = spec.path.split(['{', '}']).skip(1).step_by(2).position(|name| name == parent.param)?;
            Some((parent, position))
        });
        let usage = self.services.usage.plugin(target.owner()).operation(&spec.operation);
        let label = RouteLabel { plugin: target.owner().into(), operation: spec.operation.as_str().into() };
        Route {
            label,
            cache_control: spec.cache_control.as_deref().and_then(|value| value.parse().ok()),
            id: self.routes_made.fetch_add(1, Relaxed),
            sources,
            usage,
            limits: self.ip_limits.of(&spec.rate_limits),
            body_max_bytes: body_max.min(config.http.body_bytes_max),
            timeout: Duration::from_millis(spec.timeout_ms.unwrap_or(config.http.request_timeout_ms)),
            auth: spec.auth.clone(),
            parent,
            target,
            spec,
        }
    }
}

/// The bucket that all writes of the Commons share; its size is the operator's.
const COMMONS_BUCKET: &str = "commons_writes";

/// Open topics by name.
#[derive(Default)]
pub struct Topics(RwLock<HashMap<String, Arc<Topic>>>);

impl Topics {
    pub fn get(&self, name: &str) -> Option<Arc<Topic>> {
        self.0.read().get(name).cloned()
    }

    /// `false` when a topic of this name is open already; that one stays.
    #[must_use]
    pub fn insert(&self, topic: Arc<Topic>) -> bool {
        let mut topics = self.0.write();
        let is_taken = topics.get(topic.name()).is_some_and(|other| !other.is_stopped());
        if !is_taken {
            topics.insert(topic.name().to_owned(), topic);
        }
        !is_taken
    }

    /// Forgets the topics that a plugin renders.
    pub fn remove_of(&self, plugin: &Running) {
        let mut topics = self.0.write();
        for spec in &plugin.manifest.contributions {
            if topics.get(&spec.name).is_some_and(|topic| topic.is_stopped()) {
                topics.remove(&spec.name);
            }
        }
    }
}
