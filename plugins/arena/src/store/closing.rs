//! Closing of challenges: the first read from `endsAt` on determines the winner, once. A challenge whose creator hired an agent
//! for it before is closed by that job, and has no winner (`challenges.rs`).
//!
//! The rule: closing is a transaction of its own, and every vote checks in its own transaction whether the challenge is closed.
//! What a transaction reads holds at its commit, on all gateways, so no vote can be counted between the ranking and the close.

use super::{
    challenges::{ChallengeRow, ROW_COLUMNS},
    submissions::RANKING,
};
use crate::{Arena, model};
use plugin_api::{Address, AgentId, Event, HostError, List, PluginContext, Query, Tx, sql};

const UNCLOSED: List = List::new("arena_challenges", "id").order_by("ends_at, id");
/// The creator hired nobody for it before `endsAt`.
const NOT_HIRED_BEFORE: &str = "NOT EXISTS (SELECT 1 FROM arena_links l WHERE l.challenge_id = arena_challenges.id \
    AND l.client = arena_challenges.creator AND l.requested_at < arena_challenges.ends_at)";

/// Challenges that one transaction closes.
const BATCH_MAX: u32 = 20;

/// Closes this challenge if its time is over; without an id, all whose time is over.
pub async fn close_due(cx: &PluginContext<Arena>, only: Option<model::ChallengeId>) -> Result<(), HostError> {
    loop {
        let unclosed = UNCLOSED.filter_if(true, "closed_at IS NULL").filter("id = {}", only);
        let due = unclosed.filter_if(true, NOT_HIRED_BEFORE).filter("ends_at <= {}", Some(cx.now_s())).first(BATCH_MAX);
        let due: Vec<model::ChallengeId> = due.rows(&cx.db()).await?;
        if due.is_empty() {
            return Ok(());
        }
        cx.write(async move |tx| {
            for challenge in &due {
                close(tx, *challenge).await?;
            }
            Ok(())
        })
        .await?;
    }
}

async fn close(tx: &Tx, challenge: model::ChallengeId) -> Result<(), HostError> {
    let close = sql(format!(
        "UPDATE arena_challenges SET closed_at = ends_at, winner_id = (SELECT s.id FROM arena_submissions s \
         WHERE s.challenge_id = $1 AND s.votes > 0 ORDER BY {RANKING} LIMIT 1) \
         WHERE id = $1 AND closed_at IS NULL AND ends_at <= $2 AND {NOT_HIRED_BEFORE} RETURNING {ROW_COLUMNS}"
    ));
    let closed: Option<ChallengeRow> = tx.row(close.bind((challenge, tx.now_s()))).await?;
    let Some(closed) = closed else { return Ok(()) };
    let winner: Option<(Address, Option<AgentId>)> = match closed.winner_id {
        Some(id) => tx.row(sql("SELECT submitter, agent_id FROM arena_submissions WHERE id = $1").bind(id)).await?,
        None => None,
    };
    let event = model::ChallengeClosed {
        challenge_id: challenge,
        title: &closed.title,
        prize_wei: closed.prize,
        winner_submission_id: closed.winner_id,
        winner: winner.map(|(submitter, _)| submitter),
        winner_agent_id: winner.and_then(|(_, agent)| agent),
        submissions: closed.submissions,
    };
    event.by(closed.creator).at(closed.ends_at).publish(tx)
}
