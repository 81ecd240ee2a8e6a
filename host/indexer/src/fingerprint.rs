//! What the rows of an index are derived with. The rule: when it changes, the index is reset.

use super::event_subscriptions::EventSubscriptions;
use gateway_chain::Chain;
use plugin_api::manifest::Manifest;
use sha2::{Digest as _, Sha256};

/// The derived tables of all subscriptions on a chain, each once, in the order of the manifest.
pub(crate) fn derived_tables(manifest: &Manifest, chain: &str) -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    let subscriptions = manifest.subscriptions.iter().filter(|subscription| subscription.chain == chain);
    for table in subscriptions.flat_map(|subscription| &subscription.derived_tables) {
        if !tables.contains(table) {
            tables.push(table.clone());
        }
    }
    tables
}

/// The first block of the index.
pub(crate) fn start_block(chain: &Chain) -> u64 {
    chain.settings.deploy_block.unwrap_or_default()
}

/// A hash of everything that determines the rows, except the blocks of the chain.
pub(crate) fn fingerprint(chain: &Chain, subscriptions: &EventSubscriptions, manifest: &Manifest) -> String {
    let tables = derived_tables(manifest, &chain.name);
    let mut hash = Sha256::new();
    hash.update(format!("{} {} {}\n", chain.chain_id, start_block(chain), manifest.index_version));
    hash.update(subscriptions.definition());
    for migration in &manifest.migrations {
        let text = format!("{}{}", migration.sql, migration.postgres.as_deref().unwrap_or_default());
        if tables.iter().any(|table| text.contains(table.as_str())) {
            hash.update(text);
        }
    }
    hash.update(tables.join(","));
    hex::encode(hash.finalize())
}
