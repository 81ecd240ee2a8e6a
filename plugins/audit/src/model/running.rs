//! The exports that are being made: one per network of clients.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Kept in memory, so each gateway counts its own.
#[derive(Default)]
pub struct RunningExports {
    networks: Arc<Mutex<HashSet<String>>>,
}

/// An export that counts until it is dropped.
#[derive(Debug)]
pub struct RunningExport {
    network: String,
    networks: Arc<Mutex<HashSet<String>>>,
}

impl RunningExports {
    /// `None` while the network has another one.
    pub fn begin(&self, network: String) -> Option<RunningExport> {
        let is_new = locked(&self.networks).insert(network.clone());
        is_new.then(|| RunningExport { network, networks: self.networks.clone() })
    }
}

impl Drop for RunningExport {
    fn drop(&mut self) {
        locked(&self.networks).remove(&self.network);
    }
}

/// A set is whole after each statement, also when another thread panicked in between.
fn locked(networks: &Mutex<HashSet<String>>) -> MutexGuard<'_, HashSet<String>> {
    networks.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn a_network_has_one_export_at_a_time() {
        let running = RunningExports::default();
        let first = running.begin("192.0.2.1".to_owned()).unwrap();
        assert!(running.begin("192.0.2.1".to_owned()).is_none());
        assert!(running.begin("192.0.2.2".to_owned()).is_some());
        drop(first);
        assert!(running.begin("192.0.2.1".to_owned()).is_some());
    }
}
