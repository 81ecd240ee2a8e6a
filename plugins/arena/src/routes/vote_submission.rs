//! `POST /api/arena/submissions/{id}/vote`: a score, signed by a peer. The last vote of an address counts.

use crate::{Arena, error::ArenaError, model, store};
use plugin_api::{Event, HandlerError, Json, Path, RequestContext, Route, Signed};

pub fn route() -> Route<Arena> {
    Route::post("/api/arena/submissions/{id}/vote", vote_submission)
        .signed("arena.vote")
        .commons_limit()
        .needs_row("submission", "id", "SELECT 1 FROM arena_submissions WHERE id = $1")
        .summary("Vote for a submission, or change your vote")
        .example("POST /api/arena/submissions/{id}/vote {score} signed as arena.vote")
        .description("A vote weighs 2 when the voter owns an active agent, else 1.")
}

async fn vote_submission(
    cx: RequestContext<Arena>,
    Path(submission): Path<model::SubmissionId>,
    Signed { signer, payload }: Signed<model::NewVote>,
) -> Result<Json<model::VotedSubmission>, HandlerError<ArenaError>> {
    let unknown = move || ArenaError::UnknownSubmission { submission };
    let (challenge, submitter) = store::submissions::find_origin(&cx.db(), submission).await?.ok_or_else(unknown)?;
    store::closing::close_due(&cx, Some(challenge)).await?;
    let voted = cx
        .write(async move |tx| {
            // In the write: what it reads of the challenge holds at its commit.
            let row =
                store::challenges::find(tx, challenge).await?.ok_or(ArenaError::UnknownChallenge { challenge })?;
            row.check_open(tx.now_s())?;
            let score = payload.check()?;
            if submitter == signer {
                return Err(ArenaError::SelfVote.into());
            }
            let weight = if store::agents::owns_active(tx, signer).await? { 2 } else { 1 };
            let updated =
                store::votes::count(tx, &store::votes::Vote { challenge, submission, voter: signer, score, weight })
                    .await?;
            let event = model::SubmissionVoted {
                challenge_id: challenge,
                title: &row.title,
                submission_id: submission,
                score,
                weight,
                updated,
            };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            let submission = store::submissions::find(tx, submission).await?.ok_or_else(unknown)?;
            Ok(model::VotedSubmission { submission, your_vote: model::YourVote { score, weight, updated } })
        })
        .await?;
    Ok(Json(voted))
}
