//! Collects the open work of all plugins.

use crate::Work;
use plugin_api::{
    Address, HostError, HostErrorCode, PluginContext,
    payment::{PAID_SINCE, PaidSinceInput},
    point::{self, WorkInput, WorkItem, WorkKind},
};
use std::collections::BTreeSet;

/// What somebody has paid for within this time needs no list to be found.
const QUIET_S: i64 = 7 * 86_400;

/// All items that the input selects, but those endpoints whose owner was paid lately.
pub async fn collect(cx: &PluginContext<Work>, input: &WorkInput) -> Result<Vec<WorkItem>, HostError> {
    let parts = cx.collect(point::WORK, input).await?;
    let mut items: Vec<WorkItem> = parts.into_iter().flat_map(|(_, items)| items).collect();
    let paid = paid_owners(cx, &items).await;
    items.retain(|item| owner(item).is_none_or(|owner| !paid.contains(&owner)));
    Ok(items)
}

/// Nobody while payments are off: then all endpoints are open work.
async fn paid_owners(cx: &PluginContext<Work>, items: &[WorkItem]) -> BTreeSet<Address> {
    let payees: BTreeSet<Address> = items.iter().filter_map(owner).collect();
    if payees.is_empty() {
        return payees;
    }
    match cx.call(PAID_SINCE, &PaidSinceInput { since_s: cx.now_s() - QUIET_S, payees }).await {
        Ok(paid) => paid,
        Err(error) => {
            if !error.is(HostErrorCode::Disabled) {
                cx.warn(&format!("endpoints that were paid lately are listed, too: {error}"));
            }
            BTreeSet::new()
        }
    }
}

/// Of an endpoint: an agent or a listing of compute.
fn owner(item: &WorkItem) -> Option<Address> {
    item.requester.filter(|_| item.kind == WorkKind::Endpoint)
}
