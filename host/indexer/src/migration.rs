//! The tables of the index, and on PostgreSQL the trigger function that writes the journal.

use plugin_api::manifest::MigrationSpec;

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

pub fn migration(version: u32) -> MigrationSpec {
    MigrationSpec {
        version,
        name: "chain".to_owned(),
        sql: TABLES.to_owned(),
        postgres: Some(format!("{TABLES}{FUNCTION}")),
    }
}
