//! The snapshot that is served.

use crate::{Supply, error::SupplyError, model::Snapshot, store};
use plugin_api::{HandlerError, RequestContext};

/// Time enough for four snapshots.
const FRESH_MS: i64 = 120_000;
/// An older snapshot is not served any more.
const AGE_MAX_MS: i64 = 3_600_000;

/// Whether what was read then may be served.
pub fn is_usable(computed_at: i64, now_ms: i64) -> bool {
    now_ms.saturating_sub(computed_at) <= AGE_MAX_MS
}

pub fn is_fresh(computed_at: i64, now_ms: i64) -> bool {
    now_ms.saturating_sub(computed_at) <= FRESH_MS
}

/// The last complete snapshot, marked as stale where newer numbers could not be had.
pub async fn latest(cx: &RequestContext<Supply>) -> Result<Snapshot, HandlerError<SupplyError>> {
    if cx.plugin().plan.is_none() {
        return Err(SupplyError::DISABLED.into());
    }
    let now_ms = cx.now_ms();
    let snapshot = store::snapshot(&cx.db()).await?;
    let usable = snapshot.filter(|snapshot| is_usable(snapshot.computed_at, now_ms));
    let snapshot = usable.ok_or(SupplyError::CHAIN_UNAVAILABLE)?;
    let stale = (!is_fresh(snapshot.computed_at, now_ms)).then_some(true);
    Ok(Snapshot { stale, ..snapshot })
}
