//! The route table in use: replaced as a whole whenever the set of plugins changes.

use super::{HOST, IpLimits, Route, RouteConflict, RouteLookup, Router, StartingPlugins, Target, router::SEARCH};
use arc_swap::{ArcSwap, Guard};
use gateway_config::Config;
use gateway_http::RouteLabel;
use gateway_meta::MetaRoutes;
use gateway_plugins::{ActivePlugin, ActivePlugins, dependencies_of};
use gateway_storage::{Database, ReadDependencies};
use gateway_telemetry::{OperationUsage, Usage};
use http::Method;
use plugin_api::manifest::{NeededSetting, RouteSpec};
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    time::Duration,
};

/// The bucket that all writes of the Commons share; its size is the operator's.
const COMMONS_BUCKET: &str = "commons_writes";

pub struct RouteTable {
    config: Arc<ArcSwap<Config>>,
    database: Database,
    usage: Arc<Usage>,
    active: ActivePlugins,
    ip_limits: ArcSwap<IpLimits>,
    /// The gateway's own routes; `pages[n]` answers `manifest.routes[n]`.
    pub own: MetaRoutes,
    /// Counts requests that match no route.
    pub unrouted: Arc<OperationUsage>,
    pub starting: StartingPlugins,
    router: ArcSwap<Router>,
    next_route_id: AtomicU64,
}

impl RouteTable {
    /// With the gateway's own routes only.
    pub fn new(
        config: Arc<ArcSwap<Config>>,
        database: Database,
        usage: Arc<Usage>,
        active: ActivePlugins,
        own: MetaRoutes,
    ) -> Result<Self, RouteConflict> {
        let table = Self {
            ip_limits: ArcSwap::from_pointee(new_ip_limits(&config.load())),
            unrouted: usage.plugin(HOST).operation("none"),
            starting: StartingPlugins::default(),
            router: ArcSwap::from_pointee(Router::build(Vec::new(), Vec::new())?),
            next_route_id: AtomicU64::new(0),
            config,
            database,
            usage,
            active,
            own,
        };
        table.rebuild(&[])?;
        Ok(table)
    }

    /// The buckets that requests are counted in.
    pub fn ip_limits(&self) -> Guard<Arc<IpLimits>> {
        self.ip_limits.load()
    }

    /// Builds the routes again with the configuration in use. What was counted so far is forgotten if the limits changed.
    pub fn reload(&self) -> Result<(), RouteConflict> {
        self.ip_limits.store(Arc::new(new_ip_limits(&self.config.load())));
        self.rebuild(&self.active.list())
    }

    /// Where a request leads right now.
    pub fn find(&self, method: &Method, path: &str) -> RouteLookup {
        self.router.load().find(method, path)
    }

    pub fn router(&self) -> Arc<Router> {
        self.router.load_full()
    }

    /// Replaces the table by one of the gateway's own routes and those of `plugins`. A conflict leaves the old one in use.
    pub fn rebuild(&self, plugins: &[Arc<ActivePlugin>]) -> Result<(), RouteConflict> {
        let pages = self.own.manifest.routes.iter().zip(&self.own.pages);
        let own = pages.map(|(spec, page)| self.route(spec.clone(), Target::Meta(*page), ReadDependencies::default()));
        let routes = plugins.iter().flat_map(|plugin| {
            let dependencies = dependencies_of(plugins, plugin, self.database.revisions());
            plugin.manifest.routes.iter().zip(0u32..).map(move |(spec, index)| {
                self.route(spec.clone(), Target::Plugin { plugin: plugin.clone(), index }, dependencies.clone())
            })
        });
        let manifests = plugins.iter().map(|plugin| plugin.manifest.clone()).collect();
        let router = Router::build(own.chain(routes).collect(), manifests)?;
        self.router.store(Arc::new(router));
        Ok(())
    }

    fn route(&self, mut spec: RouteSpec, target: Target, dependencies: ReadDependencies) -> Route {
        let config = self.config.load();
        if spec.cached {
            // Only the gateway knows when the data changes: clients and proxies revalidate with `If-None-Match`.
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
        let settings = config.plugins.sections.get(target.owner()).map(|settings| &settings.config);
        let is_missing = |setting: &NeededSetting| settings.is_none_or(|settings| setting.is_missing(settings));
        let missing_setting = spec.needed_setting.clone().filter(is_missing);
        let usage = self.usage.plugin(target.owner()).operation(&spec.operation);
        let has_search = spec.parameters.iter().any(|parameter| parameter.name == SEARCH);
        let path = spec.private_path.then(|| spec.path.as_str().into());
        let label = RouteLabel { plugin: target.owner().into(), operation: spec.operation.as_str().into(), path };
        Route {
            label,
            cache_control: spec.cache_control.as_deref().and_then(|value| value.parse().ok()),
            id: self.next_route_id.fetch_add(1, Relaxed),
            dependencies,
            usage,
            limits: self.ip_limits().of(&spec.rate_limits),
            search_limits: has_search.then(|| self.ip_limits().of_search(&spec.rate_limits)),
            body_max_bytes: body_max.min(config.http.body_bytes_max),
            // The handler of a body in parts runs while the client sends.
            timeout: Duration::from_millis(
                spec.timeout_ms.unwrap_or(config.http.request_timeout_ms)
                    + if spec.streams_body { config.http.body_timeout_ms } else { 0 },
            ),
            auth: spec.auth.clone(),
            missing_setting,
            parent,
            target_members: spec.target_members(),
            target,
            spec,
        }
    }
}

fn new_ip_limits(config: &Config) -> IpLimits {
    let limits = &config.limits;
    IpLimits::new(limits.per_ip_per_minute, limits.searches_per_ip_per_minute, limits.allow.clone())
}
