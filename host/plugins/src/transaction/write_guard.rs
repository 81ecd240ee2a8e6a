//! What keeps signed writes apart: the replay guard and the interval between writes of one address.
//!
//! The rule: both are checked in the transaction of the write itself. The replay guard comes first, so that a client that
//! repeats a write that succeeded gets 409 and nothing else.

use gateway_clock::Clock;
use gateway_storage::{CommitStatement, Dialect, postgres_now_ms};
use plugin_api::{abi::Statement, manifest::MigrationSpec, sql};

const TABLES: &str = "
CREATE TABLE host_replay_guard (
    address TEXT NOT NULL,
    digest TEXT NOT NULL,
    remember_until_s BIGINT NOT NULL,
    PRIMARY KEY (address, digest)
);
CREATE INDEX host_replay_guard_age ON host_replay_guard (remember_until_s);
CREATE TABLE host_write_slots (address TEXT NOT NULL PRIMARY KEY, last_ms BIGINT NOT NULL);
";

pub fn guards_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "guards", TABLES)
}

/// Guards by the time until which they are remembered, which follows from what was signed: new ones are neighbours in one
/// tree, and old ones are deleted from its beginning. Those of the first table count until they are forgotten.
const BY_TIME: &str = "
ALTER TABLE host_replay_guard RENAME TO host_replay_guard_1;
CREATE TABLE host_replay_guard (
    remember_until_s BIGINT NOT NULL,
    digest TEXT NOT NULL,
    address TEXT NOT NULL,
    PRIMARY KEY (remember_until_s, digest)
)";

/// On SQLite a table without row ids is one tree, not two.
const SLOTS_WITHOUT_ROWID: &str = "
CREATE TABLE host_write_slots_new (address TEXT NOT NULL PRIMARY KEY, last_ms BIGINT NOT NULL) WITHOUT ROWID;
INSERT INTO host_write_slots_new SELECT address, last_ms FROM host_write_slots;
DROP TABLE host_write_slots;
ALTER TABLE host_write_slots_new RENAME TO host_write_slots;
";

pub fn guards_by_time_migration(version: u32) -> MigrationSpec {
    let sqlite = format!("{BY_TIME} WITHOUT ROWID;{SLOTS_WITHOUT_ROWID}");
    MigrationSpec::per_dialect(version, "guards_by_time", &sqlite, &format!("{BY_TIME};"))
}

/// Which attempt of a write a guard belongs to: see `lost_commit.rs`.
const ATTEMPT: &str = "ALTER TABLE host_replay_guard ADD COLUMN attempt TEXT";

pub fn guard_attempts_migration(version: u32) -> MigrationSpec {
    MigrationSpec::new(version, "guard_attempts", ATTEMPT)
}

/// The guard of another write keeps this one out. The mark of attempts that are lost keeps only these out: nothing was
/// written with that signature, so it can be sent again.
macro_rules! is_free {
    () => {
        "host_replay_guard.attempt LIKE 'lost %' AND host_replay_guard.attempt NOT LIKE '%' || excluded.attempt || '%'"
    };
}

const GUARD: &str = concat!(
    "INSERT INTO host_replay_guard (remember_until_s, digest, address, attempt) SELECT $1, $2, $3, $4 \
    WHERE NOT EXISTS (SELECT 1 FROM host_replay_guard_1 WHERE address = $3 AND digest = $2) \
    ON CONFLICT (remember_until_s, digest) DO UPDATE SET attempt = excluded.attempt WHERE ",
    is_free!(),
    " RETURNING 1"
);

/// The same, which divides by zero where the other one returns no row. Nothing in a divisor is a constant: it would be computed
/// when the statement is planned.
const GUARD_POSTGRES: &str = concat!(
    "INSERT INTO host_replay_guard (remember_until_s, digest, address, attempt) \
    SELECT $1, $2, $3, CASE WHEN NOT EXISTS (SELECT 1 FROM host_replay_guard_1 WHERE address = $3 AND digest = $2) THEN $4 \
    ELSE CAST(1 / (random() * 0) AS TEXT) END \
    ON CONFLICT (remember_until_s, digest) DO UPDATE SET attempt = CASE WHEN ",
    is_free!(),
    " THEN excluded.attempt ELSE CAST(1 / (length(excluded.attempt) * 0) AS TEXT) END"
);

/// Whose time decides whether the interval is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntervalClock {
    /// The gateway's own, [`SignedWriteRecord::now_ms`].
    Gateway,
    /// The database's: several replicas share it, and their own clocks differ.
    Database,
}

impl IntervalClock {
    /// A database of a gateway's own needs no second clock, and a test's clock is the only one.
    pub fn of(dialect: Dialect, clock: &Clock) -> Self {
        match (dialect, clock) {
            (Dialect::Postgres, Clock::System) => Self::Database,
            _ => Self::Gateway,
        }
    }
}

/// Records the time of the address's write, unless its last one is less than the interval ago: a rate limit of one. A time in the
/// future comes from a clock that was wrong: it must not lock the address out.
macro_rules! is_over {
    () => {
        "host_write_slots.last_ms <= excluded.last_ms - $2 OR host_write_slots.last_ms > excluded.last_ms + $2"
    };
}

const RECORD_WRITE: &str = concat!(
    "INSERT INTO host_write_slots (address, last_ms) VALUES ($1, $3) \
    ON CONFLICT (address) DO UPDATE SET last_ms = excluded.last_ms WHERE ",
    is_over!(),
    " RETURNING 1"
);

/// The same, which divides by zero where the other one returns no row.
macro_rules! record_write {
    ($($now_ms:tt)+) => {
        concat!(
            "INSERT INTO host_write_slots (address, last_ms) VALUES ($1, ",
            $($now_ms)+,
            ") ON CONFLICT (address) DO UPDATE SET last_ms = CASE WHEN ",
            is_over!(),
            " THEN excluded.last_ms ELSE 1 / (excluded.last_ms * 0) END"
        )
    };
}

const RECORD_WRITE_POSTGRES: &str = record_write!("$3");
/// By the time when the statement runs: the transaction may have begun long before.
const RECORD_WRITE_BY_DATABASE_CLOCK: &str = record_write!(postgres_now_ms!());

/// What a signed write uses up when it commits.
#[derive(Clone, Debug)]
pub struct SignedWriteRecord {
    /// Checksummed address.
    pub signer: String,
    /// Hex of what was signed.
    pub digest: String,
    pub now_ms: i64,
    pub interval_ms: i64,
    pub interval_clock: IntervalClock,
    /// Until this time a replayed signature would be fresh. It follows from the signed time alone, because it is part of the
    /// key.
    pub remember_until_s: i64,
}

impl SignedWriteRecord {
    /// The first statement is the replay guard, the second, if any, the interval: each refuses the transaction.
    pub(crate) fn statements(&self, dialect: Dialect, attempt: &str) -> Vec<CommitStatement> {
        let (condition, guard): (fn(Statement) -> CommitStatement, _) = match dialect {
            Dialect::Sqlite => (CommitStatement::expecting_row, GUARD),
            Dialect::Postgres => (CommitStatement::dividing, GUARD_POSTGRES),
        };
        let mut statements = vec![condition(self.bind_key(guard, attempt))];
        if self.interval_ms > 0 {
            let record = match (self.interval_clock, dialect) {
                (IntervalClock::Database, _) => sql(RECORD_WRITE_BY_DATABASE_CLOCK),
                (IntervalClock::Gateway, Dialect::Sqlite) => sql(RECORD_WRITE),
                (IntervalClock::Gateway, Dialect::Postgres) => sql(RECORD_WRITE_POSTGRES),
            };
            let record = record.bind(self.signer.as_str()).bind(self.interval_ms);
            let record = match self.interval_clock {
                IntervalClock::Gateway => record.bind(self.now_ms),
                IntervalClock::Database => record,
            };
            statements.push(condition(record.into()));
        }
        statements
    }

    /// A statement with the guard's key, the signer and an attempt as its parameters.
    pub(crate) fn bind_key(&self, text: &'static str, attempt: &str) -> Statement {
        let key = sql(text).bind(self.remember_until_s).bind(self.digest.as_str());
        key.bind(self.signer.as_str()).bind(attempt).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gateway_clock::ManualClock;

    #[test]
    fn the_databases_clock_decides_where_replicas_share_it() {
        let manual = Clock::Manual(ManualClock::new(0));
        assert_eq!(IntervalClock::of(Dialect::Postgres, &Clock::System), IntervalClock::Database);
        assert_eq!(IntervalClock::of(Dialect::Sqlite, &Clock::System), IntervalClock::Gateway);
        assert_eq!(IntervalClock::of(Dialect::Postgres, &manual), IntervalClock::Gateway);
    }
}
