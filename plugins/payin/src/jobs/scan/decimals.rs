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
use std::collections::BTreeSet;

/// Ends the pauses of tokens that are not configured any more: nothing would compare them again. Their quotes have decimals that were right
/// when they were made.
pub async fn forget_removed(cx: &PluginContext<Payin>) -> Result<(), HostError> {
    let mut configured = BTreeSet::new();
    for chain in &cx.plugin().chains {
        configured.extend(chain.tokens.iter().map(|token| pauses::of_asset(&chain.slug, &token.symbol)));
    }
    for scope in paused(cx).await?.difference(&configured) {
        let scope = scope.clone();
        cx.write(async move |tx| pauses::resume(tx, &scope).await).await?;
    }
    Ok(())
}

/// The scopes of tokens that are paused.
async fn paused(cx: &PluginContext<Payin>) -> Result<BTreeSet<String>, HostError> {
    let all = pauses::list(&cx.db()).await?;
    Ok(all.into_iter().map(|(scope, _)| scope).filter(|scope| pauses::is_of_asset(scope)).collect())
}

/// Pauses the tokens whose decimals differ, and ends such pauses when they do not any more. Each token is compared until it was right once,
/// and while it is paused: whoever asked for a quote may have found that it is right now.
pub async fn check(cx: &PluginContext<Payin>, chain: &TakenChain, source: &Chain<'_>) -> Result<(), HostError> {
    let paused = paused(cx).await?;
    for token in chain.tokens.clone() {
        let scope = pauses::of_asset(&chain.slug, &token.symbol);
        if cx.plugin().has_right_decimals(&chain.slug, &token) && !paused.contains(&scope) {
            continue;
        }
        let difference = match difference(source, &token).await {
            // The other tokens go on. Whoever asks for a quote of this one compares it first.
            Err(error) if error.is_transient() => {
                cx.warn(&format!("the decimals of {scope} cannot be read now: {error}"));
                continue;
            }
            difference => difference?,
        };
        let (is_right, reason) = (difference.is_none(), difference.clone());
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
    if token.is_native() || plugin.has_right_decimals(slug, token) {
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
