//! What this gateway has published, and whether the database continues it.
//!
//! The rule: a checkpoint leaves this gateway only after it is in a file outside of the database, and never when the database
//! contradicts that file.

use super::{
    origins::{self, Origin},
    tiles,
};
use crate::{
    Transparency,
    error::LogError,
    model::{Checkpoint, KnownCheckpoints, Standing, standing},
};
use plugin_api::{HandlerError, HostError, HostErrorCode, PluginContext, Query};

/// The file with the newest checkpoint, as it was published.
const FILE: &str = "checkpoint";
/// Gateways with one data folder may write it at the same time.
const TRIES_MAX: usize = 5;

/// How the log stands.
pub enum Log {
    /// It has a checkpoint, which is in the file.
    Signed(Origin),
    /// Its origin has no checkpoint yet.
    Unsigned(Origin),
    /// This origin is to begin.
    New(String),
    Stopped(String),
}

/// The origin with its newest checkpoint, which may be shown.
pub async fn newest(cx: &PluginContext<Transparency>) -> Result<Origin, HandlerError<LogError>> {
    match look(cx).await? {
        Log::Signed(origin) => Ok(origin),
        Log::Unsigned(_) | Log::New(_) => Err(LogError::NoCheckpoint.into()),
        Log::Stopped(reason) => Err(LogError::stopped(reason).into()),
    }
}

/// As [`check`], which it leaves out when the newest checkpoint is one that this gateway has published.
pub async fn look(cx: &PluginContext<Transparency>) -> Result<Log, HostError> {
    // Before the database is read: what was published was in the database before, so a smaller checkpoint was set back.
    let published = cx.plugin().published();
    if let Some(origin) = origins::present(&cx.db()).await?
        && published.as_ref() == Some(&origin.newest)
        && origin.stopped.is_none()
    {
        return Ok(Log::Signed(origin));
    }
    check(cx).await
}

/// Compares file and database. A checkpoint that continues the one in the file replaces it there; one that contradicts it stops the
/// log on all gateways.
pub async fn check(cx: &PluginContext<Transparency>) -> Result<Log, HostError> {
    let log = compare_and_keep(cx).await?;
    let reason = if let Log::Stopped(reason) = &log { Some(reason.as_str()) } else { None };
    if cx.plugin().note_stop(reason)
        && let Some(reason) = reason
    {
        cx.error(&format!("the log is stopped: {reason}"));
    }
    Ok(log)
}

async fn compare_and_keep(cx: &PluginContext<Transparency>) -> Result<Log, HostError> {
    let file = cx.file(FILE);
    for _ in 0..TRIES_MAX {
        // Before the database is read: see `look`.
        let kept_note = file.read().await?;
        let kept = kept_note.as_deref().map(Checkpoint::parse);
        if kept == Some(None) {
            return Ok(Log::Stopped("the file with the checkpoint that was published holds none".to_owned()));
        }
        let (kept, stored) = (kept.flatten(), origins::present(&cx.db()).await?);
        let newest = stored.as_ref().map(|stored| &stored.newest);
        let origin = cx.plugin().origin(kept.as_ref().or(newest)).to_owned();
        match compare(cx, &origin, kept.as_ref(), stored.as_ref()).await? {
            Standing::Stopped(reason) => {
                // What this gateway alone was told, or kept, of another origin stops no other gateway.
                let is_of_origin = kept.as_ref().is_none_or(|kept| kept.origin == origin);
                return stopped(cx, &origin, stored.filter(|_| is_of_origin), reason).await;
            }
            Standing::Begins => {
                let is_over = match &stored {
                    Some(stored) => origins::is_over(&cx.db(), &origin, stored).await?,
                    None => false,
                };
                let reason = || format!("the log {origin} is over: a new origin has a name of its own");
                return Ok(if is_over { Log::Stopped(reason()) } else { Log::New(origin) });
            }
            Standing::Continues => {}
        }
        let Some(origin) = stored else { return Ok(Log::New(origin)) };
        if let Some(reason) = origin.stopped {
            return Ok(Log::Stopped(reason));
        }
        let Some(note) = &origin.note else { return Ok(Log::Unsigned(origin)) };
        // What another process has put there may not be on the disk yet: replacing makes it durable.
        let is_newest = |checkpoint: Option<&Checkpoint>| checkpoint == Some(&origin.newest);
        let is_durable = is_newest(kept.as_ref()) && is_newest(cx.plugin().published().as_ref());
        if is_durable || file.replace(kept_note.as_deref(), note).await? {
            cx.plugin().set_published(origin.newest.clone());
            return Ok(Log::Signed(origin));
        }
    }
    Err(HostError::new(HostErrorCode::Unavailable, "other gateways write the file of the checkpoint all the time"))
}

async fn compare(
    cx: &PluginContext<Transparency>,
    origin: &str,
    kept: Option<&Checkpoint>,
    stored: Option<&Origin>,
) -> Result<Standing, HostError> {
    let db = cx.db();
    let (mut root_at_kept, mut root_at_stored) = (None, None);
    if let Some(stored) = stored {
        root_at_stored = root_at(&db, stored, stored.newest.size).await?;
        if let Some(kept) = kept.filter(|kept| kept.origin == stored.newest.origin) {
            root_at_kept = match kept.size == stored.newest.size {
                true => root_at_stored.clone(),
                false => root_at(&db, stored, kept.size).await?,
            };
        }
    }
    Ok(standing(KnownCheckpoints {
        origin,
        previous: cx.plugin().config.previous.as_ref(),
        kept,
        stored: stored.map(|stored| &stored.newest),
        root_at_kept: root_at_kept.as_deref(),
        root_at_stored: root_at_stored.as_deref(),
    }))
}

/// In base64; `None` when the tree has no such size.
async fn root_at(db: &impl Query, origin: &Origin, size: u64) -> Result<Option<String>, HostError> {
    if size > origin.newest.size {
        return Ok(None);
    }
    let edge = tiles::edge(db, origin.epoch, size).await?;
    Ok(edge.map(|edge| Checkpoint::new("", size, &edge.root()).root))
}

/// A database that contradicts itself, or what was published, stops its origin on all gateways; a configuration that does not fit stops
/// this one.
async fn stopped(
    cx: &PluginContext<Transparency>,
    origin: &str,
    stored: Option<Origin>,
    reason: String,
) -> Result<Log, HostError> {
    if stored.is_some_and(|stored| stored.newest.origin == origin && stored.stopped.is_none()) {
        origins::stop(cx, origin, &reason).await?;
    }
    Ok(Log::Stopped(reason))
}
