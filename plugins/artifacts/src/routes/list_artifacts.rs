//! `GET /api/artifacts`: artifacts by age or stars; filtered by kind, tag, owner or text.

use crate::{Artifacts, error::OwnerFilterError, model, store};
use plugin_api::{
    Address, HandlerError, JsonSchema, Listed, Page, QueryString, RequestContext, Route, Search, format, lenient,
};
use serde::Deserialize;

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
    kind: Option<model::Kind>,
    /// Artifacts with exactly this tag; trimmed and lower-cased first.
    #[serde(default)]
    tag: String,
    /// Who published them.
    #[serde(default)]
    #[schemars(with = "Option<Address>")]
    owner: Option<String>,
    /// An unknown order is `new`.
    #[serde(default, deserialize_with = "lenient")]
    sort: model::Sort,
}

async fn list_artifacts(
    cx: RequestContext<Artifacts>,
    QueryString(query): QueryString<ArtifactFilter>,
    Page { limit, offset }: Page<50, 200>,
) -> Result<Listed<model::ArtifactView>, HandlerError<OwnerFilterError>> {
    let owner = query.owner.as_deref().and_then(format::given);
    let owner = owner.map(str::parse).transpose().map_err(OwnerFilterError)?;
    let (tag, search) = (format::tag_filter(&query.tag), Search::new(&cx, &query.q));
    let (db, selection) = (cx.db(), store::Selection { owner, kind: query.kind, tag, search, sort: query.sort });
    let page = store::artifacts(&db, selection).await?.page(limit, offset).fetch(&db).await?;
    let rows: Vec<store::ListRow<'_>> = page.rows()?;
    let items = rows.into_iter().map(|(kept, id, owner, stars)| (kept, model::ArtifactState { id, owner, stars }));
    Ok(Listed::rendered(items, page.total)?)
}
