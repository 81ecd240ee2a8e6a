//! Balances and locks at the block of a snapshot. The rule: nothing is read at another block.

use super::unavailable;
use crate::model::{Category, HeldBalance, Plan, Position, Reading};
use alloy_primitives::B256;
use plugin_api::{
    Address, HostError, HostErrorCode, HostHandle, Wei,
    chain::{ContractCall, MAIN},
};

const RELEASABLE: &str = "releasable() returns (uint256)";
const REMAINING: &str = "remaining() returns (uint256)";

/// Everything that a snapshot at this position needs, beside the plan.
pub async fn read(host: &HostHandle, plan: &Plan, at: Position, head: u64) -> Result<Reading, HostError> {
    let time_s = time_of(host, &at).await?;
    let mut burned = Vec::new();
    for address in &plan.burn_addresses {
        burned.push((*address, balance(host, *address, &at).await?));
    }
    let mut answers = answers(host, plan, &at).await?.into_iter();
    let mut excluded = Vec::new();
    for wallet in &plan.excluded {
        let balance = balance(host, wallet.address, &at).await?;
        let answer = if question(wallet.category).is_some() { answers.next().unwrap_or_default() } else { Wei::ZERO };
        excluded.push(HeldBalance { wallet: wallet.clone(), balance, answer });
    }
    // The balances were asked for by the block's number.
    time_of(host, &at).await?;
    Ok(Reading { at, time_s, head, burned, excluded })
}

/// What is asked of a contract beside its balance.
fn question(category: Category) -> Option<&'static str> {
    match category {
        Category::Locked => Some(REMAINING),
        Category::Vesting => Some(RELEASABLE),
        Category::Foundation => None,
    }
}

/// The answers of the contracts among the excluded addresses, in their order.
async fn answers(host: &HostHandle, plan: &Plan, at: &Position) -> Result<Vec<Wei>, HostError> {
    let asked = plan.excluded.iter().filter_map(|wallet| Some((wallet, question(wallet.category)?)));
    let (wallets, calls): (Vec<_>, Vec<_>) =
        asked.map(|(wallet, function)| (wallet, ContractCall::new(wallet.address, function))).unzip();
    if calls.is_empty() {
        return Ok(Vec::new());
    }
    let results = host.chain(MAIN).calls::<Wei>(calls, Some(at.block)).await?;
    let pairs = results.into_iter().zip(wallets);
    pairs
        .map(|(result, wallet)| {
            result.map_err(|error| {
                let reason = format!("excluded address {} ({}): {error}", wallet.address, wallet.label);
                HostError::new(HostErrorCode::Invalid, reason)
            })
        })
        .collect()
}

async fn balance(host: &HostHandle, address: Address, at: &Position) -> Result<Wei, HostError> {
    host.chain(MAIN).balance(address, Some(at.block)).await
}

/// When the block was made; an error where it is not the chain's any more.
pub async fn time_of(host: &HostHandle, at: &Position) -> Result<i64, HostError> {
    let block = host.chain(MAIN).block(at.block).await?;
    let same = block.filter(|block| B256::from(block.hash.0) == at.hash);
    same.map(|block| block.time_s).ok_or_else(|| unavailable(format!("block {} has left the chain", at.block)))
}
