//! `GET /api/kb/{slug}`: the current revision of a page.

use crate::{
    Kb,
    error::KbError,
    model::{PageRest, PageView, Slug, SlugText},
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
    let slug = Slug::parse(&slug)?;
    let found = pages::find(&cx.db(), &slug).await?;
    let PageRow { kept, created_by, updated_by, body, .. } = found.first()?.ok_or(KbError::UnknownPage { slug })?;
    Ok(RenderedJson::object(kept, &PageRest { created_by, updated_by, body: body.into() })?)
}
