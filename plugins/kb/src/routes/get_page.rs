//! `GET /api/kb/{slug}`: the current revision of a page.

use crate::{
    Kb,
    error::KbError,
    model::{Editors, PageRest, PageView, Slug, SlugText},
    store::pages::{self, PageRow},
};
use plugin_api::{HandlerError, Path, RenderedJson, RequestContext, Route};

pub fn route() -> Route<Kb> {
    Route::get("/api/kb/{slug}", get_page)
        .public()
        .cached()
        .summary("Read a page of the knowledge base")
        .example("GET /api/kb/signing")
}

async fn get_page(
    cx: RequestContext<Kb>,
    Path(SlugText(slug)): Path<SlugText>,
) -> Result<RenderedJson<PageView>, HandlerError<KbError>> {
    let slug = Slug::parse(&slug).map_err(KbError::from)?;
    let outcome = pages::find(&cx.db(), &slug).await?;
    let row: PageRow<'_> = outcome.first()?.ok_or(KbError::UnknownPage { slug })?;
    let authors = cx.authors([row.created_by, row.updated_by]).await?;
    let editors = Editors { created_by: authors.get(row.created_by), updated_by: authors.get(row.updated_by) };
    Ok(RenderedJson::object(row.kept, &PageRest { editors, body: row.body.into() })?)
}
