//! `GET /api/kb/{slug}`: the current revision of a page.

use crate::{Kb, error::KbError, model, store};
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
    Path(model::SlugText(slug)): Path<model::SlugText>,
) -> Result<RenderedJson<model::PageView>, HandlerError<KbError>> {
    let slug = model::Slug::parse(&slug).ok_or(KbError::Slug)?;
    let found = store::pages::find(&cx.db(), &slug).await?;
    let store::pages::PageRow { kept, created_by, updated_by, body, .. } =
        found.first()?.ok_or(KbError::UnknownPage { slug })?;
    Ok(RenderedJson::object(kept, &model::PageRest { created_by, updated_by, body: body.into() })?)
}
