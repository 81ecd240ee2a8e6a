//! Checkpoints that were signed.

use crate::model::Checkpoint;
use plugin_api::{Sql, sql};

pub fn insert(epoch: i64, checkpoint: &Checkpoint, note: &str, now_s: i64) -> Sql {
    let insert =
        "INSERT INTO transparency_checkpoints (epoch, size, root, note, signed_at) VALUES ($1, $2, $3, $4, $5)";
    sql(insert).bind((epoch, checkpoint.size, &*checkpoint.root, note, now_s))
}
