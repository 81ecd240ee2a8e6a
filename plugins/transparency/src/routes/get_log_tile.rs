//! `GET /api/log/tile/{level}/{tile}`: hashes of the tree.

use super::{Bytes, IMMUTABLE, bytes};
use crate::{
    Transparency,
    error::LogError,
    model::{Hash, TileId, TilePath},
    store::{published, tiles},
};
use plugin_api::{HandlerError, Path, RequestContext, Route, response::RawResponse};

pub fn route() -> Route<Transparency> {
    Route::get("/api/log/tile/{level}/{*tile}", get_log_tile)
        .public()
        .summary("A tile of hashes of the transparency log")
        .description(
            "As c2sp.org/tlog-tiles: up to 256 hashes of 32 bytes. The tile is written like `x001/x234/067`, and like \
             `x001/x234/067.p/112` while it has 112 hashes.",
        )
        .example("GET /api/log/tile/0/000.p/1")
        .cache_control(IMMUTABLE)
        .response::<Bytes>(200, "application/octet-stream", "The hashes")
}

async fn get_log_tile(
    cx: RequestContext<Transparency>,
    Path((level, tile)): Path<(String, String)>,
) -> Result<RawResponse, HandlerError<LogError>> {
    let found = TilePath::level(&level).zip(TilePath::parse(&tile));
    let (level, path) = found.ok_or(LogError::NoTile)?;
    let origin = published::newest(cx.plugin_context()).await?;
    if !path.is_in(level, origin.newest.size) {
        return Err(LogError::NoTile.into());
    }
    let hashes = tiles::find(&cx.db(), origin.epoch, TileId { level, index: path.index }).await?;
    let mut hashes = hashes.ok_or(LogError::NoTile)?;
    hashes.truncate(path.width * size_of::<Hash>());
    Ok(bytes(hashes))
}
