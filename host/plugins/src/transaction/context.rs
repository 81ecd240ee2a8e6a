//! What the writes of plugins consist of: rows, events, tasks of queues, transactions of chains.

use crate::plugin::ActivePlugins;
use gateway_activity::ActivityLog;
use gateway_clock::Clock;
use gateway_queue::QueueWakes;
use gateway_storage::Database;
use gateway_tx::Journal;
use std::sync::Arc;

/// Shared by all transactions of a gateway.
pub struct TransactionContext {
    pub database: Database,
    pub clock: Clock,
    pub activity: ActivityLog,
    pub journal: Arc<Journal>,
    pub queues: QueueWakes,
    /// Provide the services that are called in a transaction.
    pub active: ActivePlugins,
}
