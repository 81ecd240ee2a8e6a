//! What the float and the wallets have, and their next nonces.

use super::guards::Situation;
use crate::{
    Loadtest,
    model::{Account, FLOAT},
    store::{transactions, wallets, waves},
};
use plugin_api::{
    HostError, HostErrorCode, PluginContext, Wei,
    chain::{MAIN, RawCall},
};

/// The float's balance after the block up to which the chain is followed, without what it owes to transactions that are in no block.
pub async fn free_float(cx: &PluginContext<Loadtest>, situation: &Situation) -> Result<Wei, HostError> {
    let owes = transactions::float_owes(&cx.db()).await?;
    Ok(situation.float_balance.unwrap_or(Wei::ZERO).saturating_sub(owes))
}

/// The float's account with its next nonce: the stored one, and where nothing of it is under way at least the chain's.
pub async fn float_account(cx: &PluginContext<Loadtest>, situation: &Situation) -> Result<Account, HostError> {
    let stored = waves::accounts(&cx.db(), &[FLOAT]).await?.remove(&FLOAT);
    let mut account = stored.unwrap_or(Account { idx: FLOAT, nonce: 0, balance: Wei::ZERO });
    if !waves::is_float_busy(&cx.db()).await? {
        account.nonce = account.nonce.max(next_nonce(cx, FLOAT, situation).await?);
    }
    Ok(account)
}

/// The next nonce of a wallet after the block up to which the chain is followed: a server that has not this block yet does not tell.
pub async fn next_nonce(cx: &PluginContext<Loadtest>, index: i64, situation: &Situation) -> Result<i64, HostError> {
    let unavailable = |what: &str| HostError::new(HostErrorCode::Unavailable, format!("wallet {index} {what}"));
    let address = wallets::address(&cx.db(), index).await?.ok_or_else(|| unavailable("is not derived yet"))?;
    let params = format!(r#"["{address}", "{:#x}"]"#, situation.followed);
    let answer = cx.chain(MAIN).raw_call(RawCall::new("eth_getTransactionCount", params)).await?;
    let count: Option<String> = answer.result.ok().and_then(|json| serde_json::from_slice(&json).ok());
    let count = count.and_then(|count| i64::from_str_radix(count.strip_prefix("0x")?, 16).ok());
    count.ok_or_else(|| unavailable("has a next nonce that no server tells"))
}
