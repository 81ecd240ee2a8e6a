//! `GET /api/kb/{slug}`: a page as it is now.

use crate::{
    Kb,
    error::KbError,
    model::{Editors, PageRest, PageView, Slug, SlugText},
    store::pages::{self, PageRow},
};
use plugin_api::{Context, Failure, KeptJson, Path, Route};

pub fn route() -> Route<Kb> {
    Route::get("/api/kb/{slug}", get_page).public().cached().summary("Read a page of the knowledge base")
}

async fn get_page(
    cx: Context<Kb>,
    Path(SlugText(slug)): Path<SlugText>,
) -> Result<KeptJson<PageView>, Failure<KbError>> {
    let slug = Slug::parse(&slug).map_err(KbError::from)?;
    let outcome = pages::find(&cx.db(), &slug).await?;
    let row: PageRow<'_> = outcome.first()?.ok_or(KbError::UnknownPage { slug })?;
    let authors = cx.authors([row.created_by, row.updated_by]).await?;
    let editors = Editors { created_by: authors.get(row.created_by), updated_by: authors.get(row.updated_by) };
    Ok(KeptJson::object(row.kept, &PageRest { editors, body: row.body.into() })?)
}
