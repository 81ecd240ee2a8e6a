//! `POST /api/arena/challenges`: a challenge, signed by its creator.

use crate::{Arena, error::ArenaError, model, store};
use plugin_api::{Created, Event, HandlerError, RequestContext, Route, Signed};

pub fn route() -> Route<Arena> {
    Route::post("/api/arena/challenges", create_challenge)
        .signed("arena.create")
        .commons_limit()
        .summary("Open a challenge")
}

async fn create_challenge(
    cx: RequestContext<Arena>,
    Signed { signer, payload }: Signed<model::NewChallenge>,
) -> Result<Created<model::ChallengeDetail>, HandlerError<ArenaError>> {
    let draft = payload.check(cx.now_s())?;
    let detail = cx
        .write(async move |tx| {
            let id = store::challenges::insert(tx, signer, &draft).await?;
            let event = model::ChallengeCreated {
                challenge_id: id,
                title: &draft.title,
                prize_wei: draft.prize,
                ends_at: draft.ends_at,
                tags: &draft.tags,
            };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            let detail = store::challenges::find_detail(tx, id, None).await?;
            Ok(detail.ok_or(ArenaError::UnknownChallenge { challenge: id })?)
        })
        .await?;
    Ok(Created(detail))
}
