//! `GET /api/log/tile/entries/{bundle}`: entries of the log.

use super::{Bytes, IMMUTABLE, bytes};
use crate::{
    Transparency,
    error::LogError,
    model::{TILE_WIDTH, TilePath},
    store::{leaves, published},
};
use plugin_api::{HandlerError, Path, RequestContext, Route, response::RawResponse};

pub fn route() -> Route<Transparency> {
    Route::get("/api/log/tile/entries/{*bundle}", get_log_entries)
        .public()
        .summary("A bundle of entries of the transparency log")
        .description(
            "As c2sp.org/tlog-tiles: up to 256 entries, each behind its length in two bytes. An entry is the canonical JSON \
             (RFC 8785) of an event of the activity log: id, type, ts, actor, ref and data as they were published. Events that \
             were retracted later stay, and so does the event that retracts them.",
        )
        .example("GET /api/log/tile/entries/000.p/1")
        .cache_control(IMMUTABLE)
        .response::<Bytes>(200, "application/octet-stream", "The entries")
}

async fn get_log_entries(
    cx: RequestContext<Transparency>,
    Path(bundle): Path<String>,
) -> Result<RawResponse, HandlerError<LogError>> {
    let path = TilePath::parse(&bundle).ok_or(LogError::NoTile)?;
    let origin = published::newest(cx.plugin_context()).await?;
    if !path.is_in(0, origin.newest.size) {
        return Err(LogError::NoTile.into());
    }
    let first = path.index.saturating_mul(TILE_WIDTH as u64);
    let bundle = leaves::bundle(&cx.db(), origin.epoch, first, path.width).await?;
    Ok(bytes(bundle.ok_or(LogError::NoTile)?))
}
