//! The tree, its tiles, entries and checkpoints. Pure: no database, no keys.

mod checkpoint;
mod edge;
mod entry;
mod event;
mod hash;
mod note;
mod standing;
mod tile_path;

pub use checkpoint::Checkpoint;
pub use edge::{Edge, TILE_WIDTH, Tile, TileId};
pub use entry::{ENTRY_BYTES_MAX, LogEvent, bundle};
pub use event::OriginBegun;
pub use hash::{EMPTY_ROOT, Hash, leaf_hash};
pub use note::{LogKey, SignatureType};
pub use standing::{KnownCheckpoints, Standing, standing};
pub use tile_path::TilePath;
