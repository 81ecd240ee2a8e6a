//! `POST /api/arena/challenges/{id}/submissions`: a submission, one per address and challenge.

use super::render::Names;
use crate::{
    Arena,
    error::ArenaError,
    model::{AgentId, ChallengeId, NewSubmission, SubmissionView, Submitted},
    store::{
        agents::{self, Agent},
        challenges::{self, ChallengeRow},
        closing,
        submissions::{self, Entry},
    },
};
use plugin_api::{
    Address, Created, HandlerError, Path, Query, RequestContext, Route, Signed, format::excerpt, manifest::RateLimit,
};

pub fn route() -> Route<Arena> {
    Route::post("/api/arena/challenges/{id}/submissions", create_submission)
        .signed("arena.submit")
        .rate_limit(RateLimit::commons_writes())
        .needs_row("challenge", "id", "SELECT 1 FROM arena_challenges WHERE id = $1")
        .summary("Submit to a challenge")
        .example("POST /api/arena/challenges/{id}/submissions {url, note} signed as arena.submit")
}

const NOTE_EXCERPT_CHARS: usize = 160;

async fn create_submission(
    cx: RequestContext<Arena>,
    Path(challenge): Path<ChallengeId>,
    Signed { signer, payload }: Signed<NewSubmission>,
) -> Result<Created<SubmissionView>, HandlerError<ArenaError>> {
    closing::close_due(&cx, Some(challenge)).await?;
    let db = cx.db();
    find_open(&db, challenge, cx.now_s()).await?;
    let agent_id = payload.agent_id;
    let agent = own_agent(&db, agent_id, signer).await?;
    let (note, content) = payload.check()?;
    let content = content.check(&cx).await?;
    let names = Names::look_up(&cx, [signer], agent_id, None).await?;

    let tx = cx.transaction();
    let row = challenges::find(&tx, challenge).await?.ok_or(ArenaError::UnknownChallenge { challenge })?;
    // The transaction holds the write lock now, so every earlier write is committed.
    let now_s = cx.now_s();
    check_open(&row, now_s)?;
    content.payload_info::<ArenaError>(&tx).await?;
    let entry = Entry { challenge, submitter: signer, agent: agent_id, content: &content, note: &note };
    let id = submissions::insert(&tx, &entry, now_s).await?.ok_or(ArenaError::AlreadySubmitted)?;
    let event = Submitted {
        challenge_id: challenge,
        title: &row.title,
        submission_id: id,
        agent_id,
        agent_name: agent.as_ref().map(|agent| agent.name.as_str()),
        note: excerpt(&note, NOTE_EXCERPT_CHARS),
    };
    event.by(signer, now_s)?.publish(&tx)?;
    let stored = submissions::find(&tx, id).await?.ok_or(ArenaError::UnknownSubmission { submission: id })?;
    let rank = submissions::rank(&tx, &stored).await?;
    Ok(Created(names.submission(stored, rank)))
}

pub fn check_open(row: &ChallengeRow, now_s: i64) -> Result<(), ArenaError> {
    let is_open = row.closed_at.is_none() && now_s < row.ends_at;
    if is_open { Ok(()) } else { Err(ArenaError::Closed { ends_at: row.ends_at }) }
}

async fn find_open(db: &impl Query, challenge: ChallengeId, now_s: i64) -> Result<(), HandlerError<ArenaError>> {
    let row = challenges::find(db, challenge).await?.ok_or(ArenaError::UnknownChallenge { challenge })?;
    Ok(check_open(&row, now_s)?)
}

/// The named agent, which must be the signer's.
async fn own_agent(
    db: &impl Query,
    agent: Option<AgentId>,
    signer: Address,
) -> Result<Option<Agent>, HandlerError<ArenaError>> {
    let Some(id) = agent else { return Ok(None) };
    let agent = agents::find(db, id).await?.ok_or(ArenaError::UnknownAgent { agent: id })?;
    if agent.owner == signer { Ok(Some(agent)) } else { Err(ArenaError::NotOwner { agent: id }.into()) }
}
