//! `GET /api/bounties`: bounties by age, reward, deadline or activity, with filters.

use super::render;
use crate::{
    Bounties,
    error::BountyError,
    model::{BountyView, Sort, Status, StatusFilter},
    store::state::{self, Filter, PageRequest},
};
use plugin_api::{
    Address, HandlerError, JsonSchema, Page, QueryString, RenderedJson, RequestContext, Route, Search, format, lenient,
};
use serde::{Deserialize, Serialize};

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
    #[schemars(with = "Option<Status>")]
    status: StatusFilter,
    /// An unknown order is `new`.
    #[serde(default, deserialize_with = "lenient")]
    sort: Sort,
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

#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
struct BountyList {
    items: Vec<BountyView>,
    #[schemars(flatten)]
    rest: Rest,
}

#[derive(Serialize, JsonSchema)]
struct Rest {
    /// How many bounties match, on all pages.
    total: i64,
}

async fn list_bounties(
    cx: RequestContext<Bounties>,
    QueryString(query): QueryString<BountyFilter>,
    Page { limit, offset }: Page<25, 100>,
) -> Result<RenderedJson<BountyList>, HandlerError<BountyError>> {
    let poster = match query.poster.as_deref().unwrap_or_default().trim() {
        "" => None,
        address => Some(address.parse().map_err(BountyError::PosterFilter)?),
    };
    let filter = Filter {
        status: query.status.status()?,
        search: Search::new(&cx, &query.q),
        tag: Some(format::tag(&query.tag)).filter(|tag| !tag.is_empty()),
        poster,
        ..Filter::default()
    };
    let window = PageRequest { sort: query.sort, limit, offset };
    let (page, total) = state::list(&cx.db(), cx.plugin().state_params(&cx), &filter, window).await?;
    let rows = page.rows()?;
    let authors = cx.authors(rows.iter().map(|row| row.poster)).await?;
    let items = rows.iter().map(|row| (row.kept, render::state(row, &authors)));
    Ok(RenderedJson::list("items", items, &Rest { total })?)
}
