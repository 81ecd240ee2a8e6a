//! Probes: which tools are due, and the results.

use crate::model::ToolId;
use plugin_api::{HostError, Query, Tx, sql};
use serde::Deserialize;

/// A tool that is due for a probe.
#[derive(Deserialize)]
pub struct DueTool {
    pub id: ToolId,
    pub url: String,
}

/// Tools that were not probed since that second: new ones first, then the longest wait.
pub async fn due(db: &impl Query, before_s: i64, limit: i64) -> Result<Vec<DueTool>, HostError> {
    let due = sql("SELECT id, url FROM tools_tools WHERE probed_at <= $1 ORDER BY probed_at, id LIMIT $2");
    db.rows(due.bind((before_s, limit))).await
}

/// The result of a probe.
pub struct Probe {
    pub tool: DueTool,
    pub outcome: Outcome,
    pub at_s: i64,
}

pub enum Outcome {
    Online,
    Offline,
    /// Nothing was sent, so nothing is known: it is due again in so many seconds.
    Postponed {
        retry_after_s: i64,
    },
}

/// Ignores the result for a tool whose URL has changed in the meantime.
pub async fn record(tx: &Tx, probes: &[Probe], interval_s: i64) -> Result<(), HostError> {
    let record = |probe: &Probe| {
        let is_online = match probe.outcome {
            Outcome::Online => true,
            Outcome::Offline => false,
            Outcome::Postponed { retry_after_s } => {
                let probed_at = probe.at_s.saturating_add(retry_after_s).saturating_sub(interval_s);
                return sql("UPDATE tools_tools SET probed_at = $3 WHERE id = $1 AND url = $2").bind((
                    probe.tool.id,
                    &probe.tool.url,
                    probed_at,
                ));
            }
        };
        sql("UPDATE tools_tools SET online = $3, probed_at = $4, last_probe_at = $4, seen_at = CASE WHEN $3 = 1 THEN $4 ELSE seen_at END \
             WHERE id = $1 AND url = $2")
        .bind((probe.tool.id, &probe.tool.url, is_online, probe.at_s))
    };
    tx.batch(probes.iter().map(record).collect()).await.map(drop)
}

/// Progress of the probes.
#[derive(Default, Deserialize)]
pub struct ProbeProgress {
    pub tools: i64,
    pub online: i64,
    /// Tools that wait for their first probe.
    pub waiting: i64,
    /// When the longest-waiting tool was published or last probed.
    pub oldest_s: Option<i64>,
    /// Time of the latest probe.
    pub newest_s: Option<i64>,
}

pub async fn progress(db: &impl Query) -> Result<ProbeProgress, HostError> {
    let progress = "SELECT cast(coalesce(sum(row_count), 0) AS BIGINT) AS tools, \
        cast(coalesce(sum(row_count * online), 0) AS BIGINT) AS online, \
        (SELECT count(*) FROM tools_tools WHERE probed_at = 0) AS waiting, \
        (SELECT min(at_s) FROM (SELECT min(updated_at) AS at_s FROM tools_tools WHERE probed_at = 0 \
            UNION ALL SELECT min(probed_at) FROM tools_tools WHERE probed_at > 0) AS oldest) AS oldest_s, \
        (SELECT nullif(max(last_probe_at), 0) FROM tools_tools) AS newest_s FROM tools_tools_counts";
    db.one(sql(progress)).await
}

/// With tools waiting, the job counts as stalled after this long without a probe.
const STALLED_AFTER_S: i64 = 60;

impl ProbeProgress {
    /// Healthy: no tool waits much longer than the interval, or many do after a pause and the job is working through them.
    pub fn is_healthy(&self, interval_s: i64, now_s: i64) -> bool {
        let Some(oldest_s) = self.oldest_s else { return true };
        let works = self.newest_s.is_some_and(|newest_s| now_s - newest_s <= STALLED_AFTER_S);
        now_s - oldest_s <= 3 * interval_s || works
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probes_are_healthy_while_no_tool_waits_long_or_some_are_probed() {
        for (oldest_s, newest_s, is_healthy) in [
            (None, None, true),
            (Some(8200), Some(8200), true),
            (Some(8199), None, false),
            (Some(8199), Some(9939), false),
            // It catches up after a pause.
            (Some(0), Some(9940), true),
        ] {
            let progress = ProbeProgress { oldest_s, newest_s, ..ProbeProgress::default() };
            assert_eq!(progress.is_healthy(600, 10_000), is_healthy, "{oldest_s:?} {newest_s:?}");
        }
    }
}
