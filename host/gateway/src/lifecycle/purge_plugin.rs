//! Drops what a plugin that is gone left in the database, while the gateway runs.
//!
//! The rule: no plugin starts meanwhile, and none is purged that this process has mapped or could load.

use super::{manager::PluginManager, registry::PluginRegistry};
use crate::operators::{Purge, PurgeError, PurgePlan};
use futures_util::future::BoxFuture;
use gateway_storage::{Dialect, ViewNames};

impl PluginManager {
    /// What would be dropped, and why it cannot be now.
    pub fn purge_plan<'a>(&'a self, name: &'a str) -> BoxFuture<'a, Result<PurgePlan, PurgeError>> {
        Box::pin(async move {
            let _transition = self.changes.lock().await;
            self.planned(name).await
        })
    }

    /// Drops it. Do not drop the future half way: spawn it as a task.
    pub fn purge<'a>(&'a self, name: &'a str, who: &'a str) -> BoxFuture<'a, Result<PurgePlan, PurgeError>> {
        Box::pin(async move {
            let _transition = self.changes.lock().await;
            let plan = self.planned(name).await?;
            if !plan.obstacles.is_empty() {
                return Err(PurgeError::Refused(Box::new(plan)));
            }
            let views = self.views_of_others(name);
            let purged = self.purge_of(&views).run(name, who).await?;
            self.note_gone().await;
            Ok(purged)
        })
    }

    async fn planned(&self, name: &str) -> Result<PurgePlan, PurgeError> {
        let views = self.views_of_others(name);
        let mut plan = self.purge_of(&views).plan(name).await?;
        let presence = self.registry.lock().presence(name).or_else(|| self.has_file(name));
        plan.obstacles.splice(0..0, presence);
        Ok(plan)
    }

    fn purge_of<'a>(&'a self, published: &'a ViewNames) -> Purge<'a> {
        let database = &self.transactions().database;
        let is_shared = database.dialect() == Dialect::Postgres;
        Purge { database, published, now_ms: self.transactions().clock.now_ms(), is_shared }
    }

    fn views_of_others(&self, name: &str) -> ViewNames {
        let registry = self.registry.lock();
        let others = registry.entries.values().filter_map(|entry| entry.loaded.as_ref());
        let others = others.filter(|loaded| loaded.name() != name);
        others.flat_map(|loaded| loaded.manifest.views.iter().cloned()).collect()
    }

    fn has_file(&self, name: &str) -> Option<String> {
        match self.folder.lock().as_ref().map(|folder| folder.has(name)) {
            Some(Ok(true)) => Some(format!("{name} is not gone: its file is in the folder of the plugins")),
            Some(Err(error)) => Some(error.to_string()),
            Some(Ok(false)) | None => None,
        }
    }
}

impl PluginRegistry {
    /// Why the plugin is not gone.
    fn presence(&self, name: &str) -> Option<String> {
        let entry = self.entries.get(name).filter(|entry| entry.loaded.is_some())?;
        let what = if entry.running.is_some() { "serves it" } else { "has it loaded" };
        Some(format!("{name} is not gone: the gateway {what}. Remove its file and restart the gateway first"))
    }
}
