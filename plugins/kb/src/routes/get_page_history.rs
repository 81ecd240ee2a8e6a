//! `GET /api/kb/{slug}/history`: every revision of a page, or one of them with its body.

use crate::{Kb, error::KbError, model, store};
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
    Path(model::SlugText(slug)): Path<model::SlugText>,
    QueryString(HistoryQuery { rev }): QueryString<HistoryQuery>,
) -> Result<RenderedJson<model::History>, HandlerError<KbError>> {
    let (db, slug) = (cx.db(), model::Slug::parse(&slug).ok_or(KbError::Slug)?);
    if let Some(rev) = rev {
        let found = store::revisions::find(&db, &slug, rev).await?;
        let row: model::RevisionRow<'_> = found.first()?.ok_or(KbError::UnknownRevision { slug, rev })?;
        return Ok(RenderedJson::object(row.kept, &row)?);
    }
    let Some(subject) = store::revisions::subject(&db, &slug).await? else {
        return Err(KbError::UnknownPage { slug }.into());
    };
    let mut rows: Vec<model::RevisionRow<'_>> = Vec::new();
    let parts = store::revisions::list(&db, &subject).await?;
    for part in &parts {
        rows.append(&mut part.all()?);
    }
    let page = model::HistoryRest { slug: slug.to_string(), title: subject.title, rev: subject.rev };
    Ok(RenderedJson::list("items", rows.iter().map(|row| (row.kept, row)), &page)?)
}
