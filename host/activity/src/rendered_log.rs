//! The activity log as a plugin renders it for one topic: the newest frames in memory, older ones read from the
//! database.

use super::{
    ActivityLog, LogPage,
    frame::{Filter, SharedFrame},
    ring::{Ring, RingRead, concat},
};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use gateway_storage::StorageError;
use parking_lot::RwLock;
use plugin_api::abi::Frame;
use std::sync::Arc;

/// Renders rows as frames: the plugin's code, behind a panic guard and a time limit.
pub type Render = Arc<dyn Fn(LogPage) -> BoxFuture<'static, Result<Vec<Frame>, String>> + Send + Sync>;

/// A read of a page of the log: its bytes, None when no event passes the filter, and the position behind it.
pub(crate) type PageRead = BoxFuture<'static, Result<(Option<Bytes>, i64), TopicError>>;

#[derive(Debug, thiserror::Error)]
pub enum TopicError {
    #[error(transparent)]
    Storage(#[from] StorageError),
    #[error("the topic's plugin could not render: {0}")]
    Render(String),
}

pub(crate) struct RenderedLog {
    log: ActivityLog,
    render: Render,
    ring: RwLock<Ring>,
}

impl RenderedLog {
    /// The ring is empty: see [`Self::skip_to_end`].
    pub(crate) fn new(log: ActivityLog, render: Render, ring_events: usize) -> Self {
        Self { log, render, ring: RwLock::new(Ring::new(ring_events)) }
    }

    pub(crate) fn log(&self) -> &ActivityLog {
        &self.log
    }

    /// Empties the ring and goes on at the log's end.
    pub(crate) async fn skip_to_end(&self) -> Result<(), TopicError> {
        let end = self.log.latest_id().await?;
        self.ring.write().restart(end);
        Ok(())
    }

    /// Renders the next page of the log into the ring. Returns whether there were new rows.
    pub(crate) async fn advance(&self) -> Result<bool, TopicError> {
        let head = self.ring.read().head();
        let Some(page) = self.log.page_after(head).await? else { return Ok(false) };
        let (last_id, has_retraction) = (page.last_id, page.has_retraction()?);
        let frames = self.frames(page).await?;
        let floor = self.ring.read().floor();
        let retracted = if has_retraction { self.log.retracted_from(floor).await? } else { Vec::new() };
        let mut ring = self.ring.write();
        ring.push(frames, last_id);
        ring.retract(&retracted);
        Ok(true)
    }

    /// Reads what comes after `position` from memory.
    pub(crate) fn read_ring(&self, position: i64, filter: &Filter) -> RingRead {
        self.ring.read().read(position, filter)
    }

    /// Reads a page of what comes after `position` from the database.
    pub(crate) fn read_page(self: Arc<Self>, position: i64, filter: Filter) -> PageRead {
        Box::pin(async move {
            let Some(page) = self.log.page_after(position).await? else { return Ok((None, position)) };
            let last_id = page.last_id;
            let frames = self.frames(page).await?;
            let matching: Vec<&SharedFrame> = frames.iter().filter(|frame| filter.matches(frame)).collect();
            let size = matching.iter().map(|frame| frame.bytes.len()).sum();
            Ok((concat(&matching, size), last_id))
        })
    }

    async fn frames(&self, page: LogPage) -> Result<Vec<SharedFrame>, TopicError> {
        let frames = (self.render)(page).await.map_err(TopicError::Render)?;
        Ok(frames.into_iter().map(SharedFrame::from).collect())
    }
}
