//! Asks the vault: what a payer has in it, and whether a contract accepts a signature.

use super::refusal::Stop;
use crate::{
    X402,
    model::{
        Funds, Voucher,
        contracts::{BALANCE, Deposited, UNLOCK_AT, USED, VERIFY},
    },
};
use futures_util::future::try_join;
use plugin_api::{
    Address, HostError, HostErrorCode, PluginContext, Wei,
    chain::{ContractCall, EventFilter, MAIN},
    contracts::ContractEvent as _,
};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub fn unreadable(error: HostError) -> Stop {
    if error.is_transient() { Stop::Disabled("the chain cannot be read now".to_owned()) } else { Stop::Host(error) }
}

/// What the payer of a voucher has after the newest block without what he deposited in the last blocks, `confirmations` of them, and
/// whether its nonce is used.
pub async fn read_funds(
    cx: &PluginContext<X402>,
    vault: Address,
    voucher: &Voucher,
    confirmations: u64,
) -> Result<(Funds, bool), Stop> {
    let chain = cx.chain(MAIN);
    let head = chain.head().await.map_err(unreadable)?;
    let new_from = (head.number + 1).saturating_sub(confirmations);
    let filter = EventFilter::new(vault, Deposited::SIGNATURE).any_of("payer", &[voucher.payer])?;
    let deposits = async {
        match confirmations {
            0 => Ok(Vec::new()),
            _ => chain.logs::<Deposited>(filter, new_from, head.number).await,
        }
    };
    let calls = vec![
        ContractCall::new(vault, BALANCE).arg(voucher.payer)?,
        ContractCall::new(vault, UNLOCK_AT).arg(voucher.payer)?,
        ContractCall::new(vault, USED).arg(voucher.payer)?.arg(voucher.nonce)?,
    ];
    let results = chain.calls::<Value>(calls, Some(head.number));
    let (deposits, results) = try_join(deposits, results).await.map_err(unreadable)?;
    let unconfirmed = deposits.iter().fold(Wei::ZERO, |sum, deposit| sum.saturating_add(deposit.args.amount));
    let [balance, unlock_at, used]: [_; 3] = results.try_into().map_err(|_: Vec<_>| no_vault())?;
    let balance: Wei = decoded(balance)?;
    let funds = Funds {
        balance: balance.saturating_sub(unconfirmed),
        unconfirmed,
        unlock_at: decoded(unlock_at)?,
        block: i64::try_from(head.number).unwrap_or(i64::MAX),
        at_s: cx.now_s(),
    };
    Ok((funds, decoded(used)?))
}

/// Balance and unlock time of a payer.
pub async fn read_account(cx: &PluginContext<X402>, vault: Address, payer: Address) -> Result<(Wei, i64), Stop> {
    let calls = vec![ContractCall::new(vault, BALANCE).arg(payer)?, ContractCall::new(vault, UNLOCK_AT).arg(payer)?];
    let results = cx.chain(MAIN).calls::<Value>(calls, None).await.map_err(unreadable)?;
    let [balance, unlock_at]: [_; 2] = results.try_into().map_err(|_: Vec<_>| no_vault())?;
    let unlock_at: Wei = decoded(unlock_at)?;
    Ok((decoded(balance)?, i64::try_from(unlock_at.0).unwrap_or(i64::MAX)))
}

/// For a payer who is a contract. The call gets no more gas than the voucher gets in a batch.
pub async fn verify(cx: &PluginContext<X402>, vault: Address, voucher: &Voucher, signature: &str) -> Result<(), Stop> {
    let call = ContractCall::new(vault, VERIFY).arg(voucher.tuple())?.arg(signature)?;
    match cx.chain(MAIN).call::<(bool, String)>(call.gas(cx.plugin().config.contract_gas)).await {
        Ok((true, _)) => Ok(()),
        Ok((false, reason)) => Err(format!("the vault refuses the voucher: {reason}").into()),
        // It reverted, or used up its gas.
        Err(error) if error.is(HostErrorCode::Invalid) => {
            Err("the payer's contract does not accept the signature".into())
        }
        Err(error) => Err(unreadable(error)),
    }
}

fn decoded<T: DeserializeOwned>(result: Result<Value, HostError>) -> Result<T, Stop> {
    let value = result.map_err(|_: HostError| no_vault())?;
    serde_json::from_value(value).map_err(|_: serde_json::Error| no_vault())
}

fn no_vault() -> Stop {
    Stop::Disabled("the contract at the vault's address does not answer as a vault".to_owned())
}
