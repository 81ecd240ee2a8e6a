//! The activity log as a plugin renders it for one topic: the newest frames in memory, older ones read from the
//! database.

use super::{
    ActivityLog,
    frame::{Filter, SharedFrame},
    ring::{Ring, RingRead, concat},
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gateway_storage::StorageError;
use parking_lot::RwLock;
use plugin_api::manifest::{ActivityRow, Frame};
use std::sync::Arc;

/// Renders rows as frames: the plugin's code, behind a panic guard and a time limit.
pub type Render = Arc<dyn Fn(Vec<ActivityRow>) -> BoxFuture<'static, Result<Vec<Frame>, String>> + Send + Sync>;

/// A read of a page of the log: its bytes, None when no event passes the filter, and the position behind it.
pub type PageRead = BoxFuture<'static, Result<(Option<Bytes>, i64), TopicError>>;

#[derive(Debug, thiserror::Error)]
pub enum TopicError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the topic's plugin could not render: {0}")]
    Render(String),
}

pub struct RenderedLog {
    log: ActivityLog,
    render: Render,
    ring: RwLock<Ring>,
}

impl RenderedLog {
    /// The ring is empty: see [`Self::skip_to_end`].
    pub fn new(log: ActivityLog, render: Render, ring_events: usize) -> Self {
        Self { log, render, ring: RwLock::new(Ring::new(ring_events)) }
    }

    pub fn log(&self) -> &ActivityLog {
        &self.log
    }

    /// Empties the ring and goes on at the log's end.
    pub async fn skip_to_end(&self) -> Result<(), TopicError> {
        let end = self.log.latest_id().await?;
        self.ring.write().restart(end);
        Ok(())
    }

    /// Renders the next page of the log into the ring. Returns whether there were new rows.
    pub async fn advance(&self) -> Result<bool, TopicError> {
        let head = self.ring.read().head();
        let rows = self.log.rows_after(head).await?;
        let Some(last) = rows.last().map(|row| row.id) else { return Ok(false) };
        let frames = self.frames(rows).await?;
        self.ring.write().push(frames, last);
        Ok(true)
    }

    /// Reads what comes after `position` from memory.
    pub fn read_ring(&self, position: i64, filter: &Filter) -> RingRead {
        self.ring.read().read(position, filter)
    }

    /// Reads a page of what comes after `position` from the database.
    pub fn read_page(self: Arc<Self>, position: i64, filter: Filter) -> PageRead {
        Box::pin(async move {
            let rows = self.log.rows_after(position).await?;
            let last = rows.last().map_or(position, |row| row.id);
            let frames = self.frames(rows).await?;
            let matching: Vec<&SharedFrame> = frames.iter().filter(|frame| filter.matches(frame)).collect();
            let size = matching.iter().map(|frame| frame.bytes.len()).sum();
            Ok((concat(&matching, size), last))
        })
    }

    async fn frames(&self, rows: Vec<ActivityRow>) -> Result<Vec<SharedFrame>, TopicError> {
        if rows.is_empty() {
            return Ok(Vec::new());
        }
        let frames = (self.render)(rows).await.map_err(TopicError::Render)?;
        Ok(frames.into_iter().map(SharedFrame::from).collect())
    }
}
