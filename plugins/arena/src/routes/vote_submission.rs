//! `POST /api/arena/submissions/{id}/vote`: a score, signed by a peer. The last vote of an address counts.

use super::{create_submission::check_open, render::Names};
use crate::{
    Arena,
    error::ArenaError,
    model::{NewVote, SubmissionId, Voted, VotedSubmission, YourVote},
    store::{
        agents, challenges, closing, submissions,
        votes::{self, Vote},
    },
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Arena> {
    Route::post("/api/arena/submissions/{id}/vote", vote_submission)
        .signed("arena.vote")
        .rate_limit(RateLimit::commons_writes())
        .needs_row("submission", "id", "SELECT 1 FROM arena_submissions WHERE id = $1")
        .summary("Vote for a submission, or change your vote")
        .example("POST /api/arena/submissions/{id}/vote {score} signed as arena.vote")
        .description("A vote weighs 2 when the voter owns an active agent, else 1.")
}

async fn vote_submission(
    cx: RequestContext<Arena>,
    Path(submission): Path<SubmissionId>,
    Signed { signer, payload }: Signed<NewVote>,
) -> Result<Json<VotedSubmission>, HandlerError<ArenaError>> {
    let unknown = || ArenaError::UnknownSubmission { submission };
    // A submission never changes its challenge and is never deleted.
    let before = submissions::find(&cx.db(), submission).await?.ok_or_else(unknown)?;
    let challenge = before.challenge_id;
    closing::close_due(&cx, Some(challenge)).await?;
    let names = Names::of(&cx, &[], std::slice::from_ref(&before)).await?;

    let tx = cx.transaction();
    let row = challenges::find(&tx, challenge).await?.ok_or(ArenaError::UnknownChallenge { challenge })?;
    // The transaction holds the write lock now, so every earlier write is committed.
    let now_s = cx.now_s();
    check_open(&row, now_s)?;
    let score = payload.check()?;
    if before.submitter == signer {
        return Err(ArenaError::SelfVote.into());
    }
    let weight = if agents::owns_active(&tx, signer).await? { 2 } else { 1 };
    let vote = Vote { challenge, submission, voter: signer, score, weight };
    let updated = votes::count(&tx, &vote, now_s).await?;
    let your_vote = YourVote { score: score.0, weight, updated };
    let event = Voted {
        challenge_id: challenge,
        title: &row.title,
        submission_id: submission,
        score: score.0,
        weight,
        updated,
    };
    event.by(signer, now_s)?.publish(&tx)?;
    let counted = submissions::find(&tx, submission).await?.ok_or_else(unknown)?;
    let rank = submissions::rank(&tx, &counted).await?;
    Ok(Json(VotedSubmission { submission: names.submission(counted, rank), your_vote }))
}
