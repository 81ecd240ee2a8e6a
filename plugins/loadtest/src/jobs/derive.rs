//! Derives the wallets' addresses into the table that decides who belongs to the load test. The rule: indexes are derived in their
//! order, some at a time, so that a run that ends anywhere is continued by the next; what is stored is compared with the extended key
//! again and again, and a difference is disclosed.

use crate::{Loadtest, store::wallets};
use plugin_api::{Address, HostError, HostErrorCode, Job, PluginContext};
use std::{sync::Arc, time::Duration};
use xpub_address::ExtendedPublicKey;

const INTERVAL: Duration = Duration::from_secs(10);
/// Addresses of one transaction: some 20 ms of computing.
const BATCH: i64 = 200;
/// Transactions of one run.
const BATCHES_MAX: u32 = 50;
/// Rows that a run compares beside the first and the last.
const SAMPLES: i64 = 3;

pub fn job() -> Job<Loadtest> {
    Job::every("derive", INTERVAL, derive)
}

async fn derive(cx: PluginContext<Loadtest>) -> Result<(), HostError> {
    let stored = wallets::branch(&cx.db()).await?;
    let configured = cx.plugin().branch.clone();
    // Without `xpub` none is derived any more, and those that are stored stay what they are.
    let known = stored.as_ref().and_then(|stored| ExtendedPublicKey::parse(&stored.xpub).ok());
    let (has_key, Some(branch)) = (configured.is_some(), configured.or_else(|| known.map(Arc::new))) else {
        return Ok(());
    };
    if let Some(stored) = stored.as_ref().filter(|stored| stored.xpub != branch.text()) {
        let other = "the wallets in the table are those of another extended key than the configured one";
        return tell(&cx, stored.problem.as_deref(), Some(other)).await;
    }
    if stored.is_none() {
        let xpub = branch.text().to_owned();
        cx.write(async move |tx| wallets::begin_branch(tx, &xpub).await).await?;
    }
    let planned = if has_key { i64::from(cx.plugin().config.wallets) } else { -1 };
    for _ in 0..BATCHES_MAX {
        let next = wallets::last(&cx.db()).await?.map_or(0, |last| last + 1);
        if next > planned {
            break;
        }
        let derived = addresses(&cx, &branch, next..=planned.min(next + BATCH - 1)).await?;
        cx.write(async move |tx| wallets::insert(tx, &derived).await).await?;
    }
    let problem = compare(&cx, &branch).await?;
    tell(&cx, stored.and_then(|stored| stored.problem).as_deref(), problem.as_deref()).await
}

async fn addresses(
    cx: &PluginContext<Loadtest>,
    branch: &Arc<ExtendedPublicKey>,
    indexes: std::ops::RangeInclusive<i64>,
) -> Result<Vec<(i64, Address)>, HostError> {
    let branch = branch.clone();
    let derived = cx.blocking(move || {
        // The chance that an index has no key is 2^-127.
        indexes.map(|index| Some((index, branch.address(index)?))).collect::<Option<Vec<_>>>()
    });
    derived.await?.ok_or_else(|| HostError::new(HostErrorCode::Internal, "the extended key has no such child"))
}

/// What is wrong with the stored rows: the first, the last, and some that are others in each run.
async fn compare(cx: &PluginContext<Loadtest>, branch: &Arc<ExtendedPublicKey>) -> Result<Option<String>, HostError> {
    let Some(last) = wallets::last(&cx.db()).await? else { return Ok(None) };
    let spread = (0..SAMPLES).map(|sample| (cx.now_s() + sample * 7919).rem_euclid(last + 1));
    for index in [0, last].into_iter().chain(spread) {
        if wallets::address(&cx.db(), index).await? != branch.address(index) {
            return Ok(Some(format!("the address of index {index} in the table is not that of the extended key")));
        }
    }
    Ok(None)
}

/// Writes the problem when it is another one than before.
async fn tell(cx: &PluginContext<Loadtest>, before: Option<&str>, problem: Option<&str>) -> Result<(), HostError> {
    if before == problem {
        return Ok(());
    }
    if let Some(problem) = problem {
        cx.error(problem);
    }
    let problem = problem.map(ToOwned::to_owned);
    cx.write(async move |tx| wallets::set_problem(tx, problem.as_deref()).await).await
}
