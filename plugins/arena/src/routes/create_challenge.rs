//! `POST /api/arena/challenges`: a challenge, signed by its creator.

use super::render;
use crate::{
    Arena,
    error::ArenaError,
    model::{ChallengeDetail, Created as CreatedEvent, NewChallenge},
    store::challenges::{self, ChallengeRow},
};
use plugin_api::{Created, HandlerError, RequestContext, Route, Signed, manifest::RateLimit};

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
    let now_s = cx.now_s();
    let draft = payload.check(now_s)?;
    let tx = cx.transaction();
    let id = challenges::insert(&tx, signer, &draft, now_s).await?;
    let event = CreatedEvent {
        challenge_id: id,
        title: &draft.title,
        prize_wei: draft.prize,
        ends_at: draft.ends_at,
        tags: &draft.tags,
    };
    event.by(signer, now_s)?.publish(&tx)?;
    let row: ChallengeRow = challenges::find(&tx, id).await?.ok_or(ArenaError::UnknownChallenge { challenge: id })?;
    Ok(Created(render::detail(&cx, &tx, row, None).await?))
}
