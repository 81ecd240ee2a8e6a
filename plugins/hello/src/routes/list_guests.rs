//! `GET /api/hello/guests`: the guest book, page by page.

use crate::{Hello, model::GuestPage, store};
use plugin_api::{HandlerError, Json, Page, RequestContext, Route};

pub fn route() -> Route<Hello> {
    Route::get("/api/hello/guests", list_guests).public().cached().summary("The guest book, the newest line first")
}

async fn list_guests(cx: RequestContext<Hello>, page: Page<20, 100>) -> Result<Json<GuestPage>, HandlerError> {
    let db = cx.db();
    let items = store::list_guests(&db, page.limit, page.offset).await?;
    let total = store::count_guests(&db).await?;
    Ok(Json(GuestPage { items, total }))
}
