//! The places where plugins' code runs, numbered, so that a thread publishes its own in one store.

use crate::crash_record;
use parking_lot::RwLock;
use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Weak},
};

/// Who is told that a place holds a thread.
pub trait ThreadHolder: Send + Sync {
    /// The poll in this place has not returned for [`super::THREAD_LIMIT`].
    fn holds_thread(&self, place: &str);
}

/// The operation of every task that a plugin spawns, whose names have no bound, and of faults whose place is no operation.
pub(crate) const BACKGROUND_TASK: &str = "a background task";

/// Number of a place; stays the same when the plugin is started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlaceId(pub(super) u32);

impl PlaceId {
    /// The gateway's own code.
    pub(super) const HOST: Self = Self(0);
}

#[derive(Clone)]
pub(super) struct Place {
    pub plugin: Arc<str>,
    pub name: Arc<str>,
    pub holder: Weak<dyn ThreadHolder>,
}

#[derive(Default)]
struct Places {
    list: Vec<Place>,
    indices: HashMap<(Arc<str>, Arc<str>), usize>,
}

static PLACES: LazyLock<RwLock<Places>> = LazyLock::new(RwLock::default);

/// The number of a place, as the fault in it would name it. The latest start of a plugin answers for its places.
pub fn register(plugin: &Arc<str>, name: &str, holder: Weak<dyn ThreadHolder>) -> PlaceId {
    let key = (plugin.clone(), Arc::from(name));
    let mut places = PLACES.write();
    let index = match places.indices.get(&key) {
        Some(index) => *index,
        None => {
            crash_record::note_place(plugin, name);
            let index = places.list.len();
            places.list.push(Place { plugin: plugin.clone(), name: key.1.clone(), holder: holder.clone() });
            places.indices.insert(key, index);
            index
        }
    };
    if let Some(place) = places.list.get_mut(index) {
        place.holder = holder;
    }
    PlaceId(u32::try_from(index + 1).unwrap_or(u32::MAX))
}

/// The name of the operation, as faults give it.
pub fn place_name(id: PlaceId) -> Option<Arc<str>> {
    find(id).map(|place| place.name)
}

pub(super) fn find(id: PlaceId) -> Option<Place> {
    let index = usize::try_from(id.0).ok()?.checked_sub(1)?;
    PLACES.read().list.get(index).cloned()
}
