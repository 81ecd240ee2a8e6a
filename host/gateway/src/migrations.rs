//! The gateway's own tables.

use crate::{health, operators, replicas, views::views};
use gateway_plugins::MIGRATION as GUARD_MIGRATION;
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
    let own = |version, (name, sql): (&str, &str)| MigrationSpec {
        version,
        name: name.to_owned(),
        sql: sql.to_owned(),
        postgres: None,
    };
    // Only ever append: a database remembers what it has applied.
    vec![
        own(1, ("activity", gateway_activity::MIGRATION)),
        own(2, ("guards", GUARD_MIGRATION)),
        own(3, ("jobs", gateway_jobs::MIGRATION)),
        own(4, ("operators", operators::MIGRATION)),
        gateway_indexer::migration(5),
        own(6, ("tx", gateway_tx::MIGRATION)),
        own(7, ("tx_given_up", gateway_tx::CANCEL_REASON_MIGRATION)),
        gateway_plugins::by_time_migration(8),
        gateway_activity::sparse_keys_migration(9),
        gateway_activity::retracted_migration(10),
        gateway_indexer::events_migration(11),
        own(12, ("health", health::MIGRATION)),
        own(13, ("log_subscriptions", gateway_plugins::LOG_SUBSCRIPTIONS_MIGRATION)),
        own(14, ("secret_keys", gateway_secrets::MIGRATION)),
        own(15, ("job_wakes", gateway_jobs::WAKES_MIGRATION)),
        gateway_indexer::chains_migration(16),
        gateway_plugins::attempt_migration(17),
        gateway_activity::outbox_migration(18),
        gateway_storage::versions_migration(19),
        own(20, ("restores", gateway_storage::RESTORES_MIGRATION)),
        gateway_activity::by_actor_migration(21),
        own(22, ("chain_positions", gateway_indexer::POSITIONS_MIGRATION)),
        gateway_activity::whole_log_migration(23),
        own(24, ("tx_blocked_reason", gateway_tx::BLOCKED_REASON_MIGRATION)),
        gateway_plugins::attempt_rows_migration(25),
        own(26, ("replicas", replicas::MIGRATION)),
        gateway_activity::retracted_by_actor_migration(27),
    ]
}
