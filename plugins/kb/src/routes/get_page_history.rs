//! `GET /api/kb/{slug}/history`: every revision of a page, or one of them with its body.

use crate::{
    Kb,
    error::KbError,
    model::{History, HistoryRest, RevisionRest, Slug, SlugText},
    store::revisions::{self, FullRevisionRow},
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
    let slug = Slug::parse(&slug).map_err(KbError::from)?;
    match rev {
        Some(rev) => one(&cx, slug, rev).await,
        None => all(&cx, slug).await,
    }
}

async fn all(cx: &RequestContext<Kb>, slug: Slug) -> Result<RenderedJson<History>, HandlerError<KbError>> {
    let db = cx.db();
    let Some(subject) = revisions::subject(&db, &slug).await? else {
        return Err(KbError::UnknownPage { slug }.into());
    };
    let stored = revisions::list(&db, &subject).await?;
    let rows = stored.rows()?;
    let authors = cx.authors(rows.iter().map(|row| row.author)).await?;
    let items = rows.iter().map(|row| {
        let rest = RevisionRest { id: row.id, author: authors.get(row.author), body: None };
        (row.kept, rest)
    });
    let page = HistoryRest { slug: slug.as_str(), title: &subject.title, rev: subject.rev };
    Ok(RenderedJson::list("items", items, &page)?)
}

async fn one(cx: &RequestContext<Kb>, slug: Slug, rev: i64) -> Result<RenderedJson<History>, HandlerError<KbError>> {
    let outcome = revisions::find(&cx.db(), &slug, rev).await?;
    let row: FullRevisionRow<'_> = outcome.first()?.ok_or(KbError::UnknownRevision { slug, rev })?;
    let author = cx.authors([row.author]).await?.get(row.author);
    Ok(RenderedJson::object(row.kept, &RevisionRest { id: row.id, author, body: Some(row.body.into()) })?)
}
