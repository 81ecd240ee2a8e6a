//! The sequencer: gives committed events their positions in the log (PostgreSQL only).
//!
//! The rule: one transaction at a time appends, because each locks the one row of the sequencer, and only with the newest
//! fencing token. So positions are dense and become visible in increasing order, also when two gateways believe that they hold
//! the lease.

use super::outbox::OutboxScan;
use gateway_storage::{CommitStatement, Database, Scope, StorageError, decode_rows, postgres_now_ms};
use plugin_api::{abi::Statement, sql};
use std::time::{Duration, Instant};

/// How long a gateway keeps the lease that it does not renew.
pub(super) const LEASE: Duration = Duration::from_millis(1_500);
/// Most events of one transaction.
const BATCH_ROWS: u64 = 1_000;

/// A lease that ends later than one that begins now was given before the clock went back.
macro_rules! is_free {
    () => {
        concat!(
            "(holder IS NULL OR lease_until_ms < ",
            postgres_now_ms!(),
            " OR lease_until_ms > ",
            postgres_now_ms!(),
            " + $1)"
        )
    };
}

const ACQUIRE: &str = concat!(
    "UPDATE host_activity_sequencer SET holder = $2, token = token + 1, lease_until_ms = ",
    postgres_now_ms!(),
    " + $1 WHERE id = 1 AND ",
    is_free!(),
    " RETURNING token"
);

const SELECT_STATE: &str = concat!(
    "SELECT CASE WHEN ",
    is_free!(),
    " THEN 0 ELSE lease_until_ms - ",
    postgres_now_ms!(),
    " + 1 END, next_position FROM host_activity_sequencer WHERE id = 1"
);

const RENEW: &str = concat!(
    "UPDATE host_activity_sequencer SET lease_until_ms = ",
    postgres_now_ms!(),
    " + $2 WHERE id = 1 AND token = $1 RETURNING 1"
);

const RELEASE: &str = "UPDATE host_activity_sequencer SET holder = NULL WHERE id = 1 AND token = $1";

/// Moves the next events. It is a statement of its own, after the one that locked the sequencer's row, so that its snapshot has
/// what the last holder appended; with an older token it moves nothing, whether or not that one's result was looked at. Rows
/// that somebody has locked are being undone. Of events with one unique key the first one counts; the scalar subquery always
/// uses the index. Rows that something else put into the log do not stop it. Cached responses that show the log are older now.
const MOVE: &str = "WITH taken AS (
        DELETE FROM host_activity_outbox WHERE id = ANY (ARRAY(
            SELECT id FROM host_activity_outbox
            WHERE id > $1 AND EXISTS (SELECT 1 FROM host_activity_sequencer s WHERE s.id = 1 AND s.token = $3)
            ORDER BY id LIMIT $2 FOR UPDATE SKIP LOCKED))
        RETURNING id, type, ts, actor, ref_kind, ref_id, data, unique_key
    ), known AS (
        SELECT taken.*, row_number() OVER (PARTITION BY unique_key ORDER BY id) AS nth,
            (SELECT a.id FROM host_activity a WHERE a.unique_key = taken.unique_key) AS public_id
        FROM taken
    ), fresh AS (
        SELECT known.*, row_number() OVER (ORDER BY id) - 1 AS place
        FROM known WHERE unique_key IS NULL OR (nth = 1 AND public_id IS NULL)
    ), appended AS (
        INSERT INTO host_activity (id, type, ts, actor, ref_kind, ref_id, data, unique_key)
        SELECT s.position + f.place, f.type, f.ts, f.actor, f.ref_kind, f.ref_id, f.data, f.unique_key
        FROM fresh f CROSS JOIN (
            SELECT greatest(next_position, (SELECT coalesce(max(a.id), 0) + 1 FROM host_activity a)) AS position
            FROM host_activity_sequencer WHERE id = 1
        ) s ORDER BY f.place
        RETURNING id
    ), changed AS (
        INSERT INTO host_changes (owner) SELECT 'host' FROM appended LIMIT 1
    )
    UPDATE host_activity_sequencer SET next_position = coalesce((SELECT max(id) + 1 FROM appended), next_position)
    WHERE id = 1 AND EXISTS (SELECT 1 FROM taken)
    RETURNING (SELECT count(*) FROM taken), (SELECT max(id) FROM taken), (SELECT count(*) FROM appended)";

const SELECT_WAITING: &str = "SELECT 1 FROM host_activity_outbox WHERE id > $1 LIMIT 1";

/// Whether a gateway sequences.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeaseState {
    Holder,
    /// Another one does.
    HeldByOther {
        /// Until its lease is over, unless it renews it.
        left: Duration,
        /// Changes with every event that becomes public.
        next_position: i64,
    },
}

/// What one transaction moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SequencedBatch {
    /// Events that left the outbox.
    pub taken: u64,
    /// Events that are new in the log; the others had a unique key that was there.
    pub appended: u64,
}

impl SequencedBatch {
    /// Whether there may be more.
    pub fn is_full(&self) -> bool {
        self.taken >= BATCH_ROWS
    }
}

/// The sequencer of one gateway, with or without the lease.
pub struct Sequencer {
    database: Database,
    /// Tells operators which gateway it is.
    holder: String,
    transaction_timeout: Duration,
    /// While this gateway believes that it holds the lease.
    lease: Option<SequencerLease>,
}

struct SequencerLease {
    token: i64,
    scan: OutboxScan,
}

impl Sequencer {
    /// `transaction_timeout` is the longest time between an event's insertion and its commit.
    pub fn new(database: Database, holder: String, transaction_timeout: Duration) -> Self {
        Self { database, holder, transaction_timeout, lease: None }
    }

    /// The fencing token, while this gateway believes that it holds the lease.
    pub fn token(&self) -> Option<i64> {
        self.lease.as_ref().map(|lease| lease.token)
    }

    /// Takes the lease if it is free. Only a gateway that has read that it is free writes.
    pub async fn acquire(&mut self) -> Result<LeaseState, StorageError> {
        let seen: Vec<(i64, i64)> = self.database.fetch_all(sql(SELECT_STATE).bind(lease_ms())).await?;
        let (left_ms, next_position) = seen.first().copied().unwrap_or_default();
        if left_ms > 0 {
            return Ok(LeaseState::HeldByOther { left: Duration::from_millis(left_ms.unsigned_abs()), next_position });
        }
        let acquired = self.database.execute(sql(ACQUIRE).bind(lease_ms()).bind(&self.holder)).await?;
        let tokens: Vec<i64> = decode_rows(&acquired.rows)?;
        let Some(token) = tokens.first().copied() else {
            return Ok(LeaseState::HeldByOther { left: LEASE, next_position });
        };
        self.lease = Some(SequencerLease { token, scan: OutboxScan::new(self.transaction_timeout) });
        Ok(LeaseState::Holder)
    }

    /// Renews the lease and moves the next events into the log, in one transaction; `None` when another gateway has the lease.
    /// After an error the same call may be repeated, also when it is unknown whether the transaction was committed: it begins
    /// with what the database has then.
    pub async fn sequence(&mut self) -> Result<Option<SequencedBatch>, StorageError> {
        let Some(SequencerLease { token, scan }) = &mut self.lease else { return Ok(None) };
        let part = scan.begin(Instant::now());
        let renew: Statement = sql(RENEW).bind(*token).bind(lease_ms()).into();
        let next = sql(MOVE).bind(part.after).bind(i64::try_from(BATCH_ROWS).unwrap_or(i64::MAX)).bind(*token);
        let statements = vec![CommitStatement::expecting_row(renew), CommitStatement::new(next.into())];
        let outcomes = match self.database.begin(Scope::Host).commit(statements).await {
            Err(StorageError::Rejected(_)) => {
                self.lease = None;
                return Ok(None);
            }
            outcomes => outcomes?,
        };
        let moved: Vec<(u64, i64, u64)> =
            outcomes.last().map_or(Ok(Vec::new()), |outcome| decode_rows(&outcome.rows))?;
        let (taken, highest, appended) = moved.first().copied().unwrap_or_default();
        let batch = SequencedBatch { taken, appended };
        scan.end(&part, Instant::now(), highest, !batch.is_full());
        Ok(Some(batch))
    }

    /// Whether there may be something to move. Only a read, unlike [`Self::sequence`].
    pub async fn has_waiting(&self) -> Result<bool, StorageError> {
        let Some(SequencerLease { scan, .. }) = &self.lease else { return Ok(false) };
        let look = sql(SELECT_WAITING).bind(scan.recent()).into();
        Ok(!self.database.read(&Scope::Host, look).await?.is_empty())
    }

    /// Gives the lease back, so that another gateway need not wait for its end.
    pub async fn release(&mut self) -> Result<(), StorageError> {
        let Some(lease) = self.lease.take() else { return Ok(()) };
        self.database.execute(sql(RELEASE).bind(lease.token)).await.map(drop)
    }
}

fn lease_ms() -> i64 {
    i64::try_from(LEASE.as_millis()).unwrap_or(i64::MAX)
}
