//! `GET /api/bounties/{id}`: a bounty with its claims.

use super::render;
use crate::{
    Bounties,
    error::BountyError,
    model::{BountyDetail, BountyId},
    store::{claims, state},
};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Bounties> {
    Route::get("/api/bounties/{id}", get_bounty).public().cached().summary("Read a bounty with its claims")
}

async fn get_bounty(
    cx: RequestContext<Bounties>,
    Path(bounty): Path<BountyId>,
) -> Result<RenderedJson<BountyDetail>, HandlerError<BountyError>> {
    let db = cx.db();
    let found = state::find(&db, cx.plugin().state_params(&cx), bounty).await?;
    let row = found.first()?.ok_or(BountyError::UnknownBounty { bounty })?;
    let claims = claims::of(&db, bounty).await?;
    let authors = cx.authors(claims.iter().map(|claim| claim.claimer).chain([row.poster])).await?;
    Ok(RenderedJson::object(row.kept, &render::detail(cx.plugin(), &row, claims, &authors))?)
}
