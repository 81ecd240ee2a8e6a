//! `GET /api/payin/addresses`, and a deposit address for each quote: what comes to it is the quote's, whatever fee was taken from it, and no
//! address is handed out twice.

use crate::{
    CONFIRMATIONS, Chains, Site, TOKEN, assert_refused, buyer, deposit_address, each, operator, selling, transfer,
};
use futures_util::future::join_all;
use plugin_api::Address;
use plugin_testing::{ScriptedChain, TestGateway, TestResponse, Value, Wallet, json};
use std::{collections::BTreeSet, time::Duration};

/// m/44'/60'/0' of the seed of 32 bytes 0x77, and its first addresses: computed with @scure/bip32 and viem.
pub const XPUB: &str =
    "xpub6C9j5N4Uw7GqhzQKbrfQeMuKLGWj4hBbC1FUP9RiAkKu214V7d35Xu44LkScWoqFJdB5uWSEyj7EvbYmziWFMsXYT5PsGdGerHTwSER7ozq";
pub const FIRST: &str = "0xFc7e1e8c3e38151338B30CCDa654E58aBd03a81b";
pub const SECOND: &str = "0xb2B649b31F8e744c09fe0d166F770DAFa706F617";
const DAY: Duration = Duration::from_secs(86_400);

pub fn with_own_addresses() -> Value {
    let mut config = selling();
    config["chains"]["dev"]["xpub"] = json!(XPUB);
    config
}

pub fn own(quote: &Value) -> Address {
    quote["depositAddress"].as_str().unwrap().parse().unwrap()
}

pub async fn reason(site: &Site, units: &str) -> String {
    let of = async || site.deposits("unmatched").await.into_iter().find(|deposit| deposit["units"] == units);
    site.until("it is the operator's", async || of().await.is_some()).await;
    of().await.unwrap()["reason"].as_str().unwrap().to_owned()
}

pub async fn addresses(site: &Site, wallet: &Wallet) -> TestResponse {
    let headers = wallet.signed_headers("payin.addresses", site.gateway.now_s(), "{}");
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    site.gateway.send("GET", "/api/payin/addresses", &headers, "").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_arrives_at_the_address_of_a_quote_is_paid_in_proportion() {
    each(with_own_addresses(), async |site| {
        let (one, two) = (site.quote("10").await, site.quote_for(&Wallet::new(12), "10").await);
        assert_eq!((&one["depositAddress"], &two["depositAddress"]), (&json!(FIRST), &json!(SECOND)));
        for quote in [&one, &two] {
            let amounts = (&quote["sendExactly"], &quote["dustUnits"], &quote["dustDirection"]);
            assert_eq!(amounts, (&json!("10000000"), &json!("0"), &json!("none")));
        }
        // A first try to the one, an exchange's fee of a tenth less than that of the other; what is meant for no quote to both.
        site.dev.mine(vec![
            transfer(&buyer(), own(&one), "4999999"),
            transfer(&buyer(), own(&two), "9000000"),
            transfer(&buyer(), own(&one), "10100001"),
            transfer(&buyer(), deposit_address(), "10000000"),
        ]);
        assert!(reason(&site, "4999999").await.contains("for more than twice as much"));
        assert!(reason(&site, "10100001").await.contains("is for less"));
        assert!(reason(&site, "10000000").await.contains("no open quote has this amount"));
        let two_paid = site.pays(&two).await;
        assert_eq!(two_paid.value.to_string(), "176400000000000000000", "9 USDX at 0.05, less 2 %");
        assert_eq!(site.state(&one).await["status"], "quoted");
        // A second deposit at a quote's address buys nothing by itself.
        site.dev.mine(vec![transfer(&buyer(), own(&two), "9500000"), transfer(&buyer(), own(&one), "5000000")]);
        assert!(reason(&site, "9500000").await.contains("has a deposit, or is over"));
        let one_paid = site.pays(&one).await;
        assert_eq!(one_paid.value.to_string(), "98000000000000000000");
        site.paid(&one).await;
        site.paid(&two).await;
        assert_eq!(site.main.mined().len(), 2);

        let listed = addresses(&site, &operator()).await.json();
        let rows: Vec<_> = listed["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|row| {
                (
                    row["index"].as_i64().unwrap(),
                    row["address"].clone(),
                    row["chain"].clone(),
                    row["token"].clone(),
                    row["deposits"].clone(),
                )
            })
            .collect();
        let (token, dev) = (json!(ScriptedChain::address_of(TOKEN)), json!("dev"));
        assert_eq!(
            rows,
            [(0, json!(FIRST), dev.clone(), token.clone(), json!(3)), (1, json!(SECOND), dev, token, json!(2)),]
        );
        assert_eq!(addresses(&site, &buyer()).await.status, 403);
        site
    })
    .await;
}

/// What the operator moves from a quote's address to another buys nothing, whatever its amount; also long after the quote.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_is_no_deposit_and_what_is_late_is_the_operators() {
    each(with_own_addresses(), async |site| {
        let early = site.quote("10").await;
        site.gateway.clock().advance(Duration::from_secs(1600)).await;
        // A block each 7 s: all confirmations are past the grace.
        let over = early["expiresAt"].as_u64().unwrap() + 600 - 1_767_225_600;
        while site.dev.head() <= over / 7 + CONFIRMATIONS {
            site.dev.mine_empty(1);
        }
        site.becomes(&early, "expired").await;
        let open = site.quote_for(&Wallet::new(12), "20").await;
        assert_eq!(open["depositAddress"], SECOND, "no address is handed out again");
        // The sender is known by its address alone.
        site.dev.mine(vec![transfer_from(own(&early), own(&open), "20000000")]);
        assert!(reason(&site, "20000000").await.contains("another deposit address"));
        assert_eq!(site.state(&open).await["status"], "quoted");
        site.dev.mine(vec![transfer(&buyer(), own(&early), "10000000")]);
        site.dev.mine_empty(CONFIRMATIONS + 1);
        site.after_run("scan").await;
        assert!(site.deposits("unmatched").await.iter().all(|deposit| deposit["units"] != "10000000"), "not yet");
        site.gateway.clock().advance(DAY).await;
        let late = reason(&site, "10000000").await;
        assert!(late.contains("has a deposit, or is over"), "{late}");
        assert!(site.main.mined().is_empty() && site.main.waiting().is_empty());
        // Restarted with the same key the index goes on; with addresses by amount the old ones are still known.
        let site =
            site.restart_with(|config| drop(config["chains"]["dev"].as_object_mut().unwrap().remove("xpub"))).await;
        site.dev.mine_empty(1);
        site.until("deposits are scanned", async || site.assets().await["chains"][0]["available"] == true).await;
        let shared = site.quote_for(&Wallet::new(13), "30").await;
        assert_eq!(shared["depositAddress"], json!(deposit_address()));
        site.dev.mine(vec![transfer_from(own(&early), deposit_address(), shared["sendExactly"].as_str().unwrap())]);
        assert!(reason(&site, "30000000").await.contains("another deposit address"));
        assert_eq!(site.state(&shared).await["status"], "quoted");
        site
    })
    .await;
}

pub fn transfer_from(from: Address, to: Address, units: &str) -> plugin_testing::ScriptedLog {
    plugin_testing::ScriptedLog::new(TOKEN, crate::TRANSFER, &[json!(from), json!(to), json!(units)])
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn open_addresses_are_bounded_and_a_key_belongs_to_one_chain() {
    let mut config = with_own_addresses();
    config["own_addresses_max"] = json!(1);
    each(config, async |site| {
        let quote = site.quote("10").await;
        let ask = || json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": Wallet::new(12).address() });
        assert_refused(&site.ask(ask()).await, 503, "addresses_full");
        site.dev.mine(vec![transfer(&buyer(), own(&quote), "10000000")]);
        site.becomes(&quote, "seen").await;
        // A payout may be held back for long.
        assert_eq!(site.quote_for(&Wallet::new(12), "10").await["depositAddress"], SECOND);
        site.pays(&quote).await;
        site.paid(&quote).await;
        site.gateway.execute("UPDATE payin_accounts SET chain = 'other'").await;
        site.gateway.execute("UPDATE payin_quotes SET ended_at = 1 WHERE status = 'quoted'").await;
        let refused = site.ask(ask()).await;
        assert_refused(&refused, 503, "chain_unavailable");
        assert!(refused.text().contains("of another chain"), "{}", refused.text());
        site
    })
    .await;
}

/// Two gateways on one PostgreSQL, at the same time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_gateways_hand_out_each_address_once() {
    let Some(builder) = TestGateway::postgres_builder().await else { return };
    let site = Chains::start().await.site(builder, &with_own_addresses()).await;
    let url = site.gateway.gateway().config.database.url.clone();
    let chains = Chains { main: site.main.clone(), dev: site.dev.clone(), second: site.second.clone() };
    let other = chains.prepared(TestGateway::builder(), &with_own_addresses());
    let other = other.configure(|config| config.database.url = url).start().await;
    let asks = (100..116).map(|number| {
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": Wallet::new(number).address() });
        let gateway = if number % 2 == 0 { &site.gateway } else { &other };
        async move {
            gateway.send("POST", "/api/payin/quote", &[("content-type", "application/json")], body.to_string()).await
        }
    });
    let responses = join_all(asks).await;
    assert!(responses.iter().all(|response| matches!(response.status, 201 | 503)));
    let quotes: Vec<Value> =
        responses.iter().filter(|response| response.status == 201).map(TestResponse::json).collect();
    let own: BTreeSet<String> = quotes.iter().map(|quote| quote["depositAddress"].to_string()).collect();
    assert!(own.len() == quotes.len() && quotes.len() > 1, "{own:?}");

    other.stop().await;
    site.close().await;
}
