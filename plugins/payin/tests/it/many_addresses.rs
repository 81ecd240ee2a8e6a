//! More own addresses than one request for events names: none is left out.

use crate::{
    each,
    list_addresses::{own, with_own_addresses},
    transfer,
};
use plugin_api::Address;
use plugin_testing::{ScriptedLog, Value, Wallet, json};

/// Beside one that was asked for; a request names 500.
const MORE: usize = 1100;
const COLUMNS: &str = "chain, asset, token, decimals, recipient, payer, network, requested, send, send_key, usd, usd_micro, price, spread_bps, \
     fmx_out, quoted_out, position, required, status, confirmations, retry_at, attempt, is_mined, created_at, expires_at, asset_usd, site";

fn address(number: usize) -> Address {
    let mut bytes = [0xab; 20];
    bytes[..8].copy_from_slice(&(number as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes());
    Address(bytes)
}

/// Copies of a quote, each with an address of its own.
fn copies(quote: &Value) -> Vec<String> {
    let id = quote["quoteId"].as_str().unwrap();
    let copy = |number: usize| {
        let address = address(number);
        [
            format!(
                "INSERT INTO payin_quotes (id, deposit_address, open_key, address_index, {COLUMNS}) \
                 SELECT 'q_copy{number}', '{address}', 'dev {address}', {number}, {COLUMNS} FROM payin_quotes WHERE id = '{id}'"
            ),
            format!(
                "INSERT INTO payin_addresses (chain, address, xpub, address_index, quote, expires_at, late_from, late_at) \
                 SELECT chain, '{address}', xpub, {number}, 'q_copy{number}', expires_at, late_from, late_at FROM payin_addresses WHERE quote = '{id}'"
            ),
        ]
    };
    (1..=MORE).flat_map(copy).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn deposits_to_each_of_many_addresses_are_seen() {
    let mut config = with_own_addresses();
    config["chains"]["dev"]["tokens"]["USDX"]["exact"] = json!(true);
    each(config, async |site| {
        let quote = site.quote("10").await;
        for statement in copies(&quote) {
            site.gateway.execute(&statement).await;
        }
        let mut all: Vec<(Address, String)> =
            (1..=MORE).map(|number| (address(number), format!("q_copy{number}"))).collect();
        all.push((own(&quote), quote["quoteId"].as_str().unwrap().to_owned()));
        all.sort_by_key(|(address, _)| address.to_string());
        // Of the first, a middle and the last request, and at the ends of each.
        let paid: Vec<&(Address, String)> = [0, 498, 499, 750, 998, 999, MORE].iter().map(|at| &all[*at]).collect();
        let logs: Vec<ScriptedLog> =
            paid.iter().map(|(address, _)| transfer(&Wallet::new(30), *address, "10000000")).collect();
        site.dev.mine(logs);
        let seen = async || site.gateway.rows("SELECT id FROM payin_quotes WHERE status = 'seen'").await;
        site.until("all are seen", async || seen().await.len() == paid.len()).await;
        let mut expected: Vec<String> = paid.iter().map(|(_, id)| format!("Text(\"{id}\")")).collect();
        let mut found = seen().await;
        expected.sort();
        found.sort();
        assert_eq!(found, expected);
        site
    })
    .await;
}
