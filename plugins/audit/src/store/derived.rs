//! Rows derived from the logs of the chain. Only the handlers of `chain.rs` write them.
//!
//! The rule: no log makes a statement fail, because the index would retry it forever. So a log that is there already, and an address
//! that a log names twice, change nothing.

use crate::model::{LogMentions, WatchedEvent};
use plugin_api::{Sql, contracts::ChainEvent, sql};
use serde_json::value::RawValue;

pub const TABLES: [&str; 3] = ["audit_logs", "audit_log_addresses", "audit_jobs"];

pub fn insert_log(event: &WatchedEvent, log: &ChainEvent<Box<RawValue>>, facts: &LogMentions) -> Sql {
    let args = log.args.get();
    let insert =
        sql("INSERT INTO audit_logs (block, log_index, block_hash, time_s, tx, contract, address, event, signature, \
         topic0, args_bytes, args, by_agent_id, agent_id) \
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, \
         coalesce($14, (SELECT agent_id FROM audit_jobs WHERE id = $15))) ON CONFLICT (block, log_index) DO NOTHING");
    insert
        .bind((log.block, log.log_index, log.block_hash, log.time_s, log.tx))
        .bind((event.contract, log.address, event.name.as_str(), event.signature.as_str(), event.topic0))
        .bind((args.len(), args, facts.by_agent, facts.agent, facts.job))
}

pub fn insert_address(event: &WatchedEvent, log: &ChainEvent<Box<RawValue>>, address: &str) -> Sql {
    let insert = sql("INSERT INTO audit_log_addresses (address, of_registry_or_escrow, time_s, block, log_index) \
         VALUES ($1, $2, $3, $4, $5) ON CONFLICT (address, of_registry_or_escrow, time_s, block, log_index) DO NOTHING");
    insert.bind((address, event.is_of_registry_or_escrow(), log.time_s, log.block, log.log_index))
}

/// A job keeps its agent.
pub fn insert_job(job: i64, agent: i64) -> Sql {
    sql("INSERT INTO audit_jobs (id, agent_id) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING").bind((job, agent))
}
