//! Shared values by key, made on first use.

use parking_lot::RwLock;
use std::{borrow::Borrow, collections::HashMap, hash::Hash, sync::Arc};

/// Values stay until the process ends.
#[derive(Debug)]
pub(crate) struct Registry<K, V>(RwLock<HashMap<K, Arc<V>>>);

impl<K: Hash + Eq + Clone, V> Registry<K, V> {
    pub(crate) fn get_or_insert_with<Q>(&self, key: &Q, new: impl FnOnce() -> V) -> Arc<V>
    where
        K: Borrow<Q>,
        Q: Hash + Eq + ToOwned<Owned = K> + ?Sized,
    {
        if let Some(value) = self.0.read().get(key) {
            return value.clone();
        }
        self.0.write().entry(key.to_owned()).or_insert_with(|| Arc::new(new())).clone()
    }

    /// In no order.
    pub(crate) fn list(&self) -> Vec<(K, Arc<V>)> {
        self.0.read().iter().map(|(key, value)| (key.clone(), value.clone())).collect()
    }
}

impl<K, V> Default for Registry<K, V> {
    fn default() -> Self {
        Self(RwLock::default())
    }
}
