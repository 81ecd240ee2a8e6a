//! `GET /api/bounties`: bounties by age, reward, deadline or activity, with filters.

use super::render;
use crate::{
    Bounties,
    error::BountyError,
    model::{BountyView, Sort, Status, StatusFilter},
    store::state::{self, Filter, Window},
};
use plugin_api::{
    Address, Failure, JsonSchema, Page, QueryString, RenderedJson, RequestContext, Route, Search, format, lenient,
};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Bounties> {
    Route::get("/api/bounties", list_bounties).public().cached().summary("List and search bounties")
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
#[expect(dead_code, reason = "it describes what is made of kept JSON")]
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
    QueryString(given): QueryString<BountyFilter>,
    Page { limit, offset }: Page<25, 100>,
) -> Result<RenderedJson<BountyList>, Failure<BountyError>> {
    let poster = match given.poster.as_deref().unwrap_or_default().trim() {
        "" => None,
        address => Some(address.parse().map_err(BountyError::PosterFilter)?),
    };
    let filter = Filter {
        status: given.status.status()?,
        search: Search::new(&cx, &given.q),
        tag: Some(format::tag(&given.tag)).filter(|tag| !tag.is_empty()),
        poster,
        ..Filter::default()
    };
    let window = Window { sort: given.sort, limit, offset };
    let (page, total) = state::list(&cx.db(), cx.plugin().terms(&cx), &filter, window).await?;
    let rows = page.rows()?;
    let authors = cx.authors(rows.iter().map(|row| row.poster)).await?;
    let items = rows.iter().map(|row| (row.kept, render::state(row, &authors)));
    Ok(RenderedJson::list("items", items, &Rest { total })?)
}
