//! Whether payments are taken now, and what the facilitator has left for gas.

use crate::{
    X402,
    model::{
        LIFE_MAX_S,
        contracts::{DOMAIN_SEPARATOR, VAULT},
    },
    store::vouchers,
};
use plugin_api::{
    Address, Hash256, HostError, HostErrorCode, PluginContext, Wei,
    chain::{ContractCall, MAIN},
};

/// Role of the key that sends the batches.
pub const ROLE: &str = "facilitator";
/// Vouchers that waited this long for a block mean that none are settled.
const QUEUE_AGE_MAX_S: i64 = 600;
/// A batch that waits this long while something blocks its account's queue means that none are sent.
const BLOCKED_AGE_MAX_S: i64 = 60;
/// How long no payment is taken after that. Batches end with their vouchers, so an empty queue does not mean that the next one is sent: without
/// a pause, work would be given for vouchers that all expire.
const BLOCKED_PAUSE_S: i64 = 900;
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

/// Why batches were not sent, and until when no payment is taken because of it, in Unix seconds.
#[derive(Clone, Debug)]
pub struct BlockedQueue {
    until_s: i64,
    reason: String,
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
    note_blocked_queue(cx).await?;
    if let Ok(mut known) = cx.plugin().funded.lock() {
        *known = Some(FundedAccount { at_s: now_s, address, balance });
    }
    Ok(Facilitator { address: Some(address), balance: Some(balance) })
}

async fn note_blocked_queue(cx: &PluginContext<X402>) -> Result<(), HostError> {
    let queue = cx.nonce_queue(ROLE, MAIN).await?;
    let is_old = queue.oldest_age_s.is_some_and(|age_s| age_s > BLOCKED_AGE_MAX_S);
    if let Some(reason) = queue.reason.filter(|_| is_old)
        && let Ok(mut blocked) = cx.plugin().blocked.lock()
    {
        *blocked = Some(BlockedQueue { until_s: cx.now_s() + BLOCKED_PAUSE_S, reason });
    }
    Ok(())
}

/// Whether vouchers are signed for the domain that the vault checks: it would skip all others, and payers who sign what it wants would be
/// refused. The vault is asked once; one that does not say it is taken as it is configured.
async fn is_other_domain(cx: &PluginContext<X402>, vault: Address) -> Result<bool, HostError> {
    let plugin = cx.plugin();
    let said = match plugin.vault_domain.get() {
        Some(said) => *said,
        None => {
            let said = match cx.chain(MAIN).call::<Hash256>(ContractCall::new(vault, DOMAIN_SEPARATOR)).await {
                Ok(separator) => Some(separator),
                Err(error) if error.is(HostErrorCode::Invalid) => None,
                Err(error) => return Err(error),
            };
            *plugin.vault_domain.get_or_init(|| said)
        }
    };
    Ok(said.is_some_and(|separator| separator != plugin.names.domain_separator(vault)))
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
    match is_other_domain(cx, vault).await {
        Ok(false) => {}
        Ok(true) => {
            return Ok(Err("the vault checks signatures of another EIP-712 domain: see domain_name".to_owned()));
        }
        Err(error) if error.is_transient() => return Ok(Err("the chain cannot be read now".to_owned())),
        Err(error) => return Err(error),
    }
    let blocked = cx.plugin().blocked.lock().ok().and_then(|blocked| blocked.clone());
    if let Some(BlockedQueue { reason, .. }) = blocked.filter(|blocked| cx.now_s() < blocked.until_s) {
        return Ok(Err(format!("batches cannot be sent: {reason}")));
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
