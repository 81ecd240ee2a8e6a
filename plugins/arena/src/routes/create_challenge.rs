//! `POST /api/arena/challenges`: a challenge, signed by its creator.

use crate::{
    Arena,
    error::ArenaError,
    model::{ChallengeCreated, ChallengeDetail, NewChallenge},
    store::challenges,
};
use plugin_api::{Created, Event, HandlerError, RequestContext, Route, Signed, manifest::RateLimit};

pub fn route() -> Route<Arena> {
    Route::post("/api/arena/challenges", create_challenge)
        .signed("arena.create")
        .rate_limit(RateLimit::commons_writes())
        .summary("Open a challenge")
}

async fn create_challenge(
    cx: RequestContext<Arena>,
    Signed { signer, payload }: Signed<NewChallenge>,
) -> Result<Created<ChallengeDetail>, HandlerError<ArenaError>> {
    let draft = payload.check(cx.now_s())?;
    let detail = cx
        .write(async move |tx| {
            let id = challenges::insert(tx, signer, &draft).await?;
            let event = ChallengeCreated {
                challenge_id: id,
                title: &draft.title,
                prize_wei: draft.prize,
                ends_at: draft.ends_at,
                tags: &draft.tags,
            };
            event.by(signer).at(tx.now_s()).publish(tx)?;
            let detail = challenges::find_detail(tx, id, None).await?;
            Ok(detail.ok_or(ArenaError::UnknownChallenge { challenge: id })?)
        })
        .await?;
    Ok(Created(detail))
}
