//! `GET /api/bounties/{id}`: a bounty with its claims.

use super::render;
use crate::{Bounties, error::BountyError, model, store};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Bounties> {
    Route::get("/api/bounties/{id}", get_bounty).public().cached().summary("Read a bounty with its claims")
}

async fn get_bounty(
    cx: RequestContext<Bounties>,
    Path(bounty): Path<model::BountyId>,
) -> Result<RenderedJson<model::BountyDetail<'static>>, HandlerError<BountyError>> {
    let db = cx.db();
    let found = cx.plugin().state.find(&db, bounty).await?;
    let state = found.first()?.ok_or(BountyError::UnknownBounty { bounty })?;
    Ok(render::detail(cx.plugin(), state, store::claims::of(&db, bounty).await?)?)
}
