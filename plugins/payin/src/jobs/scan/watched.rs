//! What is watched on a chain. The rule: an address or a token that the configuration does not name any more is watched while a deposit could
//! still come for a quote, and for some days more, so that the operator hears of what comes late.

use crate::{
    Payin,
    model::{NATIVE, TakenChain, Token},
    store::quotes::{self, Destination},
};
use plugin_api::{Address, HostError, PluginContext};
use std::collections::BTreeSet;

/// After the end of the last quote of an address.
const LATE_S: i64 = 7 * 86_400;

/// A paid deposit that moves is looked for so long.
const PAID_S: i64 = 86_400;
/// Addresses of one request for events: the gateway takes 1,000.
pub const ADDRESSES_MAX: usize = 500;

/// A token, and the addresses to which deposits of it are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WatchedToken {
    pub token: Token,
    pub addresses: Vec<Address>,
}

/// The tokens of the configuration, then those of quotes.
pub async fn watched(cx: &PluginContext<Payin>, chain: &TakenChain) -> Result<Vec<WatchedToken>, HostError> {
    let destinations = quotes::destinations(&cx.db(), &chain.slug, (cx.now_s() - LATE_S, cx.now_s() - PAID_S)).await?;
    let configured = |token: &Token| WatchedToken { token: token.clone(), addresses: vec![chain.deposit] };
    let mut all: Vec<WatchedToken> = chain.tokens.iter().map(configured).collect();
    for destination in &destinations {
        if !add(&mut all, destination) {
            cx.error(&format!("quotes of {} have a destination that cannot be read: {destination:?}", chain.slug));
        }
    }
    let elsewhere = quotes::own_elsewhere(&cx.db(), &chain.slug, cx.now_s() - PAID_S).await?;
    add_own(&mut all, &destinations, &elsewhere);
    Ok(all)
}

/// Somebody may send another token to the address of a quote, or send on another chain than it is for: the operator hears of it.
fn add_own(all: &mut [WatchedToken], destinations: &[Destination], elsewhere: &[String]) {
    let own = destinations.iter().filter(|destination| destination.is_own);
    let own = own.map(|destination| &destination.deposit_address).chain(elsewhere);
    let own: BTreeSet<Address> = own.filter_map(|address| address.parse().ok()).collect();
    for watched in all {
        let known: BTreeSet<Address> = watched.addresses.iter().copied().collect();
        watched.addresses.extend(own.difference(&known));
    }
}

/// Returns false when it cannot be read.
fn add(all: &mut Vec<WatchedToken>, destination: &Destination) -> bool {
    let Destination { asset, token, decimals, deposit_address, .. } = destination;
    let (Ok(token), Ok(address), Ok(decimals)) = (token.parse(), deposit_address.parse(), u8::try_from(*decimals))
    else {
        return false;
    };
    match all.iter_mut().find(|watched| watched.token.address == token) {
        // Coins have no events: `native` finds them.
        _ if token == NATIVE => {}
        Some(watched) if watched.addresses.contains(&address) => {}
        Some(watched) => watched.addresses.push(address),
        None => {
            let token = Token { symbol: asset.clone(), address: token, decimals, exact: false, feed: None };
            all.push(WatchedToken { token, addresses: vec![address] });
        }
    }
    true
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn destinations_of_quotes_are_added_once() {
        let (token, deposit, old) = (Address([1; 20]), Address([2; 20]), Address([3; 20]));
        let usdc = Token { symbol: "USDC".to_owned(), address: token, decimals: 6, exact: true, feed: None };
        let mut all = vec![WatchedToken { token: usdc, addresses: vec![deposit] }];
        let to = |token: Address, address: Address| Destination {
            asset: "USDC".to_owned(),
            token: token.to_string(),
            decimals: 6,
            deposit_address: address.to_string(),
            is_own: false,
        };
        for destination in
            [to(token, deposit), to(token, old), to(token, old), to(Address([4; 20]), old), to(NATIVE, old)]
        {
            assert!(add(&mut all, &destination));
        }
        assert_eq!(all.len(), 2);
        assert_eq!((&all[0].addresses, all[0].token.exact), (&vec![deposit, old], true));
        assert_eq!((&all[1].addresses, all[1].token.exact), (&vec![old], false));
        assert!(!add(&mut all, &Destination { decimals: 300, ..to(token, old) }));
    }
}
