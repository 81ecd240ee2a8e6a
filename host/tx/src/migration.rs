//! The tables of the journal, for both databases.
//!
//! Two constraints hold even if gateways err: an intent has one row, and a nonce of an account belongs to one intent.

use plugin_api::{abi::Statement, manifest::MigrationSpec, sql};

const TABLES: &str = "
CREATE TABLE host_tx_intents (
    id {{id}},
    plugin TEXT NOT NULL,
    role TEXT NOT NULL,
    name TEXT NOT NULL,
    chain TEXT NOT NULL,
    chain_id BIGINT NOT NULL,
    target TEXT NOT NULL,
    value_wei TEXT NOT NULL,
    data TEXT NOT NULL,
    gas BIGINT,
    valid_until_s BIGINT,
    state TEXT NOT NULL CHECK (state IN ('queued', 'signed', 'sent', 'included', 'final', 'failed')),
    reason TEXT,
    sender TEXT,
    nonce BIGINT,
    hash TEXT,
    block BIGINT,
    block_hash TEXT,
    succeeded BIGINT,
    gas_used BIGINT,
    fee_wei TEXT,
    version BIGINT NOT NULL DEFAULT 0,
    created_ms BIGINT NOT NULL,
    changed_ms BIGINT NOT NULL,
    UNIQUE (plugin, role, name),
    UNIQUE (chain_id, sender, nonce),
    CHECK ((sender IS NULL) = (nonce IS NULL)),
    CHECK (nonce IS NOT NULL OR state IN ('queued', 'failed'))
);
CREATE INDEX host_tx_intents_open ON host_tx_intents (chain_id, id) WHERE state NOT IN ('final', 'failed');
CREATE TABLE host_tx_attempts (
    hash TEXT NOT NULL PRIMARY KEY,
    intent BIGINT NOT NULL,
    chain_id BIGINT NOT NULL,
    sender TEXT NOT NULL,
    nonce BIGINT NOT NULL,
    raw TEXT NOT NULL,
    gas BIGINT NOT NULL,
    tip_wei TEXT NOT NULL,
    max_fee_wei TEXT NOT NULL,
    block BIGINT NOT NULL,
    signed_ms BIGINT NOT NULL,
    sent_ms BIGINT
);
CREATE INDEX host_tx_attempts_intent ON host_tx_attempts (intent, signed_ms);
CREATE INDEX host_tx_attempts_sender ON host_tx_attempts (chain_id, sender, signed_ms);
CREATE TABLE host_tx_lanes (
    chain_id BIGINT NOT NULL,
    sender TEXT NOT NULL,
    holder TEXT,
    lease_until_ms BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (chain_id, sender)
);
";

pub fn migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "tx", TABLES)
}

/// Marks the empty transfers that cancel an intent.
const CANCEL_REASON: &str = "ALTER TABLE host_tx_attempts ADD COLUMN given_up TEXT;";

/// Why the gateway that holds an account's lease signs none of its intents.
const BLOCKED_REASON: &str = "ALTER TABLE host_tx_lanes ADD COLUMN blocked_reason TEXT;";

pub fn cancel_reason_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "tx_given_up", CANCEL_REASON)
}

pub fn blocked_reason_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "tx_blocked_reason", BLOCKED_REASON)
}

/// Frees the keys of the transactions of a plugin. The transactions stay: they are what was paid. Under
/// its old key, the first transaction of a plugin that is installed again would count as sent.
pub fn release_keys(plugin: &str) -> Statement {
    let released = "'released ' || CAST(id AS TEXT) || ': '";
    let update = format!(
        "UPDATE host_tx_intents SET name = {released} || name \
         WHERE plugin = $1 AND substr(name, 1, length({released})) <> {released}"
    );
    sql(update).bind(plugin).into()
}
