//! Publishes the root on the chain: a transaction whose data is the root, so that a time of the chain bounds when it was signed.
//!
//! The rule: a checkpoint is published once, at most one in each interval, and the row that says so commits with the intent.

use crate::{
    Transparency,
    config::Publication,
    store::{
        publications::{self, PublishedRoot},
        published::{self, Log},
    },
};
use plugin_api::{
    HostError, HostErrorCode, Job, PluginContext,
    chain::{MAIN, TransactionRequest},
};
use std::time::Duration;

/// The role whose key pays.
pub const ROLE: &str = "log";
const NAME: &str = "publish_root";
const INTERVAL: Duration = Duration::from_secs(60);

pub fn job() -> Job<Transparency> {
    Job::every(NAME, INTERVAL, publish_root)
}

async fn publish_root(cx: PluginContext<Transparency>) -> Result<(), HostError> {
    let Some(Publication { to, every_s }) = cx.plugin().config.publish.clone() else { return Ok(()) };
    let Log::Signed(origin) = published::look(&cx).await? else { return Ok(()) };
    let Some(root) = origin.newest.root_bytes() else { return Ok(()) };
    let (epoch, size) = (origin.epoch, origin.newest.size);
    let is_due = move |last: Option<&PublishedRoot>, now_s: i64| {
        last.is_none_or(|last| (last.epoch, last.size) < (epoch, size) && now_s - last.at >= i64::from(every_s))
    };
    if size == 0 || !is_due(publications::last(&cx.db()).await?.as_ref(), cx.now_s()) {
        return Ok(());
    }
    let data = [&root[..], &size.to_be_bytes()].concat();
    let request = TransactionRequest::new(ROLE, format!("root {epoch} {size}"), to).chain(MAIN).data(&data);
    let recorded = cx
        .write(async move |tx| {
            // Again: another gateway may have published since.
            if is_due(publications::last(tx).await?.as_ref(), tx.now_s()) {
                let intent = request.clone().record(tx).await?;
                tx.defer(publications::insert(epoch, size, intent, tx.now_s()))?;
            }
            Ok(())
        })
        .await;
    match recorded {
        // No key, or one that cannot pay: the next run tries again.
        Err(error) if error.is(HostErrorCode::Disabled) => {
            cx.warn(&format!("the root is not published: {error}"));
            Ok(())
        }
        other => other,
    }
}
