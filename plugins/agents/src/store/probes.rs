//! Which agents are due for a probe, and how far the probes are.
//!
//! The rule: one read looks at an [`IdRange`] of the agents, so that its cost has a bound. [`Sweep`] goes from range to range; the
//! numbers of the status are those of its last pass through all agents.

use crate::Agents;
use plugin_api::{AgentId, HostError, PluginContext, Query, Sql, sql};
use serde::Deserialize;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// An agent whose card is due for a probe.
#[derive(Clone, Deserialize)]
pub struct DueAgent {
    pub id: AgentId,
    pub endpoint: String,
}

/// Agents whose ids follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IdRange {
    /// The id before the first one.
    after: i64,
    last: i64,
    /// Whether no agent follows.
    is_end: bool,
}

impl IdRange {
    /// Bounds of `agents_max`: fewer agents than the first are always one range.
    pub const AGENTS_MIN: i64 = 5_000;
    pub const AGENTS_MAX: i64 = 50_000;

    pub async fn read(db: &impl Query, after: i64, agents_max: i64) -> Result<Self, HostError> {
        let range = sql("SELECT count(*), coalesce(max(id), $1) FROM \
             (SELECT id FROM agents_agents WHERE id > $1 ORDER BY id LIMIT $2) AS ids");
        let (agents, last): (i64, i64) = db.one(range.bind((after, agents_max))).await?;
        Ok(Self { after, last, is_end: agents < agents_max })
    }

    /// Without the agents behind that one.
    pub fn up_to(self, agent: AgentId) -> Self {
        Self { last: agent.0, is_end: self.is_end && agent.0 >= self.last, ..self }
    }
}

/// The agents of a range that have something to probe. (`+` keeps SQLite to the ids; it would read all active agents.)
const PROBED: &str = "agents_agents a LEFT JOIN agents_cards c ON c.agent_id = a.id \
     WHERE +a.active = 1 AND a.endpoint <> '' AND a.id > $1 AND a.id <= $2";

/// Agents that were not probed at this endpoint since that second, or never, by id.
pub async fn due(db: &impl Query, range: IdRange, before_s: i64, limit: i64) -> Result<Vec<DueAgent>, HostError> {
    let due = sql(format!(
        "SELECT a.id, a.endpoint FROM {PROBED} \
         AND (c.agent_id IS NULL OR c.endpoint <> a.endpoint OR c.checked_at <= $3) ORDER BY a.id LIMIT $4"
    ));
    db.rows(due.bind((range.after, range.last, before_s, limit))).await
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

    fn and(self, other: Self) -> Self {
        Self {
            agents: self.agents + other.agents,
            online: self.online + other.online,
            probed: self.probed + other.probed,
            oldest_s: self.oldest_s.into_iter().chain(other.oldest_s).min(),
            newest_s: self.newest_s.max(other.newest_s),
        }
    }
}

/// How far the job is in its current pass through all agents.
#[derive(Default)]
pub struct Sweep(Mutex<SweepState>);

#[derive(Default)]
struct SweepState {
    /// The next range begins behind this id.
    after: i64,
    /// The sums of the ranges so far.
    counted: ProbeProgress,
}

impl Sweep {
    /// The id behind which the next range begins.
    pub fn position(&self) -> i64 {
        self.lock().after
    }

    /// Goes on behind the range; returns the sums of all ranges at the end of a pass.
    pub fn advance(&self, range: IdRange, counted: ProbeProgress) -> Option<ProbeProgress> {
        let mut state = self.lock();
        *state = SweepState { after: range.last, counted: state.counted.and(counted) };
        range.is_end.then(|| std::mem::take(&mut *state).counted)
    }

    fn lock(&self) -> MutexGuard<'_, SweepState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Key of the only row of the progress.
const ROW: i64 = 1;
/// While the job runs, the stored progress of a few agents is newer.
const STORED_MAX_AGE_S: i64 = 90;
/// How often the job stores it.
const STORE_INTERVAL_S: i64 = 30;

pub async fn count(db: &impl Query, range: IdRange) -> Result<ProbeProgress, HostError> {
    let progress = sql(format!(
        "SELECT count(*) AS agents, cast(coalesce(sum(c.online), 0) AS BIGINT) AS online, count(c.agent_id) AS probed, \
         min(coalesce(c.checked_at, a.registered_at)) AS oldest_s, max(c.checked_at) AS newest_s FROM {PROBED}"
    ));
    db.one(progress.bind((range.after, range.last))).await
}

async fn stored_since(db: &impl Query, since_s: i64) -> Result<Option<ProbeProgress>, HostError> {
    let stored = "SELECT agents, online, probed, oldest_s, newest_s FROM agents_probe_progress WHERE counted_at > $1";
    db.row(sql(stored).bind(since_s)).await
}

/// As the job stored it last. When it does not run, a few agents are counted now; for many the last numbers get older, and so
/// unhealthy.
pub async fn progress(db: &impl Query, now_s: i64) -> Result<ProbeProgress, HostError> {
    if let Some(progress) = stored_since(db, now_s - STORED_MAX_AGE_S).await? {
        return Ok(progress);
    }
    let first = IdRange::read(db, 0, IdRange::AGENTS_MIN).await?;
    if first.is_end { count(db, first).await } else { Ok(stored_since(db, 0).await?.unwrap_or_default()) }
}

/// Stores what [`progress`] reads, unless it did so a moment ago.
pub async fn store_progress(cx: &PluginContext<Agents>, progress: ProbeProgress) -> Result<(), HostError> {
    if stored_since(&cx.db(), cx.now_s() - STORE_INTERVAL_S).await?.is_some() {
        return Ok(());
    }
    let ProbeProgress { agents, online, probed, oldest_s, newest_s } = progress;
    let store = Sql::upsert("agents_probe_progress", "id", "counted_at, agents, online, probed, oldest_s, newest_s");
    let store = store.bind((ROW, cx.now_s(), agents, online, probed, oldest_s, newest_s));
    cx.write(async move |tx| tx.execute(store.clone()).await.map(drop)).await
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

    #[test]
    fn a_sweep_sums_its_ranges_and_begins_again() {
        let counted =
            |agents, oldest_s, newest_s| ProbeProgress { agents, oldest_s, newest_s, ..ProbeProgress::default() };
        let range = |after, last, is_end| IdRange { after, last, is_end };
        let sweep = Sweep::default();
        assert_eq!(sweep.advance(range(0, 5, false), counted(3, Some(70), None)), None);
        assert_eq!(sweep.position(), 5);
        // A round that probed only some of a range ends behind them, also in the last range.
        assert_eq!(range(5, 9, true).up_to(AgentId(7)), range(5, 7, false));
        assert_eq!(range(5, 9, true).up_to(AgentId(9)), range(5, 9, true));
        assert_eq!(
            sweep.advance(range(5, 9, true), counted(4, Some(60), Some(80))),
            Some(counted(7, Some(60), Some(80)))
        );
        assert_eq!(sweep.position(), 0);
        assert_eq!(sweep.advance(range(0, 0, true), counted(0, None, None)), Some(counted(0, None, None)));
    }
}
