//! Cards and probes. None of these rows is derived from the chain.

use crate::{
    Agents,
    model::{Card, UPTIME_DAYS, Uptime},
};
use plugin_api::{AgentId, HostError, PluginContext, Query, Sql, Tx, sql};
use serde::Deserialize;
use serde_json::json;

/// An agent whose card is due for a probe.
#[derive(Clone, Deserialize)]
pub struct DueAgent {
    pub id: AgentId,
    pub endpoint: String,
}

const PROBED: &str = "agents_agents a LEFT JOIN agents_cards c ON c.agent_id = a.id \
     WHERE a.active = 1 AND a.endpoint <> ''";

/// Active agents that were not probed at this endpoint since that second, or never: longest wait first.
pub async fn due(db: &impl Query, before_s: i64, limit: i64) -> Result<Vec<DueAgent>, HostError> {
    let due = sql(format!(
        "SELECT a.id, a.endpoint FROM {PROBED} \
         AND (c.agent_id IS NULL OR c.endpoint <> a.endpoint OR c.checked_at <= $1) \
         ORDER BY coalesce(c.checked_at, 0), a.id LIMIT $2"
    ));
    db.rows(due.bind((before_s, limit))).await
}

/// Progress of the probes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct ProbeProgress {
    /// Active agents with an endpoint.
    pub agents: i64,
    pub online: i64,
    /// Those that were probed at least once.
    pub probed: i64,
    /// Since when the longest-waiting agent waits: since its last probe, or since its registration.
    pub oldest_s: Option<i64>,
    /// Time of the latest probe.
    pub newest_s: Option<i64>,
}

/// With agents waiting, the job counts as stalled after this long without a probe.
const STALLED_AFTER_S: i64 = 60;

impl ProbeProgress {
    /// Healthy: no agent waits much longer than the interval (counted from the start of this plugin), or many do after a pause
    /// and the job is working through them.
    pub fn is_healthy(&self, interval_s: i64, started_s: i64, now_s: i64) -> bool {
        let within = |at: i64, age_s: i64| now_s - at <= age_s;
        let keeps_up = |oldest_s: i64| within(oldest_s.max(started_s), 3 * interval_s);
        self.oldest_s.is_none_or(keeps_up) || self.newest_s.is_some_and(|newest_s| within(newest_s, STALLED_AFTER_S))
    }
}

/// While the job runs, nobody reads a count that is older.
const COUNT_MAX_AGE_S: i64 = 90;
/// How often the job counts.
const COUNT_INTERVAL_S: i64 = 30;

/// Reads every agent.
async fn count(db: &impl Query) -> Result<ProbeProgress, HostError> {
    let progress = sql(format!(
        "SELECT count(*) AS agents, cast(coalesce(sum(c.online), 0) AS BIGINT) AS online, count(c.agent_id) AS probed, \
         min(coalesce(c.checked_at, a.registered_at)) AS oldest_s, max(c.checked_at) AS newest_s FROM {PROBED}"
    ));
    db.one(progress).await
}

async fn counted_since(db: &impl Query, since_s: i64) -> Result<Option<ProbeProgress>, HostError> {
    let counted = "SELECT agents, online, probed, oldest_s, newest_s FROM agents_probe_progress WHERE counted_at > $1";
    db.row(sql(counted).bind(since_s)).await
}

/// As the job counted last; counted now when the job does not run.
pub async fn progress(db: &impl Query, now_s: i64) -> Result<ProbeProgress, HostError> {
    match counted_since(db, now_s - COUNT_MAX_AGE_S).await? {
        Some(progress) => Ok(progress),
        None => count(db).await,
    }
}

/// Whether it is time to [store](store_progress) what [`progress`] reads.
pub async fn progress_is_due(db: &impl Query, now_s: i64) -> Result<bool, HostError> {
    Ok(counted_since(db, now_s - COUNT_INTERVAL_S).await?.is_none())
}

/// Counts before the transaction, which would hold up other writers.
pub async fn store_progress(cx: &PluginContext<Agents>) -> Result<(), HostError> {
    let ProbeProgress { agents, online, probed, oldest_s, newest_s } = count(&cx.db()).await?;
    let store = sql("INSERT INTO agents_probe_progress (id, counted_at, agents, online, probed, oldest_s, newest_s) \
         VALUES (1, $1, $2, $3, $4, $5, $6) ON CONFLICT (id) DO UPDATE SET counted_at = excluded.counted_at, \
         agents = excluded.agents, online = excluded.online, probed = excluded.probed, oldest_s = excluded.oldest_s, \
         newest_s = excluded.newest_s")
    .bind((cx.now_s(), agents, online, probed, oldest_s, newest_s));
    cx.write(async move |tx| tx.execute(store.clone()).await.map(drop)).await
}

/// The result of a probe.
pub struct Probe {
    pub agent: DueAgent,
    pub card: Option<Card>,
    pub at_ms: i64,
}

pub const DAY_S: i64 = 86_400;

pub async fn record(tx: &Tx, probes: &[Probe]) -> Result<(), HostError> {
    let mut statements = Vec::with_capacity(3 * probes.len());
    for Probe { agent, card, at_ms } in probes {
        match card {
            Some(card) => statements.push(store(agent, card, *at_ms)?),
            // A card of another endpoint is deleted; the card of this endpoint stays as the last good one.
            None => statements.extend([
                sql("DELETE FROM agents_cards WHERE agent_id = $1 AND endpoint <> $2")
                    .bind((agent.id, &agent.endpoint)),
                sql("INSERT INTO agents_cards (agent_id, endpoint, checked_at, online) VALUES ($1, $2, $3, 0) \
                     ON CONFLICT (agent_id) DO UPDATE SET checked_at = excluded.checked_at, online = 0")
                .bind((agent.id, &agent.endpoint, at_ms / 1000)),
            ]),
        }
        let count =
            sql("INSERT INTO agents_probe_days (agent_id, day, ok, failed, last_ms) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (agent_id, day) DO UPDATE SET ok = agents_probe_days.ok + excluded.ok, \
             failed = agents_probe_days.failed + excluded.failed, last_ms = excluded.last_ms");
        let day = at_ms / 1000 / DAY_S;
        statements.push(count.bind((agent.id, day, card.is_some(), card.is_none(), at_ms)));
    }
    tx.batch(statements).await.map(drop)
}

fn store(agent: &DueAgent, card: &Card, at_ms: i64) -> Result<Sql, HostError> {
    let store = sql("INSERT INTO agents_cards (agent_id, endpoint, checked_at, online, card, description, capabilities, \
         model, image, price_per_call, last_seen_ms, kept) VALUES ($1, $2, $3, 1, $4, $5, $6, $7, $8, $9, $10, $11) \
         ON CONFLICT (agent_id) DO UPDATE SET endpoint = excluded.endpoint, checked_at = excluded.checked_at, online = 1, \
         card = excluded.card, description = excluded.description, capabilities = excluded.capabilities, \
         model = excluded.model, image = excluded.image, price_per_call = excluded.price_per_call, \
         last_seen_ms = excluded.last_seen_ms, kept = excluded.kept")
    .bind((agent.id, &agent.endpoint, at_ms / 1000, &card.text, card.description.as_deref()))
    .bind((json!(card.capabilities).to_string(), card.model.as_deref(), card.image.as_deref()))
    .bind((card.price_per_call, at_ms, card.rendered(at_ms)?));
    Ok(store)
}

/// The answered probes of an agent, up to the last day with one.
pub async fn uptime(db: &impl Query, agent: AgentId) -> Result<Uptime, HostError> {
    let sums = sql("SELECT count(*), cast(coalesce(sum(ok), 0) AS BIGINT), cast(coalesce(sum(failed), 0) AS BIGINT), \
         max(last_ms) FROM agents_probe_days WHERE agent_id = $1 \
         AND day > (SELECT max(day) FROM agents_probe_days WHERE agent_id = $1) - $2");
    let (days, ok, fail, last_ms) = db.one(sums.bind(agent).bind(UPTIME_DAYS)).await?;
    Ok(Uptime::new(days, ok, fail, last_ms))
}

/// `day` counts from 1970-01-01.
pub async fn delete_days_before(tx: &Tx, day: i64) -> Result<(), HostError> {
    tx.execute(sql("DELETE FROM agents_probe_days WHERE day < $1").bind(day)).await.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_healthy_while_no_agent_waits_long_or_some_are_probed() {
        let made_since = |started_s, oldest_s, newest_s| {
            ProbeProgress { oldest_s, newest_s, ..ProbeProgress::default() }.is_healthy(300, started_s, 10_000)
        };
        let made = |oldest_s, newest_s| made_since(0, oldest_s, newest_s);
        assert!(made(None, None), "nobody to ask");
        assert!(made(Some(9_100), Some(9_100)));
        assert!(!made(Some(9_099), Some(9_939)), "one waits, and none was asked for a minute");
        assert!(made(Some(0), Some(9_940)), "it catches up");
        assert!(!made(Some(0), None), "the job never began");
        assert!(made_since(9_100, Some(0), None), "the plugin has just started");
        assert!(!made_since(9_099, Some(0), Some(9_000)));
    }
}
