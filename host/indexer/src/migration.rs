//! The tables of the index, and on PostgreSQL the trigger function that writes the undo log.

use plugin_api::{abi::Statement, manifest::MigrationSpec, sql};

const TABLES: &str = "
CREATE TABLE host_chain_index (
    plugin TEXT NOT NULL PRIMARY KEY,
    shape TEXT NOT NULL,
    start_block BIGINT NOT NULL,
    next_block BIGINT NOT NULL,
    hash TEXT NOT NULL,
    stopped TEXT,
    holder TEXT,
    lease_until_ms BIGINT NOT NULL DEFAULT 0
);
CREATE TABLE host_chain_blocks (
    plugin TEXT NOT NULL,
    block BIGINT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (plugin, block)
);
CREATE TABLE host_chain_turn (plugin TEXT NOT NULL PRIMARY KEY, block BIGINT NOT NULL);
CREATE TABLE host_chain_journal (
    id {{id}},
    plugin TEXT NOT NULL,
    block BIGINT NOT NULL,
    tab TEXT NOT NULL,
    before_row TEXT,
    after_row TEXT
);
CREATE INDEX host_chain_journal_place ON host_chain_journal (plugin, block, id);
CREATE TABLE host_chain_pending (
    id {{id}},
    plugin TEXT NOT NULL,
    block BIGINT NOT NULL,
    event TEXT NOT NULL
);
CREATE INDEX host_chain_pending_place ON host_chain_pending (plugin, block, id);
";

/// Called by the triggers of [`super::derived_table`]. SQLite has no functions: there each trigger holds the whole
/// text.
const FUNCTION: &str = "
CREATE FUNCTION host_chain_write() RETURNS trigger LANGUAGE plpgsql AS '
DECLARE
    turn BIGINT;
BEGIN
    SELECT block INTO turn FROM host_chain_turn WHERE plugin = TG_ARGV[0];
    IF NOT FOUND THEN
        RAISE EXCEPTION ''% is derived from the chain: only chain events write it'', TG_TABLE_NAME
            USING ERRCODE = ''check_violation'';
    END IF;
    IF turn >= 0 THEN
        INSERT INTO host_chain_journal (plugin, block, tab, before_row, after_row) VALUES (
            TG_ARGV[0], turn, TG_TABLE_NAME,
            CASE WHEN TG_OP = ''INSERT'' THEN NULL ELSE to_jsonb(OLD)::text END,
            CASE WHEN TG_OP = ''DELETE'' THEN NULL ELSE to_jsonb(NEW)::text END
        );
    END IF;
    RETURN NULL;
END';
";

/// Events of all indexes, which the publisher makes public in the order of the chain. They stay until no reorganisation can
/// undo their block. Where the publisher is: `block` is the last one with public events; `version` grows with every undo.
const EVENTS: &str = "
CREATE TABLE host_chain_events (
    id {{id}},
    plugin TEXT NOT NULL,
    block BIGINT NOT NULL,
    log_index BIGINT NOT NULL,
    type TEXT NOT NULL,
    ts BIGINT NOT NULL,
    actor TEXT,
    ref_kind TEXT,
    ref_id TEXT,
    data TEXT NOT NULL,
    unique_key TEXT NOT NULL,
    is_final BIGINT NOT NULL,
    is_public BIGINT NOT NULL
);
CREATE INDEX host_chain_events_waiting ON host_chain_events (block, log_index, plugin, id) WHERE is_public = 0;
CREATE INDEX host_chain_events_block ON host_chain_events (plugin, block);
CREATE TABLE host_chain_publisher (id BIGINT NOT NULL PRIMARY KEY, block BIGINT NOT NULL, version BIGINT NOT NULL);
INSERT INTO host_chain_publisher (id, block, version)
    SELECT 1, coalesce(max(next_block), 0), 0 FROM host_chain_index;
";

/// Events that waited before; within a block their order is that of their ids.
const MOVE_PENDING: &str = "
INSERT INTO host_chain_events (plugin, block, log_index, type, ts, actor, ref_kind, ref_id, data, unique_key, is_final, is_public)
    SELECT plugin, block, 0, json_extract(event, '$.type'), json_extract(event, '$.ts'), json_extract(event, '$.actor'),
        json_extract(event, '$.ref.kind'), json_extract(event, '$.ref.id'), json_extract(event, '$.data'),
        json_extract(event, '$.unique_key'), 0, 0
    FROM host_chain_pending ORDER BY id;
DROP TABLE host_chain_pending;
";
const MOVE_PENDING_POSTGRES: &str = "
INSERT INTO host_chain_events (plugin, block, log_index, type, ts, actor, ref_kind, ref_id, data, unique_key, is_final, is_public)
    SELECT plugin, block, 0, event::json ->> 'type', (event::json ->> 'ts')::bigint, event::json ->> 'actor',
        event::json -> 'ref' ->> 'kind', event::json -> 'ref' ->> 'id', (event::json -> 'data')::text,
        event::json ->> 'unique_key', 0, 0
    FROM host_chain_pending ORDER BY id;
DROP TABLE host_chain_pending;
";

/// An index belongs to a plugin and a chain. Until now there was one chain. No transaction of an index is open during a migration, so
/// that `host_chain_turn` is empty; nothing else of these tables is older than a reorganisation may undo.
const CHAINS: &str = "
CREATE TABLE host_chain_before AS SELECT * FROM host_chain_index;
DROP TABLE host_chain_index;
CREATE TABLE host_chain_index (
    plugin TEXT NOT NULL,
    chain TEXT NOT NULL,
    shape TEXT NOT NULL,
    start_block BIGINT NOT NULL,
    next_block BIGINT NOT NULL,
    hash TEXT NOT NULL,
    stopped TEXT,
    holder TEXT,
    lease_until_ms BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (plugin, chain)
);
INSERT INTO host_chain_index (plugin, chain, shape, start_block, next_block, hash, stopped, holder, lease_until_ms)
    SELECT plugin, 'main', shape, start_block, next_block, hash, stopped, holder, lease_until_ms FROM host_chain_before;
DROP TABLE host_chain_before;
CREATE TABLE host_chain_before AS SELECT * FROM host_chain_blocks;
DROP TABLE host_chain_blocks;
CREATE TABLE host_chain_blocks (
    plugin TEXT NOT NULL,
    chain TEXT NOT NULL,
    block BIGINT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (plugin, chain, block)
);
INSERT INTO host_chain_blocks (plugin, chain, block, hash) SELECT plugin, 'main', block, hash FROM host_chain_before;
DROP TABLE host_chain_before;
DROP TABLE host_chain_turn;
CREATE TABLE host_chain_turn (
    plugin TEXT NOT NULL,
    chain TEXT NOT NULL,
    block BIGINT NOT NULL,
    PRIMARY KEY (plugin, chain)
);
ALTER TABLE host_chain_journal ADD COLUMN chain TEXT NOT NULL DEFAULT 'main';
DROP INDEX host_chain_journal_place;
CREATE INDEX host_chain_journal_place ON host_chain_journal (plugin, chain, block, id);
ALTER TABLE host_chain_events ADD COLUMN chain TEXT NOT NULL DEFAULT 'main';
DROP INDEX host_chain_events_waiting;
CREATE INDEX host_chain_events_waiting ON host_chain_events (chain, block, log_index, plugin, id) WHERE is_public = 0;
DROP INDEX host_chain_events_block;
CREATE INDEX host_chain_events_block ON host_chain_events (plugin, chain, block);
CREATE TABLE host_chain_before AS SELECT * FROM host_chain_publisher;
DROP TABLE host_chain_publisher;
CREATE TABLE host_chain_publisher (chain TEXT NOT NULL PRIMARY KEY, block BIGINT NOT NULL, version BIGINT NOT NULL);
INSERT INTO host_chain_publisher (chain, block, version) SELECT 'main', block, version FROM host_chain_before;
DROP TABLE host_chain_before;
";

/// A trigger that an earlier gateway made names no chain.
const CHAINS_FUNCTION: &str = "
CREATE OR REPLACE FUNCTION host_chain_write() RETURNS trigger LANGUAGE plpgsql AS '
DECLARE
    turn BIGINT;
    of_chain TEXT := coalesce(TG_ARGV[1], ''main'');
BEGIN
    SELECT block INTO turn FROM host_chain_turn WHERE plugin = TG_ARGV[0] AND chain = of_chain;
    IF NOT FOUND THEN
        RAISE EXCEPTION ''% is derived from the chain: only chain events write it'', TG_TABLE_NAME
            USING ERRCODE = ''check_violation'';
    END IF;
    IF turn >= 0 THEN
        INSERT INTO host_chain_journal (plugin, chain, block, tab, before_row, after_row) VALUES (
            TG_ARGV[0], of_chain, turn, TG_TABLE_NAME,
            CASE WHEN TG_OP = ''INSERT'' THEN NULL ELSE to_jsonb(OLD)::text END,
            CASE WHEN TG_OP = ''DELETE'' THEN NULL ELSE to_jsonb(NEW)::text END
        );
    END IF;
    RETURN NULL;
END';
";

/// The tables with rows of each index.
const TABLES_BY_PLUGIN: [&str; 5] =
    ["host_chain_index", "host_chain_blocks", "host_chain_turn", "host_chain_journal", "host_chain_events"];

/// Deletes the index of a plugin. What it has made public stays public.
pub fn forget_plugin(plugin: &str) -> Vec<Statement> {
    TABLES_BY_PLUGIN.map(|table| sql(format!("DELETE FROM {table} WHERE plugin = $1")).bind(plugin).into()).into()
}

pub fn events_migration(version: u32) -> MigrationSpec {
    let (sqlite, postgres) = (format!("{EVENTS}{MOVE_PENDING}"), format!("{EVENTS}{MOVE_PENDING_POSTGRES}"));
    MigrationSpec::per_dialect(version, "chain_events", &sqlite, &postgres)
}

pub fn chains_migration(version: u32) -> MigrationSpec {
    MigrationSpec::per_dialect(version, "index_chains", CHAINS, &format!("{CHAINS}{CHAINS_FUNCTION}"))
}

/// Where each index is: the last block whose events a plugin has, by its name and that of the chain. Every plugin may read it. An
/// index commits its rows together with its position.
pub const POSITIONS_VIEW: &str = "host_chain_positions_v1";

const POSITIONS: &str = "
CREATE VIEW host_chain_positions_v1 AS SELECT plugin, chain, next_block - 1 AS block, hash FROM host_chain_index;
";

pub fn positions_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "chain_positions", POSITIONS)
}

pub fn migration(version: u32) -> MigrationSpec {
    MigrationSpec::per_dialect(version, "chain", TABLES, &format!("{TABLES}{FUNCTION}"))
}
