//! One start of plugins: constructed, migrated and mounted one after the other.
//!
//! The rule: a constructor that takes long delays only its own plugin. The others start meanwhile, and it goes on in
//! [`super::slow_starts`].

use super::{
    construction::Construction,
    manager::PluginManager,
    name_conflicts::{NameClaims, refused_by_name},
    own_thread::drop_on_own_thread,
    pending_starts::PendingStart,
    registry::InactiveReason,
};
use gateway_config::Config;
use gateway_plugins::{
    ActivePlugin, Capabilities, FaultLimit, LoadedPlugin, OwnedObject, PluginHandle, PluginState,
    crash_record::{self, StartPhase},
    polls::{DetachedCall, detached_threads_lost, has_spare_threads, threads_lost},
};
use gateway_storage::{Isolation, MigrationSet, Scope};
use parking_lot::Mutex;
use plugin_api::{
    abi::{Fault, FfiBytes},
    manifest::Manifest,
};
use std::{collections::BTreeSet, sync::Arc, time::Duration};

/// How long the other plugins wait for a constructor.
const PATIENCE: Duration = Duration::from_millis(250);
/// How many threads constructors, stops and drops of one plugin may hold until it is not constructed again.
const CONSTRUCTORS_LOST_MAX: usize = 3;

impl PluginManager {
    pub(super) async fn start_all(&self, wanted: &BTreeSet<String>, config: &Config) {
        self.resolve_name_conflicts(wanted, config).await;
        let (order, stuck) = self.registry.lock().start_order(wanted);
        for (name, reason) in stuck {
            self.registry.lock().note(&name, InactiveReason::failed(reason));
        }
        for name in order {
            if self.has_obstacles(&name, config) {
                continue;
            }
            if let Err(inactive) = self.start_plugin(&name, config).await {
                self.note_failure(&name, inactive);
            }
        }
    }

    pub(super) fn note_failure(&self, name: &str, inactive: InactiveReason) {
        tracing::error!(plugin = name, state = %inactive.state, "{}", inactive.reason);
        self.registry.lock().note(name, inactive);
    }

    /// Finds who gets what several plugins claim. Without the database nobody came earlier, and nobody could be migrated either.
    async fn resolve_name_conflicts(&self, wanted: &BTreeSet<String>, config: &Config) {
        let applied = self.transactions().database.migration_status(None).await.unwrap_or_default();
        let mut registry = self.registry.lock();
        let since_s = |name: &str| {
            let own = applied.iter().filter(|migration| migration.plugin == name);
            let first = own.map(|migration| migration.applied_at).min();
            registry.first_migrations_s.get(name).copied().or(first)
        };
        let mut name_claims = registry.name_claims(wanted, config, since_s);
        name_claims.push(NameClaims::host(&self.parts.routes.own.manifest));
        registry.name_conflicts = refused_by_name(&name_claims);
    }

    async fn start_plugin(&self, name: &str, config: &Config) -> Result<(), InactiveReason> {
        if self.registry.lock().keeps_secrets(name) {
            self.parts.capabilities.secrets.open().await.map_err(InactiveReason::failed)?;
        }
        let Some(construction) = self.begin_construction(name, config)? else { return Ok(()) };
        match construction.end_within(PATIENCE).await {
            Some(object) => self.finish_start(&construction, object?).await,
            None => {
                tracing::warn!(plugin = name, "its constructor takes long: the others start meanwhile");
                let reason = "its constructor has not returned yet".to_owned();
                self.registry.lock().note(name, InactiveReason { state: PluginState::Starting, reason });
                self.await_start(PendingStart::Construction(construction));
                Ok(())
            }
        }
    }

    /// `None` for a plugin without a library.
    fn begin_construction(&self, name: &str, config: &Config) -> Result<Option<Construction>, InactiveReason> {
        let Some((loaded, views)) = self.registry.lock().prepare(name) else { return Ok(None) };
        let settings = config.plugins.settings(name);
        for phase in [StartPhase::Constructor, StartPhase::Migration] {
            if let Some(reason) = crash_record::why_skipped(name, loaded.sha256(), phase) {
                return Err(InactiveReason::failed(reason));
            }
        }
        check_threads(name)?;
        let handle = self.new_handle(name);
        self.registry.lock().set_handle(name, handle.clone());
        let usage = self.parts.capabilities.usage.plugin(name).database.clone();
        let scope =
            Scope::plugin(name, Arc::new(views)).with_usage(usage).with_isolation(isolation_of(&loaded.manifest));
        let mark = Mutex::new(Some(crash_record::start_mark(name, loaded.sha256(), StartPhase::Constructor)));
        let call = self.construct(&loaded, &settings.config, &handle, &scope)?;
        let limit = Duration::from_millis(self.config().plugins.constructor_timeout_ms);
        Ok(Some(Construction { name: name.to_owned(), handle, loaded, scope, call, mark, limit }))
    }

    /// The constructor is synchronous code of the plugin: it runs on a thread of its own.
    fn construct(
        &self,
        loaded: &Arc<LoadedPlugin>,
        settings: &serde_json::Map<String, serde_json::Value>,
        handle: &Arc<PluginHandle>,
        scope: &Scope,
    ) -> Result<DetachedCall<Result<OwnedObject, Fault>>, InactiveReason> {
        let config = serde_json::to_vec(settings).map_err(|error| InactiveReason::failed(error.to_string()))?;
        let host = Capabilities {
            handle: handle.clone(),
            context: self.parts.capabilities.clone(),
            scope: scope.clone(),
            manifest: loaded.manifest.clone(),
        };
        let (construct, dropping) = (loaded.module.construct(), handle.operation_number("drop"));
        let work = move || {
            let constructed = construct(host.into_host_box(), FfiBytes::from(config)).into_result();
            constructed.map(|object| OwnedObject::new(object, dropping))
        };
        DetachedCall::start(loaded.name(), work)
            .map_err(|error| InactiveReason::failed(format!("no thread can be started for its constructor: {error}")))
    }

    /// Migrates and mounts a plugin whose constructor has returned.
    pub(super) async fn finish_start(
        &self,
        construction: &Construction,
        object: OwnedObject,
    ) -> Result<(), InactiveReason> {
        let Construction { name, handle, loaded, scope, .. } = construction;
        let migrated = {
            let _mark = crash_record::start_mark(name, loaded.sha256(), StartPhase::Migration);
            self.migrate(loaded, scope).await
        };
        if let Err(inactive) = migrated {
            drop_on_own_thread(handle, self.drain_limit(handle), object).await;
            return Err(inactive);
        }
        let running = ActivePlugin::new(handle.clone(), loaded.clone(), object, scope.clone());
        let jobs = match self.mount_all(&running).await {
            Ok(jobs) => jobs,
            Err(inactive) => {
                self.abandon(running).await;
                return Err(inactive);
            }
        };
        self.registry.lock().set_serving(name, running, jobs);
        crash_record::clear(name);
        let (version, routes) = (&loaded.manifest.version, loaded.manifest.routes.len());
        tracing::info!(plugin = name, version, routes, "serving");
        Ok(())
    }

    fn new_handle(&self, name: &str) -> Arc<PluginHandle> {
        let plugins = &self.config().plugins;
        let faults = usize::try_from(plugins.fence_faults).unwrap_or(usize::MAX);
        let limit = FaultLimit { faults, window: Duration::from_secs(plugins.fence_window_s) };
        PluginHandle::new(name, limit, self.transactions().clock.clone(), self.parts.containment_requests.clone())
    }

    async fn migrate(&self, loaded: &LoadedPlugin, scope: &Scope) -> Result<(), InactiveReason> {
        let manifest = &loaded.manifest;
        let outcome = {
            let migrations = MigrationSet { scope, views: &manifest.views, migrations: &manifest.migrations };
            self.transactions().database.migrate(&migrations).await
        };
        let report = outcome
            .map_err(|error| InactiveReason::failed(format!("its schema cannot be brought up to date: {error}")))?;
        self.registry.lock().set_migrations_applied(&manifest.name, report.earlier + report.applied.len());
        Ok(())
    }
}

/// The lock of the plugin is for transactions that cannot run again, and so for all of a plugin that uses any: a transaction without
/// the lock would not be kept apart from one that relies on it.
fn isolation_of(manifest: &Manifest) -> Isolation {
    if manifest.own_transactions { Isolation::PluginLock } else { Isolation::Serializable }
}

/// Each start of a plugin that hangs costs threads, which only a restart of the gateway brings back.
fn check_threads(name: &str) -> Result<(), InactiveReason> {
    let (lost, detached) = (threads_lost(name), detached_threads_lost(name));
    if (lost > detached && !has_spare_threads()) || detached >= CONSTRUCTORS_LOST_MAX {
        let reason = format!("its code holds {lost} threads of this process: restart the gateway to start it again");
        return Err(InactiveReason::failed(reason));
    }
    Ok(())
}
