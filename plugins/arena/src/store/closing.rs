//! Closing of challenges: the first read from `endsAt` on determines the winner, once.
//!
//! The rule: closing is one statement in a transaction of its own, and every vote checks in its own transaction whether the
//! challenge is closed. The transactions of a plugin are serialised across all gateways, so no vote can be counted between
//! the ranking and the close.

use crate::{
    Arena,
    model::{ChallengeId, Closed},
    store::{challenges, submissions},
};
use plugin_api::{HostError, PluginContext, Query, Tx, sql};

/// Challenges that one transaction closes.
const BATCH_MAX: u32 = 20;

/// Closes this challenge if its time is over; without an id, all whose time is over.
pub async fn close_due(cx: &PluginContext<Arena>, only: Option<ChallengeId>) -> Result<(), HostError> {
    loop {
        let now_s = cx.now_s();
        let due = due(&cx.db(), only, now_s).await?;
        if due.is_empty() {
            return Ok(());
        }
        let tx = cx.begin();
        for challenge in due {
            close(&tx, challenge, now_s).await?;
        }
        tx.commit().await?;
    }
}

async fn due(db: &impl Query, only: Option<ChallengeId>, now_s: i64) -> Result<Vec<ChallengeId>, HostError> {
    let due = sql("SELECT id FROM arena_challenges WHERE closed_at IS NULL AND ends_at <= $1").bind(now_s);
    let due = match only {
        Some(challenge) => due.push_bind(" AND id = {}", challenge),
        None => due,
    };
    db.rows(due.push_bind(" ORDER BY ends_at, id LIMIT {}", BATCH_MAX)).await
}

async fn close(tx: &Tx, challenge: ChallengeId, now_s: i64) -> Result<(), HostError> {
    let close = sql(format!(
        "UPDATE arena_challenges SET closed_at = ends_at, winner_id = (SELECT s.id FROM arena_submissions s \
         WHERE s.challenge_id = $1 AND s.votes > 0 ORDER BY {} LIMIT 1) \
         WHERE id = $1 AND closed_at IS NULL AND ends_at <= $2",
        submissions::RANKING
    ));
    if tx.execute(close.bind(challenge).bind(now_s)).await? == 0 {
        return Ok(());
    }
    let Some(row) = challenges::find(tx, challenge).await? else { return Ok(()) };
    let winner = match row.winner_id {
        Some(winner) => submissions::find(tx, winner).await?,
        None => None,
    };
    let closed = Closed {
        challenge_id: challenge,
        title: &row.title,
        prize_wei: row.prize,
        winner_submission_id: row.winner_id,
        winner: winner.as_ref().map(|winner| winner.submitter),
        winner_agent_id: winner.as_ref().and_then(|winner| winner.agent_id),
        submissions: row.submissions,
    };
    closed.by(row.creator, row.ends_at)?.unique_key(format!("arena.close:{challenge}")).publish(tx)
}
