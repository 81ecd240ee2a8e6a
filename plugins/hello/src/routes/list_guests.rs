//! `GET /api/hello/guests`: the guest book, page by page.

use crate::{Hello, model, store};
use plugin_api::{HandlerError, Listed, Page, RequestContext, Route};

pub fn route() -> Route<Hello> {
    Route::get("/api/hello/guests", list_guests).public().cached().summary("The guest book, the newest line first")
}

async fn list_guests(
    cx: RequestContext<Hello>,
    Page { limit, offset }: Page<20, 100>,
) -> Result<Listed<model::GuestView, model::GuestPage>, HandlerError> {
    let page = store::GUESTS.page(limit, offset).fetch(&cx.db()).await?;
    Ok(Listed::new(page.rows()?, model::GuestPage { total: page.total })?)
}
