//! A scheduling cycle: one transaction that ingests pushes, applies outcomes and expired leases, and leases the next keys.
//!
//! The rule: cycles of one queue follow each other, on all gateways, so that each sees what the one before it has leased. At READ COMMITTED
//! no serialisable write of a plugin can conflict with one because of what it reads.

use super::{
    lease_tokens::{GatewayTag, new_token},
    statements::QueueStatements,
    store::{QueueStore, UnrecordedOutcome},
    task_slots::{Candidate, StoredTask, TaskSlots},
    tasks::{NEVER_MS, OutcomeCode},
};
use gateway_storage::{CommitStatement, Scope, StorageError, Transaction, decode_rows};
use plugin_api::{
    abi::{Statement, StatementResult},
    manifest::QueueTask,
    sql,
};
use serde_json::value::RawValue;
use std::collections::HashMap;

/// A task whose lease expires this often in a row has failed once: it may be what ends the gateways.
const EXPIRED_LEASES_MAX: i64 = 3;

/// `is_slow` of a key whose task has failed.
const SLOW: i64 = 1;

/// A task that this gateway has to run.
#[derive(Debug)]
pub(crate) struct LeasedTask {
    pub task: QueueTask,
    pub is_slow: bool,
}

/// What a cycle did.
#[derive(Debug, Default)]
pub(crate) struct CycleResult {
    pub leased: Vec<LeasedTask>,
    pub expired_leases: u64,
    pub dead_lettered: u64,
}

/// Statements whose results are not needed, in the order in which they run.
#[derive(Default)]
struct Changes(Vec<Statement>);

/// A key with its task, and the outcome: code, when the task is due again, whether the key is slow, reason.
type OutcomeRow = (String, i64, i64, i64, i64, String);
type ExpiredLeaseRow = (String, i64, Option<i64>, Option<i64>);
/// A key with its group, and its next task: id, or 0 where it was deleted, payload, when it was pushed, failed attempts.
type KeyRow = (String, String, i64, String, i64, i64);

impl QueueStore {
    /// `ended`: a gateway whose leases are over, whatever their time.
    pub(crate) async fn run_cycle(
        &self,
        (unrecorded, ended): (&[UnrecordedOutcome], Option<GatewayTag>),
        slots: TaskSlots,
        now_ms: i64,
    ) -> Result<CycleResult, StorageError> {
        let transaction = self.database.begin(Scope::Host);
        let mut cycle = CycleResult::default();
        let expired = self.expired_leases_statement(ended);
        let changes = self.record_and_read_outcomes(&transaction, (unrecorded, expired), now_ms, &mut cycle).await?;
        let candidates = self.candidates(&transaction, changes, slots, now_ms).await?;
        let mut leases = Vec::new();
        for candidate in candidates {
            let token = candidate.task.as_ref().map_or(0, |_| new_token(self.gateway));
            leases.push(CommitStatement::new(self.lease_statement(&candidate, token, now_ms)));
            cycle.leased.extend(self.leased_task(candidate, token)?);
        }
        transaction.commit(leases).await?;
        Ok(cycle)
    }

    /// Records outcomes, reads these and the ones that handlers recorded, and finds expired leases. Returns the changes that follow.
    async fn record_and_read_outcomes(
        &self,
        transaction: &Transaction,
        (unrecorded, expired_leases): (&[UnrecordedOutcome], Statement),
        now_ms: i64,
        cycle: &mut CycleResult,
    ) -> Result<Changes, StorageError> {
        let mut statements: Vec<Statement> = self.statements.lock.iter().map(|lock| sql(lock.clone()).into()).collect();
        statements.extend(unrecorded.iter().map(|outcome| outcome.statement(self.table())));
        let first = statements.len();
        statements.push(sql(self.statements.select_outcomes.clone()).into());
        statements.push(expired_leases);
        let results = transaction.run(statements).await?;
        let mut changes = Changes::default();
        for outcome in rows_at::<OutcomeRow>(&results, first)? {
            cycle.dead_lettered += u64::from(self.apply_outcome(&mut changes, &outcome, now_ms));
        }
        for expired in rows_at::<ExpiredLeaseRow>(&results, first + 1)? {
            cycle.expired_leases += 1;
            cycle.dead_lettered += u64::from(self.expire_lease(&mut changes, expired, now_ms));
        }
        changes.0.extend(self.statements.ingest_pushes.iter().map(|ingest| Statement::from(sql(ingest.clone()))));
        Ok(changes)
    }

    fn expired_leases_statement(&self, ended: Option<GatewayTag>) -> Statement {
        let QueueStatements { select_expired_leases, select_expired_leases_of_gateway, .. } = &self.statements;
        let Some(tokens) = ended.map(GatewayTag::tokens) else {
            return sql(select_expired_leases.clone()).bind(self.lease_ms()).into();
        };
        let leases = sql(select_expired_leases_of_gateway.clone());
        leases.bind((self.lease_ms(), *tokens.start(), *tokens.end())).into()
    }

    /// Returns whether the task went to the dead letters.
    fn apply_outcome(&self, changes: &mut Changes, outcome: &OutcomeRow, now_ms: i64) -> bool {
        let (statements, (key, task, code, due_ms, is_slow, reason)) = (&self.statements, outcome);
        let (task, code, due_ms, reason) = (*task, *code, *due_ms, reason.as_str());
        let is_dead = code == OutcomeCode::Dead as i64;
        let key_due_ms = if code == OutcomeCode::Retry as i64 {
            changes.push(sql(statements.retry_task.clone()).bind((task, due_ms, reason)));
            due_ms
        } else if code == OutcomeCode::Released as i64 {
            now_ms
        } else {
            if is_dead {
                changes.push(sql(statements.dead_letter_task.clone()).bind((task, reason, now_ms)));
            }
            changes.push(sql(statements.delete_task.clone()).bind(task));
            NEVER_MS
        };
        changes.push(sql(statements.finish_key.clone()).bind((key.as_str(), key_due_ms, *is_slow)));
        is_dead
    }

    /// The task is due again; when that counts as a failure, its key is slow. Returns whether the task went to the dead letters.
    fn expire_lease(&self, changes: &mut Changes, (key, task, attempt, expired): ExpiredLeaseRow, now_ms: i64) -> bool {
        let expired = expired.unwrap_or(0) + 1;
        if attempt.is_none() || expired < EXPIRED_LEASES_MAX {
            changes.push(sql(self.statements.count_expired_lease.clone()).bind(task));
            changes.push(sql(self.statements.release_key.clone()).bind((key.as_str(), now_ms)));
            return false;
        }
        let wait_ms = self.retry_wait_ms(attempt.unwrap_or(0) + 1);
        let reason = format!("its gateway ended while it ran, {expired} times in a row");
        let (code, due_ms) = match wait_ms {
            Some(wait_ms) => (OutcomeCode::Retry, now_ms.saturating_add(i64::try_from(wait_ms).unwrap_or(i64::MAX))),
            None => (OutcomeCode::Dead, 0),
        };
        self.apply_outcome(changes, &(key, task, code as i64, due_ms, SLOW, reason), now_ms)
    }

    async fn candidates(
        &self,
        transaction: &Transaction,
        changes: Changes,
        slots: TaskSlots,
        now_ms: i64,
    ) -> Result<Vec<Candidate>, StorageError> {
        let mut statements = changes.0;
        let first = statements.len();
        let per_group = i64::from(self.limits.concurrency_per_group.max(1));
        let shares = [(1_i64, slots.free_for_slow), (0, slots.free)];
        statements.push(sql(self.statements.count_groups.clone()).into());
        for (is_slow, free) in shares {
            let most = i64::try_from(TaskSlots::candidates_max(free)).unwrap_or(0);
            statements.push(sql(self.statements.select_keys.clone()).bind((now_ms, is_slow, per_group, most)).into());
        }
        let results = transaction.run(statements).await?;
        let counted: Vec<(String, i64)> = rows_at(&results, first)?;
        let running: HashMap<_, _> =
            counted.into_iter().map(|(group, count)| (group, usize::try_from(count).unwrap_or(0))).collect();
        let mut candidates = Vec::new();
        for (share, (is_slow, _)) in shares.into_iter().enumerate() {
            for (key, group, id, payload, pushed_ms, attempts) in rows_at::<KeyRow>(&results, first + 1 + share)? {
                let task = (id != 0).then_some(StoredTask { id, payload, pushed_ms, attempts });
                candidates.push(Candidate { key, group, task, is_slow: is_slow == 1 });
            }
        }
        Ok(slots.choose(candidates, running, usize::try_from(per_group).unwrap_or(1)))
    }

    /// Without a task it puts the key right.
    fn lease_statement(&self, candidate: &Candidate, token: i64, now_ms: i64) -> Statement {
        let task = candidate.task.as_ref().map_or(0, |task| task.id);
        sql(self.statements.lease_key.clone())
            .bind((candidate.key.as_str(), token, task, self.lease_ms(), now_ms))
            .into()
    }

    fn leased_task(&self, candidate: Candidate, token: i64) -> Result<Option<LeasedTask>, StorageError> {
        let Candidate { key, task, is_slow, .. } = candidate;
        let Some(StoredTask { id, payload, pushed_ms, attempts }) = task else { return Ok(None) };
        let payload = RawValue::from_string(payload).map_err(super::tasks::malformed)?;
        let attempt = attempts + 1;
        let task = QueueTask {
            id,
            key,
            token,
            attempt: u32::try_from(attempt).unwrap_or(u32::MAX),
            pushed_ms,
            retry_wait_ms: self.retry_wait_ms(attempt),
            slow_after_ms: self.limits.slow_after_ms,
            lease_ms: self.limits.lease_ms,
            lease_age_ms: None,
            payload,
        };
        Ok(Some(LeasedTask { task, is_slow }))
    }
}

impl Changes {
    fn push(&mut self, change: plugin_api::Sql) {
        self.0.push(change.into());
    }
}

fn rows_at<T: serde::de::DeserializeOwned>(results: &[StatementResult], index: usize) -> Result<Vec<T>, StorageError> {
    let result = results.get(index).ok_or_else(|| super::tasks::malformed("a result is missing"))?;
    decode_rows(&result.rows)
}
