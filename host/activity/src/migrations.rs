//! The tables of the log.

use plugin_api::manifest::MigrationSpec;

const LOG: &str = "
CREATE TABLE host_activity (
    id {{id}},
    type TEXT NOT NULL,
    ts BIGINT NOT NULL,
    actor TEXT,
    ref_kind TEXT,
    ref_id TEXT,
    data TEXT NOT NULL,
    unique_key TEXT UNIQUE
);
CREATE INDEX host_activity_ts ON host_activity (ts);
CREATE INDEX host_activity_actor ON host_activity (actor, id);
CREATE INDEX host_activity_type ON host_activity (type, id);
CREATE VIEW host_activity_v1 AS SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity;
";

pub fn log_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "activity", LOG)
}

/// Few events have a unique key: only they are in its index. SQLite has to copy the table.
const SPARSE_KEYS: &str = "
CREATE TABLE host_activity_new (
    id {{id}},
    type TEXT NOT NULL,
    ts BIGINT NOT NULL,
    actor TEXT,
    ref_kind TEXT,
    ref_id TEXT,
    data TEXT NOT NULL,
    unique_key TEXT
);
INSERT INTO host_activity_new (id, type, ts, actor, ref_kind, ref_id, data, unique_key)
    SELECT id, type, ts, actor, ref_kind, ref_id, data, unique_key FROM host_activity ORDER BY id;
DROP VIEW host_activity_v1;
DROP TABLE host_activity;
CREATE VIEW host_activity_v1 AS SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity_new;
ALTER TABLE host_activity_new RENAME TO host_activity;
CREATE INDEX host_activity_ts ON host_activity (ts);
CREATE INDEX host_activity_actor ON host_activity (actor, id);
CREATE INDEX host_activity_type ON host_activity (type, id);
CREATE UNIQUE INDEX host_activity_key ON host_activity (unique_key) WHERE unique_key IS NOT NULL;
";
const SPARSE_KEYS_POSTGRES: &str = "
ALTER TABLE host_activity DROP CONSTRAINT host_activity_unique_key_key;
CREATE UNIQUE INDEX host_activity_key ON host_activity (unique_key) WHERE unique_key IS NOT NULL;
";

pub fn sparse_keys_migration(version: u32) -> MigrationSpec {
    MigrationSpec::per_dialect(version, "sparse_activity_keys", SPARSE_KEYS, SPARSE_KEYS_POSTGRES)
}

/// Events that a reorganisation of the chain undid after they were public. The rows of the log stay as they are; every reader
/// leaves these out.
const RETRACTED: &str = "
CREATE TABLE host_activity_retracted (id BIGINT NOT NULL PRIMARY KEY);
DROP VIEW host_activity_v1;
CREATE VIEW host_activity_v1 AS SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity
    WHERE NOT EXISTS (SELECT 1 FROM host_activity_retracted r WHERE r.id = host_activity.id);
";
/// PostgreSQL drops no view that views of plugins select from.
const RETRACTED_POSTGRES: &str = "
CREATE TABLE host_activity_retracted (id BIGINT NOT NULL PRIMARY KEY);
CREATE OR REPLACE VIEW host_activity_v1 AS SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity
    WHERE NOT EXISTS (SELECT 1 FROM host_activity_retracted r WHERE r.id = host_activity.id);
";

pub fn retracted_migration(version: u32) -> MigrationSpec {
    MigrationSpec::per_dialect(version, "retracted_events", RETRACTED, RETRACTED_POSTGRES)
}

/// Where transactions leave their events on PostgreSQL, and who gives them a position in the log. The identity of a row of
/// `host_activity` is its position: the next one is above every one that there is. On SQLite, where one transaction writes at a
/// time, the log needs neither. The lock lets transactions that still write the log itself end first.
const OUTBOX: &str = "SELECT 1";
const OUTBOX_POSTGRES: &str = "
CREATE TABLE host_activity_outbox (
    id {{id}},
    type TEXT NOT NULL,
    ts BIGINT NOT NULL,
    actor TEXT,
    ref_kind TEXT,
    ref_id TEXT,
    data TEXT NOT NULL,
    unique_key TEXT
);
CREATE TABLE host_activity_sequencer (
    id BIGINT NOT NULL PRIMARY KEY CHECK (id = 1),
    holder TEXT,
    token BIGINT NOT NULL,
    lease_until_ms BIGINT NOT NULL,
    next_position BIGINT NOT NULL
);
LOCK TABLE host_activity IN SHARE ROW EXCLUSIVE MODE;
INSERT INTO host_activity_sequencer (id, token, lease_until_ms, next_position)
    SELECT 1, 0, 0, coalesce(max(id), 0) + 1 FROM host_activity;
";

pub fn outbox_migration(version: u32) -> MigrationSpec {
    MigrationSpec::per_dialect(version, "activity_outbox", OUTBOX, OUTBOX_POSTGRES)
}

/// The log with the events that were retracted.
const WHOLE_LOG: &str = "
CREATE VIEW host_activity_with_retracted_v1 AS
    SELECT id, type, ts, actor, ref_kind, ref_id, data FROM host_activity;
";

pub fn whole_log_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "activity_with_retracted", WHOLE_LOG)
}

/// The events of an actor of one type in the order of time, for audit exports: the log is in the order of its ids, and events of the
/// chain come into it later than they happened.
const BY_ACTOR: &str = "
CREATE INDEX host_activity_actor_type ON host_activity (actor, type, ts, id) WHERE actor IS NOT NULL;
";

pub fn by_actor_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "activity_by_actor", BY_ACTOR)
}

/// Retracted events by their actor and type, so that who counts the events of an actor need not look for them in the log.
const RETRACTED_BY_ACTOR: &str = "
ALTER TABLE host_activity_retracted ADD COLUMN actor TEXT;
ALTER TABLE host_activity_retracted ADD COLUMN type TEXT;
UPDATE host_activity_retracted SET
    actor = (SELECT a.actor FROM host_activity a WHERE a.id = host_activity_retracted.id),
    type = (SELECT a.type FROM host_activity a WHERE a.id = host_activity_retracted.id);
CREATE INDEX host_activity_retracted_actor ON host_activity_retracted (actor, id);
CREATE VIEW host_activity_retracted_v1 AS SELECT id, actor, type FROM host_activity_retracted;
";

pub fn retracted_by_actor_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "retracted_by_actor", RETRACTED_BY_ACTOR)
}
