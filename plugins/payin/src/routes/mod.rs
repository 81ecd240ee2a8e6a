//! The routes, a file for each.

pub mod create_quote;
pub mod get_assets;
pub mod get_market;
pub mod get_quote;
pub mod list_addresses;
pub mod list_deposits;
pub mod pause_payin;
pub mod resolve_deposit;

use crate::{
    Payin,
    error::OperatorError,
    model::{ROLE, TakenChain},
    store::{addresses, pauses, scans::Scan},
};
use plugin_api::{Address, HostError, PluginContext, RequestContext};

/// What everybody reads of a pause: the operator's words are not for everybody.
pub const PAUSED: &str = "it is paused";

/// Why this gateway gives no quotes at all.
async fn disabled(cx: &RequestContext<Payin>) -> Result<Option<String>, HostError> {
    let plugin = cx.plugin();
    if plugin.price.is_none() {
        return Ok(Some("the operator has fixed no price (price_usd)".to_owned()));
    }
    if plugin.config.caps().is_none() {
        return Ok(Some("the operator has set no caps of payouts".to_owned()));
    }
    if plugin.chains.is_empty() {
        return Ok(Some("no chain is configured".to_owned()));
    }
    let has_key = cx.signer(ROLE).configured_address().await?.is_some();
    Ok((!has_key).then(|| "the role payin has no key".to_owned()))
}

/// Why no quote is given for a chain now.
pub async fn unavailable_reason(
    cx: &PluginContext<Payin>,
    chain: &TakenChain,
    scan: Option<&Scan>,
) -> Result<Option<String>, HostError> {
    if let Some(reason) = Scan::unavailable(scan, cx.now_s()) {
        return Ok(Some(reason));
    }
    if pauses::is_paused(&cx.db(), &chain.slug, None).await? {
        return Ok(Some(PAUSED.to_owned()));
    }
    let Some(account) = &chain.account else { return Ok(None) };
    let labelled = cx.labelled_addresses().await?;
    let problem = addresses::account_problem(&cx.db(), (account, &chain.slug), &labelled).await?;
    Ok(problem.map(ToOwned::to_owned))
}

fn check_operator(plugin: &Payin, signer: Address) -> Result<(), OperatorError> {
    if plugin.operators.contains(&signer) { Ok(()) } else { Err(OperatorError::NotOperator) }
}
