//! What a database says about plugins, for a dry run on another one.
//!
//! The rule: nothing is created or changed. A database that is not there, or away, says nothing: that is a finding of its own.

use super::Switches;
use crate::database_settings::database_settings;
use gateway_config::Config;
use gateway_storage::Database;
use std::collections::BTreeMap;

const SWITCHES: &str = "SELECT plugin || ' ' || enabled FROM host_plugin_switches";
const FIRST_MIGRATIONS: &str = "SELECT plugin || ' ' || MIN(applied_at) FROM _migrations GROUP BY plugin";

#[derive(Clone, Debug, Default)]
pub struct PluginHistory {
    /// Operators' decisions.
    pub switches: Switches,
    /// By plugin, when its first migration was applied.
    pub first_migrations_s: BTreeMap<String, i64>,
}

impl PluginHistory {
    /// What the configured database says.
    pub async fn peek(config: &Config) -> Self {
        let (switches, first_migrations_s) = tokio::join!(
            numbers(config, "host_plugin_switches", SWITCHES),
            numbers(config, "_migrations", FIRST_MIGRATIONS),
        );
        let switches = switches.into_iter().map(|(plugin, enabled)| (plugin, enabled != 0)).collect();
        Self { switches, first_migrations_s }
    }
}

/// The query gives texts of a plugin and its number.
async fn numbers(config: &Config, table: &'static str, query: &'static str) -> BTreeMap<String, i64> {
    let Ok(settings) = database_settings(config) else { return BTreeMap::new() };
    let texts = Database::peek_texts(settings, table, query).await.unwrap_or_default();
    let pair = |text: &String| {
        let (plugin, number) = text.split_once(' ')?;
        Some((plugin.to_owned(), number.parse().ok()?))
    };
    texts.iter().filter_map(pair).collect()
}
