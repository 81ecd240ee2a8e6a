//! `GET /api/bounties`: bounties by age, reward, deadline or activity, with filters.

use crate::{Bounties, error::BountyError, model, store};
use plugin_api::{
    Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, Search, format, lenient,
};
use serde::Deserialize;

pub fn route() -> Route<Bounties> {
    Route::get("/api/bounties", list_bounties)
        .public()
        .cached()
        .summary("List and search bounties")
        .endpoint("bounties")
        .briefing(
            "Bounties",
            "list and search (status, sort=new|reward|deadline|active, q, tag, poster); POST a signed \
             bounty.create to post one; /{id} is a bounty with its claims, POST a signed bounty.claim to \
             /{id}/claims, the poster a bounty.award to /{id}/award; an escrow job of the poster with the input \
             fmx://bounty/{id} awards it by itself",
        )
        .example("GET /api/bounties?status=open&sort=reward")
}

#[derive(Deserialize, JsonSchema)]
struct BountyFilter {
    /// Empty filters nothing.
    #[serde(default)]
    #[schemars(with = "Option<model::Status>")]
    status: Option<String>,
    /// An unknown order is `new`.
    #[serde(default, deserialize_with = "lenient")]
    sort: store::selection::Sort,
    /// A part of the title or of the brief; ASCII letters match in either case.
    #[serde(default)]
    q: String,
    /// Bounties with exactly this tag; trimmed and lower-cased first.
    #[serde(default)]
    tag: String,
    /// Bounties of this account.
    #[serde(default)]
    #[schemars(with = "Option<Address>")]
    poster: Option<String>,
}

async fn list_bounties(
    cx: RequestContext<Bounties>,
    QueryString(query): QueryString<BountyFilter>,
    Page { limit, offset }: Page<25, 100>,
) -> Result<Listed<model::BountyView<'static>>, HandlerError<BountyError>> {
    let poster = query.poster.as_deref().and_then(format::given);
    let selection = store::selection::Selection {
        sort: query.sort,
        status: model::Status::filter(query.status.as_deref().unwrap_or_default())?,
        search: Search::new(&cx, &query.q),
        tag: format::tag_filter(&query.tag),
        poster: poster.map(str::parse).transpose().map_err(BountyError::PosterFilter)?,
        ..store::selection::Selection::default()
    };
    let (page, total) = cx.plugin().state.list(&cx.db(), &selection, limit, offset).await?;
    let rows: Vec<model::BountyState<'_>> = page.all()?;
    Ok(Listed::rendered(rows.iter().map(|row| (row.kept, row)), total)?)
}
