//! Cards and the outcomes of probes. None of these rows is derived from the chain.

use super::probes::DueAgent;
use crate::model::{Card, UPTIME_DAYS, Uptime};
use plugin_api::{AgentId, HostError, Query, Sql, Tx, sql};
use serde_json::json;

/// The result of a probe.
pub struct Probe {
    pub agent: DueAgent,
    pub outcome: Outcome,
    pub at_ms: i64,
}

pub enum Outcome {
    Online(Box<Card>),
    Offline,
    /// Nothing was sent, so nothing is known: the agent is due again in so many seconds.
    Postponed {
        retry_after_s: i64,
    },
}

pub const DAY_S: i64 = 86_400;

pub async fn record(tx: &Tx, probes: &[Probe], interval_s: i64) -> Result<(), HostError> {
    let mut statements = Vec::with_capacity(3 * probes.len());
    for Probe { agent, outcome, at_ms } in probes {
        let is_online = match outcome {
            Outcome::Online(card) => {
                statements.push(store(agent, card, *at_ms)?);
                true
            }
            Outcome::Offline => {
                statements.extend(without_card(agent, at_ms / 1000, ", online = 0"));
                false
            }
            Outcome::Postponed { retry_after_s } => {
                let checked_at = (at_ms / 1000).saturating_add(*retry_after_s).saturating_sub(interval_s);
                statements.extend(without_card(agent, checked_at, ""));
                continue;
            }
        };
        let count =
            sql("INSERT INTO agents_probe_days (agent_id, day, ok, failed, last_ms) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (agent_id, day) DO UPDATE SET ok = agents_probe_days.ok + excluded.ok, \
             failed = agents_probe_days.failed + excluded.failed, last_ms = excluded.last_ms");
        let day = at_ms / 1000 / DAY_S;
        statements.push(count.bind((agent.id, day, is_online, !is_online, at_ms)));
    }
    tx.batch(statements).await.map(drop)
}

/// A card of another endpoint is deleted; the card of this endpoint stays as the last good one, with `changes` of its columns.
fn without_card(agent: &DueAgent, checked_at: i64, changes: &str) -> [Sql; 2] {
    let keep = format!(
        "INSERT INTO agents_cards (agent_id, endpoint, checked_at, online) VALUES ($1, $2, $3, 0) \
         ON CONFLICT (agent_id) DO UPDATE SET checked_at = excluded.checked_at{changes}"
    );
    [
        sql("DELETE FROM agents_cards WHERE agent_id = $1 AND endpoint <> $2").bind((agent.id, &agent.endpoint)),
        sql(keep).bind((agent.id, &agent.endpoint, checked_at)),
    ]
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
