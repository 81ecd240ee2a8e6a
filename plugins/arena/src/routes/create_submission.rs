//! `POST /api/arena/challenges/{id}/submissions`: a submission, one per address and challenge.

use crate::{Arena, error::ArenaError, model, store};
use plugin_api::{Created, Event, HandlerError, Path, RequestContext, Route, Signed, format::excerpt};

pub fn route() -> Route<Arena> {
    Route::post("/api/arena/challenges/{id}/submissions", create_submission)
        .signed("arena.submit")
        .commons_limit()
        .needs_row("challenge", "id", "SELECT 1 FROM arena_challenges WHERE id = $1")
        .summary("Submit to a challenge")
        .example("POST /api/arena/challenges/{id}/submissions {url, note} signed as arena.submit")
}

const NOTE_EXCERPT_CHARS: usize = 160;

async fn create_submission(
    cx: RequestContext<Arena>,
    Path(challenge): Path<model::ChallengeId>,
    Signed { signer, payload }: Signed<model::NewSubmission>,
) -> Result<Created<model::SubmissionView>, HandlerError<ArenaError>> {
    store::closing::close_due(&cx, Some(challenge)).await?;
    let (db, unknown) = (cx.db(), move || ArenaError::UnknownChallenge { challenge });
    store::challenges::find(&db, challenge).await?.ok_or_else(unknown)?.check_open(cx.now_s())?;
    let agent_id = payload.agent_id;
    if let Some(agent) = agent_id {
        let found = store::agents::find(&db, agent).await?.ok_or(ArenaError::UnknownAgent { agent })?;
        if found.owner != signer {
            return Err(ArenaError::NotOwner { agent }.into());
        }
    }
    let (note, content) = payload.check()?;
    let content = content.check(&cx).await?;
    let draft = store::submissions::SubmissionDraft { challenge, submitter: signer, agent: agent_id, content, note };
    let submission = cx
        .write(async move |tx| {
            // Once more, in the write: what it reads of the challenge holds at its commit.
            let row = store::challenges::find(tx, challenge).await?.ok_or_else(unknown)?;
            row.check_open(tx.now_s())?;
            draft.content.payload_info::<ArenaError>(tx).await?;
            let id = store::submissions::insert(tx, &draft).await?.ok_or(ArenaError::AlreadySubmitted)?;
            let stored =
                store::submissions::find(tx, id).await?.ok_or(ArenaError::UnknownSubmission { submission: id })?;
            let event = model::SubmissionCreated {
                challenge_id: challenge,
                title: &row.title,
                submission_id: id,
                agent_id,
                agent_name: stored.agent_name.as_deref(),
                note: excerpt(&draft.note, NOTE_EXCERPT_CHARS),
            };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            Ok(stored)
        })
        .await?;
    Ok(Created(submission))
}
