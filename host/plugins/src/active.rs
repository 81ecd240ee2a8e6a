//! A plugin that serves: its object, its routes, who is inside.

use super::{handle::PluginHandle, loaded::LoadedPlugin};
use crate::HostContext;
use abi_stable::std_types::RResult;
use arc_swap::ArcSwap;
use gateway_storage::read_tracking::{self, ReadDependencies};
use gateway_storage::{Revisions, Scope};
use plugin_api::{
    abi::{FfiBytes, PluginBox},
    manifest::Manifest,
};
use serde::{Deserialize, Serialize};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio::sync::Notify;

pub struct ActivePlugin {
    pub handle: Arc<PluginHandle>,
    pub manifest: Arc<Manifest>,
    pub object: PluginBox,
    pub scope: Scope,
    pub loaded: Arc<LoadedPlugin>,
    is_closed: AtomicBool,
    inside: AtomicUsize,
    left: Notify,
}

/// A request, job or contribution inside a plugin; draining waits for it.
pub struct InFlightGuard(Arc<ActivePlugin>);

impl ActivePlugin {
    pub fn new(handle: Arc<PluginHandle>, loaded: Arc<LoadedPlugin>, object: PluginBox, scope: Scope) -> Arc<Self> {
        let manifest = loaded.manifest.clone();
        Arc::new(Self {
            handle,
            manifest,
            object,
            scope,
            loaded,
            is_closed: AtomicBool::new(false),
            inside: AtomicUsize::new(0),
            left: Notify::new(),
        })
    }

    pub fn name(&self) -> &str {
        &self.handle.name
    }

    /// Enters the plugin, unless it is draining. Counted first and checked then, so that no in_flight slips past a drain.
    pub fn acquire(self: &Arc<Self>) -> Option<InFlightGuard> {
        self.inside.fetch_add(1, Ordering::AcqRel);
        let in_flight = InFlightGuard(self.clone());
        (!self.is_closed.load(Ordering::Acquire)).then_some(in_flight)
    }

    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    /// Waits until nobody is inside; `false` when the limit runs out first.
    pub async fn drained(&self, limit: Duration) -> bool {
        let empty = async {
            loop {
                let left = self.left.notified();
                if self.inside.load(Ordering::Acquire) == 0 {
                    return;
                }
                left.await;
            }
        };
        tokio::time::timeout(limit, empty).await.is_ok()
    }

    pub fn inside(&self) -> usize {
        self.inside.load(Ordering::Acquire)
    }
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        if self.0.inside.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.0.left.notify_waiters();
        }
    }
}

/// The plugins that serve right now, in the order in which they were opened.
#[derive(Default)]
pub struct ActivePlugins(ArcSwap<Vec<Arc<ActivePlugin>>>);

impl ActivePlugins {
    pub fn list(&self) -> Arc<Vec<Arc<ActivePlugin>>> {
        self.0.load_full()
    }

    pub fn replace(&self, plugins: Vec<Arc<ActivePlugin>>) {
        self.0.store(Arc::new(plugins));
    }
}

/// The stored data that a plugin's answers may come from: its own, and that of the plugins it requires, and so on.
pub fn dependencies_of(
    serving: &[Arc<ActivePlugin>],
    plugin: &ActivePlugin,
    revisions: &Revisions,
) -> ReadDependencies {
    let mut names = vec![plugin.name()];
    let mut sources = ReadDependencies { revisions: vec![revisions.everything()], ..ReadDependencies::default() };
    let mut next = 0;
    while let Some(name) = names.get(next).copied() {
        next += 1;
        sources.revisions.push(revisions.of(name));
        let Some(required) = serving.iter().find(|other| other.name() == name) else { continue };
        sources.views.extend(required.manifest.views.iter().cloned());
        let more = required.manifest.requires.iter().map(String::as_str);
        more.for_each(|name| {
            if !names.contains(&name) {
                names.push(name);
            }
        });
    }
    sources
}

/// What one plugin contributed to a point.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Contribution {
    pub plugin: String,
    pub value: serde_json::Value,
}

/// A contribution that takes longer is left out.
const CONTRIBUTION_TIMEOUT: Duration = Duration::from_secs(5);

/// Contributions that collect other contributions are answered this deep: a circle of them would use up the stack.
const COLLECT_DEPTH_MAX: u32 = 4;

tokio::task_local! {
    static COLLECT_DEPTH: u32;
}

/// Asks every serving plugin that contributes to `point`, all at once. One that fails is reported and left out.
pub async fn collect(host: &Arc<HostContext>, point: &str, input: &[u8]) -> Vec<Contribution> {
    let depth = COLLECT_DEPTH.try_with(|depth| depth + 1).unwrap_or_default();
    if depth >= COLLECT_DEPTH_MAX {
        read_tracking::mark_uncacheable();
        tracing::error!(point, depth, "contributions collect each other in a circle; the innermost is left empty");
        return Vec::new();
    }
    let serving = host.active.list();
    let asked = serving.iter().flat_map(|plugin| {
        let specs = plugin.manifest.contributions.iter().enumerate();
        let specs = specs.filter(|(_, spec)| spec.point == point);
        let serving = &serving;
        specs.map(move |(index, spec)| async move {
            if spec.cached {
                read_tracking::record(|revisions| dependencies_of(serving, plugin, revisions));
            } else {
                read_tracking::mark_uncacheable();
            }
            let value = contribution(plugin, index, input.to_vec().into()).await;
            if value.is_none() {
                read_tracking::mark_uncacheable();
            }
            Some(Contribution { plugin: plugin.name().to_owned(), value: value? })
        })
    });
    let answers = COLLECT_DEPTH.scope(depth, Box::pin(futures_util::future::join_all(asked))).await;
    answers.into_iter().flatten().collect()
}

/// One contribution as JSON; failures are the plugin's faults.
pub async fn contribution(plugin: &Arc<ActivePlugin>, index: usize, input: FfiBytes) -> Option<serde_json::Value> {
    let _in_flight = plugin.acquire()?;
    let spec = plugin.manifest.contributions.get(index)?;
    let place = format!("point {}", spec.point);
    let call = plugin.object.contribute(u32::try_from(index).ok()?, input);
    match tokio::time::timeout(CONTRIBUTION_TIMEOUT, call).await {
        Ok(RResult::ROk(bytes)) => match serde_json::from_slice(&bytes) {
            Ok(value) => Some(value),
            Err(error) => {
                plugin.handle.misshapen(&spec.point, &error);
                None
            }
        },
        Ok(RResult::RErr(fault)) => {
            plugin.handle.fault(&place, &fault);
            None
        }
        Err(_elapsed) => {
            plugin.handle.timed_out(&place, CONTRIBUTION_TIMEOUT);
            None
        }
    }
}
