//! The operations of plugins, numbered, so that a thread publishes the one that it runs in one store.

use crate::crash_record;
use parking_lot::RwLock;
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Weak},
};

/// Who is told that an operation holds a thread.
pub(crate) trait HungPollObserver: Send + Sync {
    /// The poll of this operation has not returned for [`super::THREAD_LIMIT`].
    fn poll_hangs(&self, operation: &str);
}

/// The operation of every task that a plugin spawns, whose names have no bound, and of faults whose operation cannot be paused.
pub(crate) const BACKGROUND_TASK: &str = "a background task";

/// Number of an operation; stays the same when the plugin is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OperationNumber(pub(super) u32);

impl OperationNumber {
    /// The gateway's own code.
    pub(super) const HOST: Self = Self(0);
}

#[derive(Clone)]
pub(super) struct RegisteredOperation {
    pub plugin: Arc<str>,
    pub name: Arc<str>,
    pub observer: Weak<dyn HungPollObserver>,
}

#[derive(Default)]
struct OperationRegistry {
    list: Vec<RegisteredOperation>,
    indices: HashMap<(Arc<str>, Arc<str>), usize>,
}

static REGISTRY: LazyLock<RwLock<OperationRegistry>> = LazyLock::new(RwLock::default);

/// The number of an operation by the name that its faults have. The latest start of a plugin answers for its operations.
pub(crate) fn register(plugin: &Arc<str>, name: &str, observer: Weak<dyn HungPollObserver>) -> OperationNumber {
    let key = (plugin.clone(), Arc::from(name));
    let mut registry = REGISTRY.write();
    let index = match registry.indices.get(&key) {
        Some(index) => *index,
        None => {
            crash_record::note_operation(plugin, name);
            let index = registry.list.len();
            registry.list.push(RegisteredOperation {
                plugin: plugin.clone(),
                name: key.1.clone(),
                observer: observer.clone(),
            });
            registry.indices.insert(key, index);
            index
        }
    };
    if let Some(operation) = registry.list.get_mut(index) {
        operation.observer = observer;
    }
    OperationNumber(u32::try_from(index + 1).unwrap_or(u32::MAX))
}

/// The name of the operation, as faults give it.
pub(crate) fn operation_name(id: OperationNumber) -> Option<Arc<str>> {
    find(id).map(|operation| operation.name)
}

pub(super) fn find(id: OperationNumber) -> Option<RegisteredOperation> {
    let index = usize::try_from(id.0).ok()?.checked_sub(1)?;
    REGISTRY.read().list.get(index).cloned()
}
