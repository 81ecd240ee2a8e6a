//! `POST /api/payin/quote`: which amounts quotes get, what is refused, and when an amount is free again.

use crate::{Chains, Site, assert_refused, buyer, deposit_address, each, selling, transfer};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::collections::BTreeSet;

fn sends(quote: &Value) -> &str {
    quote["sendExactly"].as_str().unwrap()
}

pub async fn refusal(site: &Site, change: Value) -> (u16, Value) {
    let mut body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": buyer().address() });
    body.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
    let response = site.ask(body).await;
    (response.status, response.json()["code"].clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_two_open_quotes_have_one_amount() {
    let mut config = selling();
    config["open_per_network"] = json!(20);
    each(config, async |site| {
        let one = site.quote("25.5").await;
        let other = site.quote_for(&Wallet::new(12), "25.500000").await;
        assert_eq!((sends(&one), sends(&other)), ("25500000", "25500001"));
        let expected = ("1", "up", "25.5", "25.500001");
        let text = |member: &str| other[member].as_str().unwrap().to_owned();
        assert_eq!(
            expected,
            (&*text("dustUnits"), &*text("dustDirection"), &*text("amountRequested"), &*text("amount"))
        );
        // What is sent is paid for: 25.500001 / 0.05 × 0.98, to the wei.
        assert_eq!((&other["fmxOut"], &other["usd"]), (&json!("499800019600000000000"), &json!("25.500001")));

        // At the same time, too.
        let recipients: Vec<Wallet> = (20..28).map(Wallet::new).collect();
        let asks = recipients.iter().map(|to| site.quote_for(to, "25.5"));
        let quotes = futures_util::future::join_all(asks).await;
        let amounts: BTreeSet<&str> = quotes.iter().chain([&one, &other]).map(sends).collect();
        assert_eq!(amounts.len(), 10, "{amounts:?}");

        // Of 1 USDX, 0.1 % are 1,000 units.
        site.gateway.execute(&fillers()).await;
        let full =
            site.ask(json!({ "chain": "dev", "asset": "USDX", "amount": 1, "to": Wallet::new(40).address() })).await;
        assert_refused(&full, 503, "no_amount_free");
        site
    })
    .await;
}

/// Quotes of somebody else with each amount from 1,000,000 units to 1,001,000.
fn fillers() -> String {
    let token = plugin_testing::ScriptedChain::address_of(crate::TOKEN);
    let (send, zeros) = ("CAST(1000000 + i AS TEXT)", "0".repeat(71));
    format!(
        "WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1000) \
         INSERT INTO payin_quotes (id, chain, asset, token, decimals, deposit_address, recipient, network, requested, send, send_key, usd, \
         usd_micro, price, spread_bps, fmx_out, quoted_out, position, required, status, open_key, confirmations, retry_at, attempt, is_mined, created_at, \
         expires_at) SELECT 'filler ' || {send}, 'dev', 'USDX', '{token}', 6, '', 'somebody', 'elsewhere', '1000000', {send}, '{zeros}' || {send}, \
         '1', 1, '1', 200, '1', '1', 0, 3, 'quoted', 'dev {token} ' || {send}, 0, 0, 1, 0, 1767225600, 1767226500 FROM n"
    )
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_checked() {
    each(selling(), async |site| {
        let zero = "0x0000000000000000000000000000000000000000";
        for (change, code) in [
            (json!({ "chain": "eth" }), "unknown_chain"),
            (json!({ "asset": "ETH" }), "unknown_asset"),
            (json!({ "amount": "0" }), "bad_amount"),
            (json!({ "amount": "1.0000001" }), "bad_amount"),
            (json!({ "amount": "1e3" }), "bad_amount"),
            (json!({ "amount": -5 }), "bad_amount"),
            (json!({ "amount": "1234567890123456" }), "bad_amount"),
            (json!({ "amount": null }), "bad_amount"),
            (json!({ "amount": "0.999999" }), "out_of_bounds"),
            (json!({ "amount": "10000.000001" }), "out_of_bounds"),
            (json!({ "amount": "999999999999999" }), "out_of_bounds"),
            (json!({ "to": zero }), "bad_address"),
            (json!({ "to": "0x12" }), "bad_request"),
            (json!({ "amount": { "usd": 10 } }), "bad_request"),
        ] {
            assert_eq!(refusal(&site, change.clone()).await, (400, json!(code)), "{change}");
        }
        // One payout may be 1,000 coins: 51.02 USD.
        assert_eq!(refusal(&site, json!({ "amount": "60" })).await, (503, json!("no_coins")));
        // There is no USDC here, which the first version means.
        let first = site.ask(json!({ "chain": "dev", "usdc": "10", "target": buyer().address() })).await;
        assert_refused(&first, 400, "unknown_asset");

        for _ in 0..5 {
            site.quote("10").await;
        }
        assert_eq!(refusal(&site, json!({})).await, (429, json!("too_many_open")));
        assert_eq!(site.gateway.rows("SELECT count(*) FROM payin_quotes").await, ["Int(5)"]);
        site
    })
    .await;
}

/// A deposit of an earlier block cannot be for the quote, also when the server that is asked is behind the scan.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_quote_begins_after_what_was_scanned() {
    each(selling(), async |site| {
        let scanned_to = site.dev.head() + 2;
        site.gateway.execute(&format!("UPDATE payin_scans SET scanned_to = {scanned_to}")).await;
        site.quote("10").await;
        assert_eq!(site.gateway.rows("SELECT position FROM payin_quotes").await, [format!("Int({scanned_to})")]);
        site
    })
    .await;
}

/// 10 USDX buy exactly what one payout may be: the unit of dust that another quote makes necessary is too much.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_quote_is_above_the_cap_with_its_dust() {
    let mut config = selling();
    config["payout_max_wei"] = json!("196000000000000000000");
    each(config, async |site| {
        assert_eq!(site.quote("10").await["fmxOut"], "196000000000000000000");
        assert_eq!(refusal(&site, json!({})).await, (503, json!("no_coins")));
        assert_eq!(site.gateway.rows("SELECT count(*) FROM payin_quotes").await, ["Int(1)"]);
        site
    })
    .await;
}

/// A token that the configuration reads wrongly would be sold for a millionth, or for a million times its worth.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_with_other_decimals_than_its_contract_is_paused() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.deposit(&quote);
        let other = json!({ "address": Wallet::new(71).address(), "decimals": 6 });
        let wrong = |config: &mut Value| {
            let tokens = &mut config["chains"]["dev"]["tokens"];
            tokens["USDX"]["decimals"] = json!(18);
            tokens["OTHER"] = other;
        };
        let site = site.restart_with(wrong).await;
        // Whoever asks before the first scan gets none either.
        assert_eq!(refusal(&site, json!({})).await, (503, json!("chain_unavailable")));
        let both = json!(["dev OTHER", "dev USDX"]);
        site.until("they are paused", async || site.service().await["pausedAssets"] == both).await;
        assert_eq!(site.service().await["ok"], false);
        let paused = site.operate(&crate::operator(), "pause", "payin.pause", json!({ "paused": false })).await.json();
        let reason = "its contract has 6 decimals, and the configuration 18";
        assert_eq!(paused["paused"][1], json!({ "chain": "dev", "asset": "USDX", "reason": reason }));
        site.dev.mine_empty(crate::CONFIRMATIONS);
        site.becomes(&quote, "confirmed").await;
        site.until("it is not paid", async || site.state(&quote).await["error"] == "payouts are paused").await;
        assert!(site.main.waiting().is_empty());

        // One is right now, and the other one is not configured any more.
        let right = |config: &mut Value| {
            let tokens = &mut config["chains"]["dev"]["tokens"];
            tokens["USDX"]["decimals"] = json!(6);
            tokens.as_object_mut().unwrap().remove("OTHER");
        };
        let site = site.restart_with(right).await;
        site.until("it goes on", async || site.service().await["pausedAssets"] == json!([])).await;
        site.pays(&quote).await;
        site.paid(&quote).await;
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payer_supersedes_its_own_quotes_alone() {
    each(selling(), async |site| {
        let (payer, stranger, to) = (Wallet::new(31), Wallet::new(32), Wallet::new(33));
        let ask = async |from: &Wallet, to: &Wallet| {
            let body =
                json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": to.address(), "from": from.address() });
            site.ask(body).await.json()
        };
        let first = ask(&payer, &buyer()).await;
        let of_stranger = ask(&stranger, &buyer()).await;
        let elsewhere = ask(&payer, &to).await;
        let second = ask(&payer, &buyer()).await;
        for (quote, status) in
            [(&first, "superseded"), (&of_stranger, "quoted"), (&elsewhere, "quoted"), (&second, "quoted")]
        {
            assert_eq!(site.state(quote).await["status"], status);
        }
        // A deposit of the superseded amount counts; one of another payer does not.
        site.dev.mine(vec![
            transfer(&payer, deposit_address(), sends(&first)),
            transfer(&payer, deposit_address(), sends(&of_stranger)),
        ]);
        site.becomes(&first, "seen").await;
        let unmatched = async || site.deposits("unmatched").await.len() == 1;
        site.until("the other one is the operator's", unmatched).await;
        assert!(site.deposits("unmatched").await[0]["reason"].as_str().unwrap().contains("another payer"));
        assert_eq!(site.state(&of_stranger).await["status"], "quoted");
        site
    })
    .await;
}

/// They keep their amounts: whoever asks again and again would have all of them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn superseded_quotes_count_as_open() {
    each(selling(), async |site| {
        let of_payer = json!({ "from": Wallet::new(31).address() });
        for _ in 0..5 {
            assert_eq!(refusal(&site, of_payer.clone()).await.0, 201);
        }
        let superseded = site.gateway.rows("SELECT count(*) FROM payin_quotes WHERE status = 'superseded'").await;
        assert_eq!(superseded, ["Int(4)"]);
        assert_eq!(refusal(&site, of_payer).await, (429, json!("too_many_open")));
        site.gateway.execute("UPDATE payin_quotes SET expires_at = 1").await;
        let expired =
            async || site.gateway.rows("SELECT DISTINCT status FROM payin_quotes").await == ["Text(\"expired\")"];
        site.until("their amounts are free when they expire", expired).await;
        site
    })
    .await;
}

/// The time of blocks decides, not the gateway's clock.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_amount_is_free_when_the_scan_has_passed_its_grace() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        let expires_at = quote["expiresAt"].as_u64().unwrap();
        // The last block whose time is within expiry and grace.
        let block_of = |time: u64| (time - 1_767_225_600) / 7;
        let last_in_time = block_of(expires_at + 600);
        let late = transfer(&buyer(), deposit_address(), sends(&quote));
        while site.dev.head() < last_in_time {
            site.dev.mine_empty(1);
        }
        site.after_run("scan").await;
        assert_eq!(site.state(&quote).await["status"], "quoted", "not all confirmations are past the grace");
        assert_eq!(sends(&site.quote_for(&Wallet::new(12), "10").await), "10000001");
        site.dev.mine(vec![late]);
        site.dev.mine_empty(crate::CONFIRMATIONS);
        site.becomes(&quote, "expired").await;
        let unmatched = site.deposits("unmatched").await;
        assert_eq!(unmatched.len(), 1, "it came too late: {unmatched:?}");
        assert_eq!(sends(&site.quote_for(&Wallet::new(12), "10").await), "10000000");
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_price_caps_or_key_there_is_no_quote() {
    for missing in ["price_usd", "day_max_wei", "chains"] {
        let mut config = selling();
        config.as_object_mut().unwrap().remove(missing);
        let chains = Chains::start().await;
        let gateway = chains.prepared(TestGateway::builder(), &config).start().await;
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": buyer().address() });
        let headers = [("content-type", "application/json")];
        let refused = gateway.send("POST", "/api/payin/quote", &headers, body.to_string()).await;
        assert_refused(&refused, 503, "disabled");
        assert_eq!(refused.json()["disabled"], true);
        assert_eq!(gateway.get("/api/payin/assets").await.json()["enabled"], false);
        let unknown = gateway.get("/api/payin/q_0000000000000000").await;
        assert_refused(&unknown, 404, "not_found");
        gateway.stop().await;
    }
}

/// A host with IPv6 has a /48 for nothing, of 65,536 networks.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_site_has_a_few_times_the_quotes_of_a_network() {
    let mut config = selling();
    config["open_per_network"] = json!(1);
    each(config, async |site| {
        // All are for one recipient, whom nobody asked.
        let ask = async |site: &Site, ip: &str| {
            site.gateway.set_client_ip(ip.parse().unwrap());
            refusal(site, json!({})).await
        };
        for network in 0..4 {
            assert_eq!(ask(&site, &format!("2001:db8:1:{network}::1")).await.0, 201);
        }
        let refused = (429, json!("too_many_open"));
        assert_eq!(ask(&site, "2001:db8:1:3::2").await, refused, "the network has its one");
        assert_eq!(ask(&site, "2001:db8:1:4::1").await, refused, "the site has its four");
        assert_eq!(ask(&site, "2001:db8:2::1").await.0, 201, "another site");
        assert_eq!(ask(&site, "2001:db8:1:4::1").await, refused, "the quote of another site is not its own");
        assert_eq!(ask(&site, "192.0.2.1").await.0, 201);
        assert_eq!(ask(&site, "192.0.2.1").await, refused, "without a site, the network has its one, too");

        // USD are those of the site together: it has 40 of 55.
        let more = |config: &mut Value| {
            config["open_per_network"] = json!(100);
            config["open_usd_per_network"] = json!(55);
        };
        let site = site.restart_with(more).await;
        site.after_run("scan").await;
        assert_eq!(ask(&site, "2001:db8:1:5::1").await.0, 201);
        assert_eq!(ask(&site, "2001:db8:1:6::1").await, refused);
        assert_eq!(ask(&site, "2001:db8:2:6::1").await.0, 201);
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn quotes_that_expired_long_ago_are_deleted() {
    each(selling(), async |site| {
        let (old, young, with_deposit) = (site.quote("10").await, site.quote("20").await, site.quote("30").await);
        let days_ago = |quote: &Value, days: i64| {
            let (ended_at, id) = (site.gateway.now_s() - days * 86_400, quote["quoteId"].as_str().unwrap());
            format!(
                "UPDATE payin_quotes SET status = 'expired', open_key = NULL, ended_at = {ended_at} WHERE id = '{id}'"
            )
        };
        site.gateway.execute("UPDATE payin_quotes SET deposit = 7 WHERE send = '30000000'").await;
        for (quote, days) in [(&old, 31), (&young, 29), (&with_deposit, 31)] {
            site.gateway.execute(&days_ago(quote, days)).await;
        }
        site.after_run("scan").await;
        let id = |quote: &Value| format!("Text(\"{}\")", quote["quoteId"].as_str().unwrap());
        let mut kept = [id(&young), id(&with_deposit)];
        kept.sort();
        assert_eq!(site.gateway.rows("SELECT id FROM payin_quotes ORDER BY id").await, kept);
        assert_eq!(site.gateway.rows("SELECT quote FROM payin_history ORDER BY quote").await, kept);
        site
    })
    .await;
}
