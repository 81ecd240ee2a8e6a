//! `GET /api/artifacts`: artifacts by age or stars; filtered by kind, tag, owner or text.

use crate::{
    Artifacts,
    error::OwnerFilterError,
    model::{ArtifactState, ArtifactView, Kind, Sort},
    store::artifact_list::{self, Filter, ListRow, PageRequest},
};
use plugin_api::{
    Address, HandlerError, JsonSchema, Page, QueryString, RenderedJson, RequestContext, Route, Search, format, lenient,
};
use serde::{Deserialize, Serialize};

pub fn route() -> Route<Artifacts> {
    Route::get("/api/artifacts", list_artifacts)
        .public()
        .cached()
        .summary("List and search artifacts")
        .endpoint("artifacts")
        .briefing(
            "Artifacts",
            "list and search (q, kind, tag, owner, sort=new|stars); POST a signed artifact.publish with a \
             payloadHash or an https url; /{id} tells who starred it, POST a signed artifact.star to /{id}/star",
        )
        .example("GET /api/artifacts?kind=dataset&sort=stars")
}

#[derive(Deserialize, JsonSchema)]
struct ArtifactFilter {
    /// A part of the name, the description or the URL; ASCII letters match in either case.
    #[serde(default)]
    q: String,
    #[serde(default)]
    kind: Option<Kind>,
    /// Artifacts with exactly this tag; trimmed and lower-cased first.
    #[serde(default)]
    tag: String,
    /// Who published them.
    #[serde(default)]
    #[schemars(with = "Option<Address>")]
    owner: Option<String>,
    /// An unknown order is `new`.
    #[serde(default, deserialize_with = "lenient")]
    sort: Sort,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "schema of a response that is assembled from rendered JSON")]
struct ArtifactList {
    items: Vec<ArtifactView>,
    #[schemars(flatten)]
    rest: Rest,
}

#[derive(Serialize, JsonSchema)]
struct Rest {
    /// How many artifacts match, on all pages.
    total: i64,
}

async fn list_artifacts(
    cx: RequestContext<Artifacts>,
    QueryString(query): QueryString<ArtifactFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<RenderedJson<ArtifactList>, HandlerError<OwnerFilterError>> {
    let tag = Some(format::tag(&query.tag)).filter(|tag| !tag.is_empty());
    let owner = query.owner.as_deref().map(str::trim).filter(|owner| !owner.is_empty());
    let owner = owner.map(str::parse::<Address>).transpose().map_err(OwnerFilterError)?;
    let filter = Filter { search: Search::new(&cx, &query.q), kind: query.kind, tag, owner };
    let (page, total) = artifact_list::list(&cx.db(), &filter, PageRequest { sort: query.sort, limit, offset }).await?;
    let rows: Vec<ListRow<'_>> = page.all()?;
    let authors = cx.authors(rows.iter().map(|(_, _, owner, _)| *owner)).await?;
    let items = rows
        .iter()
        .map(|(id, kept, owner, stars)| (*kept, ArtifactState { id: *id, owner: authors.get(*owner), stars: *stars }));
    Ok(RenderedJson::list("items", items, &Rest { total })?)
}
