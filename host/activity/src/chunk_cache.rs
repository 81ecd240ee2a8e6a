//! The chunks of one delivery, so that readers without a filter at the same position share one.

use super::{chunk::chunk, frame::Filter, rendered_log::RenderedLog, ring::RingRead};
use bytes::Bytes;

/// Readers stand at few different positions: most have received everything before this delivery.
const CACHED_CHUNKS_MAX: usize = 16;

#[derive(Default)]
pub(crate) struct ChunkCache {
    chunks: Vec<CachedChunk>,
}

struct CachedChunk {
    from: i64,
    bytes: Option<Bytes>,
    to: i64,
}

impl ChunkCache {
    /// The chunk for a reader at that position (None when no event passes its filter) and the position behind it.
    /// `None` when the ring does not reach back to the position.
    pub(crate) fn chunk_after(
        &mut self,
        log: &RenderedLog,
        position: i64,
        filter: &Filter,
    ) -> Option<(Option<Bytes>, i64)> {
        if filter.accepts_all()
            && let Some(cached) = self.chunks.iter().find(|cached| cached.from == position)
        {
            return Some((cached.bytes.clone(), cached.to));
        }
        let RingRead::Ready { bytes, position: to } = log.read_ring(position, filter) else { return None };
        let bytes = bytes.map(|bytes| chunk(&bytes));
        if filter.accepts_all() && self.chunks.len() < CACHED_CHUNKS_MAX {
            self.chunks.push(CachedChunk { from: position, bytes: bytes.clone(), to });
        }
        Some((bytes, to))
    }
}
