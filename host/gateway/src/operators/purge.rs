//! What a plugin that is gone left in the database, and dropping all of it.
//!
//! The rules: everything goes in one transaction, or nothing. Nothing of another plugin is dropped or breaks. The activity log and
//! the journal of transactions are the network's and stay.

use super::record_statement;
use crate::migrations;
use gateway_storage::{Database, PluginObjects, StorageError, ViewNames, is_reserved, shares_tables};
use plugin_api::{Sql, sql};
use serde::{Deserialize, Serialize};

/// More rows of a table are not counted.
const COUNTED_ROWS_MAX: u64 = 100_000;

/// What would be dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PurgePlan {
    pub plugin: String,
    pub tables: Vec<TableRows>,
    pub views: Vec<String>,
    pub search_indexes: Vec<String>,
    pub triggers: Vec<String>,
    /// Records of applied migrations.
    pub migrations: usize,
    /// Jobs whose schedule and last result are stored.
    pub jobs: Vec<String>,
    /// Whether it has an index of a chain.
    pub has_index: bool,
    /// Finished transactions, which stay in the journal.
    pub kept_transactions: u64,
    /// Why nothing can be dropped now.
    pub obstacles: Vec<String>,
}

/// A table and its size.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TableRows {
    pub table: String,
    pub rows: u64,
    /// Whether it has more than that.
    pub has_more: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum PurgeError {
    #[error("nothing of a plugin {0:?} is in the database")]
    Nothing(String),
    #[error("{}", .0.obstacles.join("; "))]
    Refused(Box<PurgePlan>),
    #[error("the database is of another version of the gateway: start the gateway, or run `gateway migrate`")]
    OtherVersion,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Purges plugins of one database. Who calls it has made sure that the plugin has no file and is not loaded.
pub struct Purge<'a> {
    pub database: &'a Database,
    /// Views of the plugins that are there.
    pub published: &'a ViewNames,
    pub now_ms: i64,
    /// Whether other gateways may use the database, and the plugin, too.
    pub is_shared: bool,
}

/// Table → statement that counts its rows, at most one more than are counted.
fn count_statement(table: &str) -> Sql {
    sql(format!("SELECT count(*) FROM (SELECT 1 FROM \"{table}\" LIMIT {}) AS counted", COUNTED_ROWS_MAX + 1))
}

impl Purge<'_> {
    /// What there is of the plugin.
    pub async fn plan(&self, plugin: &str) -> Result<PurgePlan, PurgeError> {
        Ok(self.survey(plugin).await?.0)
    }

    /// Drops everything of the plugin, and records who said so.
    pub async fn run(&self, plugin: &str, who: &str) -> Result<PurgePlan, PurgeError> {
        let (plan, objects) = self.survey(plugin).await?;
        if !plan.obstacles.is_empty() {
            return Err(PurgeError::Refused(Box::new(plan)));
        }
        let drops = objects.drop_statements(self.database.dialect()).join(";\n");
        let mut statements = gateway_indexer::forget_plugin(plugin);
        statements.extend([
            gateway_jobs::forget_plugin(plugin),
            gateway_plugins::forget_log_subscriptions(plugin),
            gateway_tx::release_keys(plugin),
            sql("DELETE FROM _migrations WHERE plugin = $1").bind(plugin).into(),
            record_statement(who, "purge", plugin, &plan.outcome(), self.now_ms),
        ]);
        self.database.execute_batch_with(&drops, statements).await?;
        tracing::info!(target: "audit", who, what = "purge", plugin, outcome = plan.outcome(), "an operator acted");
        Ok(plan)
    }

    async fn survey(&self, plugin: &str) -> Result<(PurgePlan, PluginObjects), PurgeError> {
        // No plugin has another name.
        let is_plain = plugin.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        if !is_plain || plugin.is_empty() || is_reserved(plugin) {
            return Err(PurgeError::Nothing(plugin.to_owned()));
        }
        let applied = self.database.migration_status(None).await?;
        let of = |owner: &str| applied.iter().filter(|migration| migration.plugin == owner).count();
        if of(crate::routes::HOST) != migrations::migrations().len() {
            return Err(PurgeError::OtherVersion);
        }
        let objects = PluginObjects::of(self.database, plugin, self.published).await?;
        let mut plan = PurgePlan {
            plugin: plugin.to_owned(),
            views: objects.views.clone(),
            search_indexes: objects.search_indexes.clone(),
            triggers: objects.triggers.clone(),
            migrations: of(plugin),
            ..PurgePlan::default()
        };
        for table in &objects.tables {
            plan.tables.push(self.count(table).await?);
        }
        self.add_rows_of_host(&mut plan).await?;
        if objects.is_empty() && plan.migrations == 0 && plan.jobs.is_empty() && !plan.has_index {
            return Err(PurgeError::Nothing(plugin.to_owned()));
        }
        if !objects.dependent_views.is_empty() {
            let views = objects.dependent_views.join(", ");
            plan.obstacles.push(format!("views of other plugins read from it: {views}"));
        }
        let mut others: Vec<&str> = applied.iter().map(|migration| migration.plugin.as_str()).collect();
        others.dedup();
        for other in others.into_iter().filter(|other| *other != plugin && shares_tables(plugin, other)) {
            plan.obstacles.push(format!("its tables cannot be told from those of {other}"));
        }
        Ok((plan, objects))
    }

    async fn count(&self, table: &str) -> Result<TableRows, StorageError> {
        let counted: Vec<u64> = self.database.fetch_all(count_statement(table)).await?;
        let rows = counted.first().copied().unwrap_or_default();
        Ok(TableRows { table: table.to_owned(), rows: rows.min(COUNTED_ROWS_MAX), has_more: rows > COUNTED_ROWS_MAX })
    }

    /// Jobs, index and transactions, and who works on them still.
    async fn add_rows_of_host(&self, plan: &mut PurgePlan) -> Result<(), StorageError> {
        let plugin = plan.plugin.clone();
        let jobs = sql(gateway_jobs::select_held(self.database.dialect()));
        let jobs: Vec<(String, bool)> = self.database.fetch_all(jobs.bind(&plugin)).await?;
        let index = sql(format!(
            "SELECT CASE WHEN holder IS NULL OR lease_until_ms < {} THEN 0 ELSE 1 END FROM host_chain_index WHERE plugin = $1",
            self.database.dialect().now_ms()
        ));
        let index: Vec<bool> = self.database.fetch_all(index.bind(&plugin)).await?;
        let is_held = jobs.iter().any(|job| job.1) || index.iter().any(|is_held| *is_held);
        if self.is_shared && is_held {
            plan.obstacles
                .push("another gateway runs a job or the index of it, or did moments ago: stop that one".to_owned());
        }
        let open = sql("SELECT count(*), coalesce(sum(CASE WHEN state IN ('final', 'failed') THEN 0 ELSE 1 END), 0) \
             FROM host_tx_intents WHERE plugin = $1");
        let counted: Vec<(u64, u64)> = self.database.fetch_all(open.bind(&plugin)).await?;
        let (transactions, open) = counted.first().copied().unwrap_or_default();
        if open > 0 {
            plan.obstacles.push(format!("transactions of it are under way ({open}): wait until they are final"));
        }
        plan.jobs = jobs.into_iter().map(|job| job.0).collect();
        plan.has_index = !index.is_empty();
        plan.kept_transactions = transactions - open;
        Ok(())
    }
}

impl PurgePlan {
    /// For the audit: the tables with their rows, and the views.
    fn outcome(&self) -> String {
        let tables = self.tables.iter().map(|table| format!("{} ({})", table.table, table.row_count()));
        let names = [("tables", tables.collect()), ("views", self.views.clone())];
        let dropped: Vec<String> = names
            .into_iter()
            .filter(|(_, names): &(_, Vec<String>)| !names.is_empty())
            .map(|(kind, names)| format!("{kind} {}", names.join(", ")))
            .collect();
        if dropped.is_empty() { "it had no tables".to_owned() } else { format!("dropped {}", dropped.join("; ")) }
    }
}

impl TableRows {
    /// In words.
    pub fn row_count(&self) -> String {
        match (self.rows, self.has_more) {
            (rows, true) => format!("more than {rows} rows"),
            (1, false) => "1 row".to_owned(),
            (rows, false) => format!("{rows} rows"),
        }
    }
}
