//! `GET /api/log/checkpoint`: the newest checkpoint.

use crate::{Transparency, error::LogError, store::published};
use plugin_api::{HandlerError, RequestContext, Route, response::Text};

pub fn route() -> Route<Transparency> {
    Route::get("/api/log/checkpoint", get_log_checkpoint)
        .public()
        .endpoint("log")
        .summary("The newest checkpoint of the transparency log")
        .description(
            "A signed note (c2sp.org/tlog-checkpoint): origin, number of entries and root hash of the Merkle tree over the \
             activity log, a signature, and a cosignature (c2sp.org/tlog-cosignature) with the time. The keys are in the \
             network's manifest, as `log`.",
        )
        .briefing("Transparency log", "signed checkpoint of the activity log; tiles and entries as c2sp.org/tlog-tiles")
        .cache_control("public, max-age=2")
}

async fn get_log_checkpoint(cx: RequestContext<Transparency>) -> Result<Text, HandlerError<LogError>> {
    let note = published::newest(cx.plugin_context()).await?.note;
    Ok(Text(note.ok_or(LogError::NoCheckpoint)?.into()))
}
