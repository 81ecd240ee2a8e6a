//! Counting burned base fees in steps. The rule: a step counts blocks of one branch of the chain, which begins with the block where the
//! step before it ended; if that cannot be shown, the step is not taken.

use super::{rpc, unavailable};
use crate::{
    model::{Header, Plan, Position},
    store,
};
use alloy_primitives::B256;
use plugin_api::{HostError, PluginContext, Wei, chain::MAIN};
use rpc::HistoryError;

/// Blocks of one `eth_feeHistory`, as many as nodes give.
const HISTORY_BLOCKS: u64 = 1024;
/// Headers that one step reads at most, so that a step is done in seconds and little is lost when it is interrupted.
const STEP_HEADERS_MAX: usize = 256;

/// Where the count goes on.
#[derive(Clone, Copy, Debug)]
pub struct ResumePosition {
    pub at: Position,
    /// Whether it is in the database.
    pub is_stored: bool,
}

/// The last position that is still part of the chain. What has left the chain is forgotten.
pub async fn resume<P: Send + Sync + 'static>(cx: &PluginContext<P>, plan: &Plan) -> Result<ResumePosition, HostError> {
    let origin = plan.origin();
    while let Some(at) = store::newest(&cx.db(), &origin).await? {
        if hash_of(cx, at.block).await? == at.hash {
            return Ok(ResumePosition { at, is_stored: true });
        }
        cx.info(&format!("block {} has left the chain: its base fees are counted again", at.block));
        let origin = origin.clone();
        cx.write(async move |tx| store::forget_from(tx, &origin, at.block).await).await?;
    }
    let (block, burned) = (plan.issuance.burn_block, plan.issuance.burn_wei);
    Ok(ResumePosition { at: Position { block, hash: hash_of(cx, block).await?, burned }, is_stored: false })
}

/// The position after some blocks more, at most up to `target`, which must be higher than `from`.
pub async fn step<P: Send + Sync + 'static>(
    cx: &PluginContext<P>,
    from: &Position,
    target: u64,
) -> Result<Position, HostError> {
    let first = from.block + 1;
    let (used, blocks) = blocks_with_gas(cx, first, (target - from.block).min(HISTORY_BLOCKS)).await?;
    let through = from.block + blocks;
    let end = rpc::header(cx, through).await?;
    let headers = rpc::headers(cx, &used).await?;
    check_branch(from, &headers, &end)?;
    // Another server, or the same one after a reorganisation, may have another branch now.
    if hash_of(cx, through).await? != end.hash || hash_of(cx, from.block).await? != from.hash {
        return Err(unavailable(format!("the chain changed between blocks {} and {through}", from.block)));
    }
    let burned = headers.iter().try_fold(from.burned, |sum: Wei, header| sum.checked_add(header.burned()?));
    let burned = burned.ok_or_else(|| unavailable("a block burned more than there is"))?;
    Ok(Position { block: through, hash: end.hash, burned })
}

/// Those of the next blocks that used gas, and how many blocks that is of.
async fn blocks_with_gas<P: Send + Sync + 'static>(
    cx: &PluginContext<P>,
    first: u64,
    mut count: u64,
) -> Result<(Vec<u64>, u64), HostError> {
    let used = loop {
        match rpc::used_gas(cx, first, count).await {
            Ok(used) => break used,
            // Nodes differ in how many blocks they give, and one that is behind does not have the last ones.
            Err(HistoryError::Refused(_)) if count > 1 => count /= 2,
            Err(HistoryError::Refused(reason)) => return Err(unavailable(reason)),
            Err(HistoryError::Host(error)) => return Err(error),
        }
    };
    let with_gas: Vec<u64> = (first..).zip(&used).filter(|(_, used)| **used).map(|(block, _)| block).collect();
    let all = first + used.len() as u64;
    // A step ends before the block that would be one header too many.
    let end = with_gas.get(STEP_HEADERS_MAX).copied().unwrap_or(all);
    Ok((with_gas.into_iter().take(STEP_HEADERS_MAX).collect(), end - first))
}

fn check_branch(from: &Position, headers: &[Header], end: &Header) -> Result<(), HostError> {
    let mut before = (from.block, from.hash);
    for header in headers.iter().chain([end]) {
        let now = (header.number(), header.hash);
        let fits = if now.0 == before.0 { now == before } else { header.may_follow(before) };
        if !fits {
            return Err(unavailable(format!("block {} is of another branch", now.0)));
        }
        before = now;
    }
    Ok(())
}

async fn hash_of<P: Send + Sync + 'static>(cx: &PluginContext<P>, block: u64) -> Result<B256, HostError> {
    let info = cx.chain(MAIN).block(block).await?;
    info.map(|info| B256::from(info.hash.0))
        .ok_or_else(|| unavailable(format!("the server does not have block {block}")))
}
