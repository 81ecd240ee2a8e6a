//! The gateway's own tables.

use crate::{background::replicas, health, operators, views::views};
use gateway_storage::{Database, MigrationSet, Scope, StorageError};
use plugin_api::manifest::MigrationSpec;

/// Brings the gateway's own tables up to date; answers how many steps were applied.
pub async fn migrate(database: &Database) -> Result<usize, StorageError> {
    let (migrations, views) = (migrations(), views());
    Ok(database
        .migrate(&MigrationSet { scope: &Scope::Host, views: &views, migrations: &migrations })
        .await?
        .applied
        .len())
}

/// The gateway's own migrations.
pub fn migrations() -> Vec<MigrationSpec> {
    // Only ever append: a database remembers what it has applied.
    vec![
        gateway_activity::log_migration(1),
        gateway_plugins::guards_migration(2),
        gateway_jobs::migration(3),
        operators::migration(),
        gateway_indexer::migration(5),
        gateway_tx::migration(6),
        gateway_tx::cancel_reason_migration(7),
        gateway_plugins::guards_by_time_migration(8),
        gateway_activity::sparse_keys_migration(9),
        gateway_activity::retracted_migration(10),
        gateway_indexer::events_migration(11),
        health::migration(12),
        gateway_plugins::log_subscriptions_migration(13),
        gateway_secrets::migration(14),
        gateway_jobs::wakes_migration(15),
        gateway_indexer::chains_migration(16),
        gateway_plugins::guard_attempts_migration(17),
        gateway_activity::outbox_migration(18),
        gateway_storage::versions_migration(19),
        gateway_storage::restores_migration(20),
        gateway_activity::by_actor_migration(21),
        gateway_indexer::positions_migration(22),
        gateway_activity::whole_log_migration(23),
        gateway_tx::blocked_reason_migration(24),
        gateway_plugins::attempts_migration(25),
        replicas::migration(26),
        replicas::without_table_migration(27),
        gateway_activity::retracted_by_actor_migration(28),
    ]
}
