//! Whether payments are taken now, and what the facilitator has left for gas.

use crate::{
    X402,
    model::{LIFE_MAX_S, contracts::VAULT},
    store::vouchers,
};
use plugin_api::{Address, HostError, PluginContext, Wei, chain::MAIN};

/// Role of the key that sends the batches.
pub const ROLE: &str = "facilitator";
/// Vouchers that waited this long for a block mean that none are settled.
const QUEUE_AGE_MAX_S: i64 = 600;
/// How long a balance that was read counts.
const BALANCE_AGE_S: i64 = 60;
/// Below 0.1 FMX the operator is warned.
const LOW_FUNDS_WEI: u64 = 100_000_000_000_000_000;

/// The facilitator's account.
#[derive(Clone, Debug, Default)]
pub struct Facilitator {
    /// `None` without a key.
    pub address: Option<Address>,
    /// `None` when it cannot be read.
    pub balance: Option<Wei>,
}

impl Facilitator {
    pub fn is_low(&self) -> bool {
        self.balance.is_some_and(|balance| balance < Wei(alloy_primitives::U256::from(LOW_FUNDS_WEI)))
    }
}

/// The account, and when its balance was read, in Unix seconds.
#[derive(Clone, Copy, Debug)]
pub struct FundedAccount {
    at_s: i64,
    address: Address,
    balance: Wei,
}

/// The account with its balance, which is at most a minute old. The gateway's keys do not change while it runs.
pub async fn facilitator(cx: &PluginContext<X402>) -> Result<Facilitator, HostError> {
    let now_s = cx.now_s();
    let known = cx.plugin().funded.lock().ok().and_then(|known| *known);
    if let Some(known) = known.filter(|known| (0..BALANCE_AGE_S).contains(&(now_s - known.at_s))) {
        return Ok(Facilitator { address: Some(known.address), balance: Some(known.balance) });
    }
    let Some(address) = cx.signer(ROLE).configured_address().await? else { return Ok(Facilitator::default()) };
    let balance = match cx.chain(MAIN).balance(address, None).await {
        Ok(balance) => balance,
        Err(error) if error.is_transient() => return Ok(Facilitator { address: Some(address), balance: None }),
        Err(error) => return Err(error),
    };
    if let Ok(mut known) = cx.plugin().funded.lock() {
        *known = Some(FundedAccount { at_s: now_s, address, balance });
    }
    Ok(Facilitator { address: Some(address), balance: Some(balance) })
}

/// The vault, or why no payment is taken now.
pub async fn open_vault(cx: &PluginContext<X402>) -> Result<Result<Address, String>, HostError> {
    let Some(vault) = vault_address(cx) else { return Ok(Err("not deployed".to_owned())) };
    let Facilitator { address, balance } = facilitator(cx).await?;
    if address.is_none() {
        return Ok(Err(format!("the role {ROLE} has no key, so nothing is settled")));
    }
    if let Some(left_s) = pause_left_s(cx) {
        return Ok(Err(format!(
            "the database was restored, and vouchers that it does not know are valid for {left_s} s"
        )));
    }
    let config = &cx.plugin().config;
    let batch_cost = config.voucher_cost_wei.saturating_mul(config.batch_size.into());
    match balance {
        None => return Ok(Err("the chain cannot be read now".to_owned())),
        Some(balance) if balance < batch_cost => {
            return Ok(Err(format!("the facilitator has {balance} wei, and a batch may cost {batch_cost}")));
        }
        Some(_) => {}
    }
    let since_s = vouchers::waits_since(&cx.db()).await?;
    let is_stuck = since_s.is_some_and(|since_s| cx.now_s() - since_s > QUEUE_AGE_MAX_S);
    Ok(if is_stuck { Err("vouchers have waited too long for their settlement".to_owned()) } else { Ok(vault) })
}

/// How long a voucher may live that was taken after the backup from which the database was restored: it could be taken again.
fn pause_left_s(cx: &PluginContext<X402>) -> Option<i64> {
    let end_s = cx.environment().restored_s?.saturating_add(LIFE_MAX_S);
    Some(end_s - cx.now_s()).filter(|left_s| *left_s > 0)
}

pub fn vault_address(cx: &PluginContext<X402>) -> Option<Address> {
    cx.environment().contract(VAULT)
}
