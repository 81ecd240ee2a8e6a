//! Compares the decimals of the configuration with those of the token's contract. The rule: while they differ, or the contract tells none, the
//! token is paused: an amount that is read with wrong decimals is worth something else by powers of ten.

use crate::{
    Payin,
    model::{TakenChain, Token},
    store::pauses,
};
use plugin_api::{
    HostError, PluginContext,
    chain::{Chain, ContractCall},
};

/// Pauses the tokens whose decimals differ, and ends such pauses when they do not any more. Each token is compared until it was right once.
pub async fn check(cx: &PluginContext<Payin>, chain: &TakenChain, source: &Chain<'_>) -> Result<(), HostError> {
    for token in chain.tokens.clone() {
        if cx.plugin().has_right_decimals(&chain.slug, &token) {
            continue;
        }
        let difference = difference(source, &token).await?;
        let (scope, is_right) = (pauses::of_asset(&chain.slug, &token.symbol), difference.is_none());
        let reason = difference.clone();
        let is_new = cx
            .write(async move |tx| match &reason {
                Some(reason) => pauses::pause(tx, &scope, reason, None).await,
                None => pauses::resume(tx, &scope).await.map(|()| false),
            })
            .await?;
        if is_right {
            cx.plugin().set_right_decimals(&chain.slug, &token);
        }
        if let Some(reason) = difference.filter(|_| is_new) {
            cx.error(&format!("{} of {} is paused: {reason}", token.symbol, chain.slug));
        }
    }
    Ok(())
}

/// Whether the decimals of a token are those of its contract; for a gateway that has not scanned its chain since it began.
pub async fn are_right(plugin: &Payin, slug: &str, source: &Chain<'_>, token: &Token) -> Result<bool, HostError> {
    if plugin.has_right_decimals(slug, token) {
        return Ok(true);
    }
    let is_right = difference(source, token).await?.is_none();
    if is_right {
        plugin.set_right_decimals(slug, token);
    }
    Ok(is_right)
}

/// What is wrong, if anything.
async fn difference(source: &Chain<'_>, token: &Token) -> Result<Option<String>, HostError> {
    let call = ContractCall::new(token.address, "decimals() returns (uint256)");
    let answer = source.calls::<Decimals>(vec![call], None).await?.pop();
    let configured = token.decimals;
    Ok(match answer {
        Some(Ok(Decimals(decimals))) if decimals == configured.to_string() => None,
        Some(Ok(Decimals(decimals))) => {
            Some(format!("its contract has {decimals} decimals, and the configuration {configured}"))
        }
        Some(Err(error)) => Some(format!("its contract tells no decimals: {}", error.message)),
        None => Some("its contract tells no decimals".to_owned()),
    })
}

/// A number of 256 bits: contracts may answer anything.
#[derive(Debug, serde::Deserialize)]
struct Decimals(String);
