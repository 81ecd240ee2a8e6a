//! Tiles of hashes.

use crate::model::{Edge, Hash, Tile, TileId};
use plugin_api::{HostError, HostErrorCode, Query, Sql, sql};
use std::collections::BTreeMap;

/// What a tile has by now; it is the beginning of what it will have.
pub async fn find(db: &impl Query, epoch: i64, id: TileId) -> Result<Option<Vec<u8>>, HostError> {
    let select = "SELECT hashes FROM transparency_tiles WHERE epoch = $1 AND level = $2 AND tile = $3";
    let hashes: Option<(Vec<u8>,)> = db.row(sql(select).bind((epoch, i64::from(id.level), id.index))).await?;
    Ok(hashes.map(|(hashes,)| hashes))
}

/// The edge of the tree when it had this size; `None` when the tiles are not those of such a tree.
pub async fn edge(db: &impl Query, epoch: i64, size: u64) -> Result<Option<Edge>, HostError> {
    let mut tiles = BTreeMap::new();
    for (id, _) in Edge::tiles_of(size) {
        if let Some(bytes) = find(db, epoch, id).await? {
            tiles.insert(id, hashes(&bytes)?);
        }
    }
    Ok(Edge::of(size, |id| tiles.get(&id).cloned()))
}

fn hashes(bytes: &[u8]) -> Result<Vec<Hash>, HostError> {
    let (hashes, rest) = bytes.as_chunks();
    if rest.is_empty() {
        Ok(hashes.to_vec())
    } else {
        Err(HostError::new(HostErrorCode::Internal, "a tile is no row of hashes"))
    }
}

pub fn upsert(epoch: i64, tile: &Tile) -> Sql {
    let upsert = Sql::upsert("transparency_tiles", "epoch, level, tile", "hashes");
    upsert.bind((epoch, i64::from(tile.id.level), tile.id.index, tile.hashes.as_flattened()))
}
