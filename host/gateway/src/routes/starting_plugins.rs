//! Plugins that are still starting: until they serve, a path without a route may be one of theirs.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering::Relaxed},
};

#[derive(Clone, Default)]
pub struct StartingPlugins(Arc<AtomicUsize>);

/// One of them, until it is dropped.
#[must_use]
pub struct StartingPlugin(StartingPlugins);

impl StartingPlugins {
    pub fn add(&self) -> StartingPlugin {
        self.0.fetch_add(1, Relaxed);
        StartingPlugin(self.clone())
    }

    pub fn is_any(&self) -> bool {
        self.0.load(Relaxed) > 0
    }
}

impl Drop for StartingPlugin {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}
