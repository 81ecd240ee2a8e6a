//! The live streams of the plugins that serve, by name.

use gateway_activity::Topic;
use gateway_plugins::ActivePlugin;
use parking_lot::RwLock;
use std::{collections::HashMap, sync::Arc};

#[derive(Default)]
pub struct Topics(RwLock<HashMap<String, Arc<Topic>>>);

impl Topics {
    pub fn get(&self, name: &str) -> Option<Arc<Topic>> {
        self.0.read().get(name).cloned()
    }

    /// `false` when a topic of this name is in use already; that one stays.
    #[must_use]
    pub fn insert(&self, topic: Arc<Topic>) -> bool {
        let mut topics = self.0.write();
        let is_taken = topics.get(topic.name()).is_some_and(|other| !other.is_stopped());
        if !is_taken {
            topics.insert(topic.name().to_owned(), topic);
        }
        !is_taken
    }

    /// Removes the stopped topics that the plugin renders.
    pub(crate) fn remove_stopped(&self, plugin: &ActivePlugin) {
        let mut topics = self.0.write();
        for name in &plugin.manifest.topics {
            if topics.get(name).is_some_and(|topic| topic.is_stopped()) {
                topics.remove(name);
            }
        }
    }
}
