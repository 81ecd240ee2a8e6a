//! Many quotes of one amount at the same time, of which some are paid, some are paid wrongly and some never: what everybody gets is what a
//! table says that was written before.
//!
//! CI runs a sample of them; `cargo xtask prove` runs 1,000.

use crate::{CONFIRMATIONS, Chains, DEPTH, Site, deposit_address, list_addresses::XPUB, selling, transfer};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::{collections::BTreeSet, time::Duration};

/// Of CI.
const SAMPLE: u64 = 20;
/// Recipients are the wallets from this number on.
const FIRST: u64 = 10_000;
/// A client may ask for 20 quotes in a minute.
const PER_CLIENT: u64 = 15;
/// Transfers of a block: the servers return no more events than this, and some.
const PER_BLOCK: usize = 50;
/// So many are paid in the time for which a test waits, on a loaded machine as well.
const STEP: usize = 10;

/// What is sent for a quote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Payment {
    Once,
    /// Which buys coins once.
    Twice,
    /// In a block that two servers see, and that a reorganisation removes.
    Reorganised,
    Never,
}

/// By the quote's place, so that neighbours in amount differ.
fn payment(place: usize) -> Payment {
    match place % 5 {
        0 | 3 => Payment::Once,
        1 => Payment::Twice,
        2 => Payment::Never,
        _ => Payment::Reorganised,
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_of_many_quotes_of_one_amount_gets_what_was_sent_for_it() {
    for with_addresses in [false, true] {
        let mut builders = vec![TestGateway::builder()];
        builders.extend(TestGateway::postgres_builder().await);
        for builder in builders {
            sell(builder, with_addresses).await;
        }
    }
}

async fn sell(builder: plugin_testing::Builder, with_addresses: bool) {
    let count = std::env::var("GATEWAY_TEST_QUOTES").ok().and_then(|text| text.parse().ok()).unwrap_or(SAMPLE);
    let mut config = selling();
    for key in ["hour_max_wei", "day_max_wei"] {
        config[key] = json!("1000000000000000000000000");
    }
    for key in ["open_per_network", "open_usd_max", "open_usd_per_network"] {
        config[key] = json!(100_000);
    }
    config["own_addresses_max"] = json!(1000);
    if with_addresses {
        config["chains"]["dev"]["xpub"] = json!(XPUB);
    }
    let site = Chains::start().await.site(builder, &config).await;
    let mut quotes = Vec::new();
    for number in 0..count {
        quotes.push(quote(&site, number).await);
    }
    let places = quotes.iter().map(|quote| (&quote["sendExactly"], &quote["depositAddress"]));
    let places: BTreeSet<String> = places.map(|place| format!("{place:?}")).collect();
    assert_eq!(places.len(), quotes.len(), "each has an amount or an address of its own");

    let logs = |times: fn(Payment) -> usize| {
        let of = |(place, quote): (usize, &Value)| {
            let to = quote["depositAddress"].as_str().unwrap().parse().unwrap();
            let log = transfer(&Wallet::new(30), to, quote["sendExactly"].as_str().unwrap());
            vec![log; times(payment(place))]
        };
        quotes.iter().enumerate().flat_map(of).collect::<Vec<_>>()
    };
    // An amount that is no quote's, at the shared address.
    site.dev.mine(vec![transfer(&Wallet::new(30), deposit_address(), "19990000")]);
    let parent = site.dev.head();
    // In one block, which has never all confirmations.
    site.dev.mine(logs(|payment| usize::from(payment == Payment::Reorganised)));
    let removed = quotes.iter().enumerate().filter(|(place, _)| payment(*place) == Payment::Reorganised);
    for (_, quote) in removed.take(3) {
        site.becomes(quote, "seen").await;
    }
    site.dev.reorg(site.dev.head() - parent);
    for part in logs(|payment| match payment {
        Payment::Once => 1,
        Payment::Twice => 2,
        Payment::Reorganised | Payment::Never => 0,
    })
    .chunks(PER_BLOCK)
    {
        site.dev.mine(part.to_vec());
    }
    site.dev.mine_empty(CONFIRMATIONS);
    let expected = (0..quotes.len()).filter(|place| matches!(payment(*place), Payment::Once | Payment::Twice)).count();
    for goal in (STEP..expected).step_by(STEP).chain([expected]) {
        let paid = async || {
            site.main.mine_empty(1);
            site.service().await["paid"].as_u64() >= u64::try_from(goal).ok()
        };
        site.until(&format!("{goal} are paid"), paid).await;
    }
    site.main.mine_empty(2 + DEPTH);
    for (place, (quote, number)) in quotes.iter().zip(FIRST..).enumerate() {
        let coins = site.coins_of(&Wallet::new(number));
        match payment(place) {
            Payment::Once | Payment::Twice => assert_eq!(coins, [quote["fmxOut"].as_str().unwrap()], "{place}"),
            Payment::Reorganised | Payment::Never => assert_eq!(coins, [""; 0], "{place}"),
        }
    }
    assert_eq!(site.main.mined().len(), expected);
    site.gateway.clock().advance(Duration::from_secs(60)).await;
    site.close().await;
}

async fn quote(site: &Site, number: u64) -> Value {
    let body = json!({ "chain": "dev", "asset": "USDX", "amount": "20", "to": Wallet::new(FIRST + number).address() });
    let client = format!("203.0.{}.{}", number / PER_CLIENT / 200, 1 + number / PER_CLIENT % 200);
    site.gateway.set_client_ip(client.parse().unwrap());
    let response = site.ask(body).await;
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}
