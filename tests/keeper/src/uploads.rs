//! A body that is read in parts, when the test allows it.

use crate::{Cx, Keeper};
use plugin_api::{HandlerError, Json, Route, extract::BodyParts, response::NoContent};
use std::{
    sync::atomic::{AtomicBool, Ordering::SeqCst},
    time::Duration,
};

static MAY_READ: AtomicBool = AtomicBool::new(false);

pub fn routes() -> [Route<Keeper>; 2] {
    [
        Route::post("/api/keeper/uploads", measure_upload).public().body_max_bytes(128 * 1024 * 1024),
        Route::post("/api/keeper/uploads/go", allow_upload).public(),
    ]
}

/// Reads one part, and the others once it is allowed.
async fn measure_upload(cx: Cx, mut body: BodyParts) -> Result<Json<usize>, HandlerError> {
    let mut size = 0;
    while let Some(part) = body.next(&cx).await? {
        size += part.len();
        while !MAY_READ.load(SeqCst) {
            cx.sleep(Duration::from_millis(20)).await;
        }
    }
    Ok(Json(size))
}

async fn allow_upload(_: Cx) -> Result<NoContent, HandlerError> {
    MAY_READ.store(true, SeqCst);
    Ok(NoContent)
}
