//! The SQL of polls, scheduling cycles, prunings and metrics, in the dialect of one database.

use super::tasks::NEVER_MS;
use gateway_storage::Dialect;

/// Pushes that one cycle ingests.
const PUSHED_MAX: u32 = 1_000;
/// Keys whose outcomes, or expired leases, one cycle applies.
const OUTCOMES_MAX: u32 = 500;
/// Keys, and dead tasks, that one pruning deletes.
pub(crate) const PRUNED_MAX: u32 = 1_000;
/// Conditions on a key's `due_ms` need this one, too: it is the first column of the index of due keys.
const FAST_OR_SLOW: &str = "is_slow IN (0, 1)";

pub(crate) struct QueueStatements {
    pub table: String,
    /// Makes cycles of all gateways follow each other; none on SQLite, where one transaction at a time writes.
    pub lock: Option<String>,
    pub poll: String,
    pub select_outcomes: String,
    pub select_expired_leases: String,
    /// The same, and all leases of a gateway that has ended, whose tokens are in a range.
    pub select_expired_leases_of_gateway: String,
    pub ingest_pushes: Vec<String>,
    pub finish_key: String,
    pub release_key: String,
    pub delete_task: String,
    pub retry_task: String,
    pub dead_letter_task: String,
    pub count_expired_lease: String,
    pub count_groups: String,
    pub select_keys: String,
    pub lease_key: String,
    pub prune_keys: String,
    pub prune_dead: String,
    pub select_stats: String,
}

impl QueueStatements {
    pub(crate) fn new(table: &str, dialect: Dialect) -> Self {
        let (now, for_update, skip_locked) = match dialect {
            Dialect::Sqlite => (dialect.now_ms(), "", ""),
            Dialect::Postgres => (dialect.now_ms(), " FOR UPDATE OF k SKIP LOCKED", " FOR UPDATE SKIP LOCKED"),
        };
        let lock = format!("SELECT pg_advisory_xact_lock(hashtextextended('{table}', 21))");
        // A lease that ends later than one that begins now was given before the clock went back.
        let is_expired = format!("(lease_until_ms <= {now} OR lease_until_ms > {now} + $1)");
        let (next_ms, first_due_ms) = (next_due_ms(table), first_due_ms(table));
        let select_leases = |which: &str| {
            format!(
                "SELECT k.key, k.task_id, t.attempt, t.lost FROM {table}_keys k LEFT JOIN {table} t ON t.id = k.task_id \
                 WHERE k.token <> 0 AND k.ended = 0 AND {which} LIMIT {OUTCOMES_MAX}{for_update}"
            )
        };
        Self {
            table: table.to_owned(),
            lock: (dialect == Dialect::Postgres).then_some(lock),
            poll: format!(
                "SELECT (SELECT count(*) FROM (SELECT 1 FROM {table}_pushed LIMIT 1) AS pushed), \
                 {first_due_ms}, (SELECT count(*) FROM (SELECT 1 FROM {table}_keys WHERE token <> 0 AND {is_expired} LIMIT 1) AS lost)"
            ),
            select_outcomes: format!(
                "SELECT k.key, k.task_id, k.ended, k.ended_due_ms, k.ended_slow, k.ended_error FROM {table}_keys k \
                 WHERE k.token <> 0 AND k.ended <> 0 LIMIT {OUTCOMES_MAX}{for_update}"
            ),
            select_expired_leases: select_leases(&is_expired),
            select_expired_leases_of_gateway: select_leases(&format!("({is_expired} OR k.token BETWEEN $2 AND $3)")),
            ingest_pushes: ingest_pushes(table, dialect, skip_locked),
            finish_key: format!(
                "UPDATE {table}_keys SET token = 0, lease_until_ms = 0, task_id = 0, is_slow = $3, ended = 0, \
                 ended_error = '', due_ms = CASE WHEN due_ms > $2 THEN $2 ELSE due_ms END WHERE key = $1"
            ),
            release_key: format!(
                "UPDATE {table}_keys SET token = 0, lease_until_ms = 0, task_id = 0, due_ms = $2 WHERE key = $1"
            ),
            delete_task: format!("DELETE FROM {table} WHERE id = $1"),
            retry_task: format!(
                "UPDATE {table} SET attempt = attempt + 1, lost = 0, due_ms = $2, error = $3 WHERE id = $1"
            ),
            dead_letter_task: format!(
                "INSERT INTO {table}_dead (id, key, group_key, payload, pushed_ms, attempt, error, dead_ms) \
                 SELECT id, key, group_key, payload, pushed_ms, attempt + 1, $2, $3 FROM {table} WHERE id = $1"
            ),
            count_expired_lease: format!("UPDATE {table} SET lost = lost + 1 WHERE id = $1"),
            count_groups: format!(
                "SELECT group_key, CAST(count(*) AS BIGINT) FROM {table}_keys WHERE token <> 0 GROUP BY group_key"
            ),
            select_keys: select_keys(table, for_update),
            lease_key: format!(
                "UPDATE {table}_keys SET token = $2, task_id = $3, ended = 0, \
                 lease_until_ms = CASE WHEN $2 = 0 THEN 0 ELSE {now} + $4 END, due_ms = {next_ms} WHERE key = $1"
            ),
            prune_keys: format!(
                "DELETE FROM {table}_keys WHERE key IN (SELECT k.key FROM {table}_keys k \
                 WHERE k.token = 0 AND k.{FAST_OR_SLOW} AND k.due_ms = {NEVER_MS} LIMIT {PRUNED_MAX}{for_update})"
            ),
            prune_dead: format!(
                "DELETE FROM {table}_dead WHERE id IN (SELECT id FROM {table}_dead WHERE dead_ms < $1 LIMIT {PRUNED_MAX})"
            ),
            select_stats: format!(
                "SELECT (SELECT count(*) FROM (SELECT 1 FROM {table}_keys \
                 WHERE token = 0 AND {FAST_OR_SLOW} AND due_ms <= $1 LIMIT 100000) AS due), \
                 (SELECT count(*) FROM {table}_keys WHERE token <> 0), \
                 (SELECT count(*) FROM (SELECT 1 FROM {table}_dead LIMIT 100000) AS dead), \
                 (SELECT count(*) FROM (SELECT 1 FROM {table} LIMIT 100000) AS tasks), \
                 {first_due_ms}, coalesce((SELECT due_ms FROM {table}_pushed ORDER BY id LIMIT 1), {NEVER_MS})"
            ),
        }
    }
}

/// When the first fast key and the first slow key are due: each is the first entry of its part of the index of due keys.
fn first_due_ms(table: &str) -> String {
    let first = |is_slow: u8| {
        format!("coalesce((SELECT min(due_ms) FROM {table}_keys WHERE token = 0 AND is_slow = {is_slow}), {NEVER_MS})")
    };
    format!("{}, {}", first(0), first(1))
}

/// The keys that have been due for the longest time, with the task that is next: a retry that is due, else the oldest one.
fn select_keys(table: &str, for_update: &str) -> String {
    format!(
        "SELECT c.key, c.group_key, coalesce(t.id, 0), coalesce(t.payload, ''), coalesce(t.pushed_ms, 0), \
         coalesce(t.attempt, 0) FROM (SELECT k.key, k.group_key, k.due_ms, \
         coalesce((SELECT r.id FROM {table} r WHERE r.key = k.key AND r.due_ms > 0 AND r.due_ms <= $1 \
             ORDER BY r.due_ms, r.id LIMIT 1), \
             (SELECT f.id FROM {table} f WHERE f.key = k.key AND f.due_ms = 0 ORDER BY f.id LIMIT 1)) AS task_id \
         FROM {table}_keys k WHERE k.token = 0 AND k.is_slow = $2 AND k.due_ms <= $1 AND k.group_key NOT IN \
             (SELECT g.group_key FROM {table}_keys g WHERE g.token <> 0 GROUP BY g.group_key HAVING count(*) >= $3) \
         ORDER BY k.due_ms LIMIT $4{for_update}) AS c LEFT JOIN {table} t ON t.id = c.task_id ORDER BY c.due_ms"
    )
}

/// Moves the pushes into the keys: each key has its earliest due time.
fn ingest_pushes(table: &str, dialect: Dialect, skip_locked: &str) -> Vec<String> {
    let upsert = |pushed: &str| {
        format!(
            "INSERT INTO {table}_keys (key, group_key, due_ms) \
             SELECT key, max(group_key), min(due_ms) FROM {pushed} GROUP BY key ORDER BY key \
             ON CONFLICT (key) DO UPDATE SET group_key = excluded.group_key, due_ms = excluded.due_ms \
             WHERE {table}_keys.due_ms > excluded.due_ms"
        )
    };
    match dialect {
        Dialect::Sqlite => {
            let taken = format!("(SELECT id FROM {table}_pushed ORDER BY id LIMIT {PUSHED_MAX})");
            vec![
                upsert(&format!("{table}_pushed WHERE id IN {taken}")),
                format!("DELETE FROM {table}_pushed WHERE id IN {taken}"),
            ]
        }
        Dialect::Postgres => vec![format!(
            "WITH taken AS (DELETE FROM {table}_pushed WHERE id = ANY (ARRAY(SELECT id FROM {table}_pushed \
                 ORDER BY id LIMIT {PUSHED_MAX}{skip_locked})) RETURNING key, group_key, due_ms) {}",
            upsert("taken")
        )],
    }
}

/// When there is something to do for the key `$1` beside the task `$3`: not before now (`$5`), so that keys take turns.
fn next_due_ms(table: &str) -> String {
    format!(
        "CASE WHEN EXISTS (SELECT 1 FROM {table} f WHERE f.key = $1 AND f.due_ms = 0 AND f.id <> $3) THEN $5 \
         ELSE coalesce((SELECT CASE WHEN r.due_ms < $5 THEN $5 ELSE r.due_ms END FROM {table} r \
             WHERE r.key = $1 AND r.due_ms > 0 AND r.id <> $3 ORDER BY r.due_ms LIMIT 1), {NEVER_MS}) END"
    )
}
