//! `GET /api/kb/{slug}/history`: every revision of a page, or one of them with its body.

use crate::{
    Kb,
    error::KbError,
    model::{History, HistoryRest, RevisionRow, Slug, SlugText},
    store::revisions,
};
use plugin_api::{HandlerError, JsonSchema, Path, QueryString, RenderedJson, RequestContext, Route};
use serde::Deserialize;

pub fn route() -> Route<Kb> {
    Route::get("/api/kb/{slug}/history", get_page_history)
        .public()
        .cached()
        .summary("List the revisions of a page, or read one")
}

#[derive(Deserialize, JsonSchema)]
struct HistoryQuery {
    /// The number of one revision, which is then answered with its body.
    rev: Option<i64>,
}

async fn get_page_history(
    cx: RequestContext<Kb>,
    Path(SlugText(slug)): Path<SlugText>,
    QueryString(HistoryQuery { rev }): QueryString<HistoryQuery>,
) -> Result<RenderedJson<History>, HandlerError<KbError>> {
    let (db, slug) = (cx.db(), Slug::parse(&slug)?);
    if let Some(rev) = rev {
        let found = revisions::find(&db, &slug, rev).await?;
        let row: RevisionRow<'_> = found.first()?.ok_or(KbError::UnknownRevision { slug, rev })?;
        return Ok(RenderedJson::object(row.kept, &row)?);
    }
    let Some(subject) = revisions::subject(&db, &slug).await? else {
        return Err(KbError::UnknownPage { slug }.into());
    };
    let mut rows: Vec<RevisionRow<'_>> = Vec::new();
    let parts = revisions::list(&db, &subject).await?;
    for part in &parts {
        rows.append(&mut part.all()?);
    }
    let page = HistoryRest { slug: slug.to_string(), title: subject.title, rev: subject.rev };
    Ok(RenderedJson::list("items", rows.iter().map(|row| (row.kept, row)), &page)?)
}
