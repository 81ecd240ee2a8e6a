//! The index of one plugin and chain: follows the chain and lets the plugin derive rows from its events.
//!
//! The rules: a batch of blocks, the rows derived from it, the events that it confirms and the new cursor commit
//! together; the derived tables always equal those of a fresh index of the branch up to the cursor; and what cannot be
//! undone stops the index with a reason instead of being guessed.

#![cfg_attr(not(test), warn(unreachable_pub))]

mod adaptive_range;
mod backfill;
mod batch;
mod commit;
mod conflicts;
mod decode;
mod derive;
mod derived_table;
mod error;
mod event_batch_transaction;
mod event_subscriptions;
mod events_ahead;
mod fingerprint;
mod follow_head;
mod index;
mod indexes;
mod migration;
mod progress;
mod progress_bar;
mod publisher;
mod reorganise;
mod report;
mod reset;
mod run;
mod store;
mod stuck_indexes;
mod unique_keys;

pub use index::IndexerContext;
pub use indexes::{ChainState, Indexes, unconfigured_services};
pub use migration::{
    POSITIONS_VIEW, chains_migration, events_migration, forget_plugin, migration, positions_migration,
};
pub use publisher::publish_events;
pub use report::{IndexReport, IndexState};
pub use run::{chains_of, run};
pub use store::IndexStore;
