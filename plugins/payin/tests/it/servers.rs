//! Servers that cap, lag, lie or have pruned their state. What two of them do not agree on does not count.

use crate::{CONFIRMATIONS, Chains, assert_refused, buyer, each, selling};
use plugin_testing::{Fault, TestGateway, Wallet, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_cap_ranges_are_scanned_in_smaller_windows() {
    each(selling(), async |site| {
        site.dev.fail_always(Some(Fault::RangeMax(7)));
        site.second.fail_always(Some(Fault::RangeMax(30)));
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.dev.mine_empty(150);
        let sent = site.pays(&quote).await;
        assert_eq!(sent.value.to_string(), "196000000000000000000");
        site.paid(&quote).await;
        site
    })
    .await;
}

/// Anybody can fill a block with dust for the address: no server tells all its events at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_with_more_events_than_servers_tell_is_read_by_its_receipts() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.dev.fail_always(Some(Fault::RangeMax(0)));
        site.second.fail_always(Some(Fault::RangeMax(0)));
        site.deposit(&quote);
        site.dev.mine_empty(CONFIRMATIONS);
        let sent = site.pays(&quote).await;
        assert_eq!(sent.value.to_string(), "196000000000000000000");
        site.paid(&quote).await;
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_that_one_server_hides_or_lacks_waits() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        // One lags: the deposit is beyond the blocks that both have.
        site.second.set_lag(5);
        site.deposit(&quote);
        site.dev.mine_empty(1);
        site.after_run("scan").await;
        assert_eq!(site.state(&quote).await["status"], "quoted");
        // It has the block, and lies about its events.
        site.second.fail_always(Some(Fault::HidesLogs));
        site.second.set_lag(0);
        let fails = async || site.service().await["chains"]["dev"]["consecutiveFailures"].as_i64() >= Some(3);
        site.until("scans fail", fails).await;
        assert_eq!(site.state(&quote).await["status"], "quoted");
        let service = site.service().await;
        assert_eq!((&service["ok"], &service["unavailableChains"]), (&json!(false), &json!(["dev"])), "{service}");
        let error = "two of its servers must answer alike, and did not";
        assert_eq!(service["chains"]["dev"]["lastError"], error, "the log has the reason: {service}");
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": buyer().address() });
        let refused = site.ask(body).await;
        assert_refused(&refused, 503, "chain_unavailable");
        assert_eq!(refused.json()["availableChains"], json!([]));

        site.second.fail_always(None);
        site.becomes(&quote, "seen").await;
        // A receipt of another transaction, or none, is no deposit: nothing is paid on one server's word.
        site.dev.mine_empty(CONFIRMATIONS);
        site.pays(&quote).await;
        site.paid(&quote).await;
        site
    })
    .await;
}

/// Servers behind one address: the one that told of the newest block is ahead of those that are asked for it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_lack_their_newest_block_are_asked_later() {
    each(selling(), async |site| {
        let servers = [&site.dev, &site.second];
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": buyer().address() });
        for _ in 0..20 {
            servers.iter().for_each(|server| server.set_lag(5));
            // Quotes, as many as one recipient may have, or the advice to come again.
            let answer = site.ask(body.clone()).await;
            assert!([201, 429, 503].contains(&answer.status), "{}", answer.text());
            servers.iter().for_each(|server| server.set_lag(0));
            tokio::time::sleep(std::time::Duration::from_millis(60)).await;
        }
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": Wallet::new(12).address() });
        let answered = async || site.ask(body.clone()).await.status == 201;
        site.until("they have it", answered).await;
        site
    })
    .await;
}

/// The balance before the block cannot be read: the deposit waits, and quotes of its amount with it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_old_state_a_deposit_waits() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.dev.fail_always(Some(Fault::NoOldState));
        site.second.fail_always(Some(Fault::NoOldState));
        site.deposit(&quote);
        let waits = async || site.deposits("new").await.first().is_some_and(|deposit| deposit["reason"].is_string());
        site.until("it waits", waits).await;
        let waiting = site.deposits("new").await;
        assert!(waiting[0]["reason"].as_str().unwrap().contains("missing trie node"), "{waiting:?}");
        // Not even when its quote's grace is over.
        site.dev.mine_empty(220);
        site.after_run("scan").await;
        assert_eq!(site.state(&quote).await["status"], "quoted");
        site.dev.fail_always(None);
        site.second.fail_always(None);
        site.pays(&quote).await;
        site.paid(&quote).await;
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_server_is_not_enough_and_a_wrong_chain_is_refused() {
    let chains = Chains::start().await;
    let builder = chains.prepared(TestGateway::builder(), &selling()).configure(|config| {
        config.chains.get_mut("dev").unwrap().rpc.truncate(1);
    });
    let gateway = builder.start().await;
    let fails = async || {
        gateway.clock().advance(std::time::Duration::from_secs(5)).await;
        let status = gateway.collect("status", &json!({})).await;
        status["payin"]["payin"]["chains"]["dev"]["lastError"]
            .as_str()
            .is_some_and(|error| error.contains("two of its servers"))
    };
    TestGateway::eventually(crate::MINUTE, "the scan says why", fails).await;
    let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": buyer().address() });
    let headers = [("content-type", "application/json")];
    let refused = gateway.send("POST", "/api/payin/quote", &headers, body.to_string()).await;
    assert_refused(&refused, 503, "chain_unavailable");
    gateway.stop().await;

    let mut config = selling();
    config["chains"]["dev"]["chain_id"] = json!(1);
    let gateway = chains.prepared(TestGateway::builder(), &config).open().await;
    let reports = gateway.reports().await;
    assert!(reports[0].reason.contains("it is 1 here and 31337 in [chains]"), "{}", reports[0].reason);
    gateway.stop().await;
}

/// What two servers never agree on holds up that deposit alone.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_receipt_on_which_servers_differ_leaves_its_chain_available() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        site.deposit(&quote);
        site.becomes(&quote, "seen").await;
        site.second.fail_always(Some(Fault::NullOn("eth_getTransactionReceipt")));
        site.dev.mine_empty(CONFIRMATIONS);
        for _ in 0..2 {
            site.after_run("scan").await;
        }
        let chain = &site.service().await["chains"]["dev"];
        assert_eq!((&chain["ok"], &chain["consecutiveFailures"]), (&json!(true), &json!(0)), "{chain}");
        assert_eq!(site.state(&quote).await["status"], "seen");
        site.quote_for(&Wallet::new(12), "20").await;
        site.second.fail_always(None);
        site.pays(&quote).await;
        site.paid(&quote).await;
        site
    })
    .await;
}

/// A call that fails in other words than a revert, for instance by an invalid opcode.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_whose_decimals_cannot_be_read_leaves_its_chain_available() {
    each(selling(), async |site| {
        let calls_fail = |site: &crate::Site, fail: bool| {
            for server in [&site.dev, &site.second] {
                server.fail_always(fail.then_some(Fault::NoOldState));
            }
        };
        calls_fail(&site, true);
        let site = site.restart().await;
        site.after_run("scan").await;
        let chain = &site.service().await["chains"]["dev"];
        assert_eq!((&chain["ok"], &chain["consecutiveFailures"]), (&json!(true), &json!(0)), "{chain}");
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": buyer().address() });
        assert_refused(&site.ask(body).await, 503, "chain_unavailable");
        calls_fail(&site, false);
        site.quote("10").await;
        site
    })
    .await;
}

/// Quotes that cannot be paid wait for the operator. What servers have forgotten of their deposits closes their chain for nobody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn held_quotes_leave_their_chain_available() {
    each(selling(), async |site| {
        let mut held = Vec::new();
        for wallet in (20..23).map(Wallet::new) {
            site.main.refuse_calls(wallet.address().parse().unwrap(), true);
            held.push(site.quote_for(&wallet, "10").await);
        }
        let lapsed = site.quote_for(&Wallet::new(24), "20").await;
        for quote in &held {
            site.deposit(quote);
        }
        site.dev.mine_empty(CONFIRMATIONS);
        for quote in &held {
            let is_held = async || site.state(quote).await["error"].as_str().is_some_and(|text| text.contains("fail"));
            site.until("it is held", is_held).await;
        }
        site.second.fail_always(Some(Fault::NullOn("eth_getTransactionReceipt")));
        // Beyond the grace of the one that expires.
        site.dev.mine_empty(300);
        for _ in 0..5 {
            site.after_run("scan").await;
            let chain = &site.service().await["chains"]["dev"];
            assert_eq!((&chain["ok"], &chain["consecutiveFailures"]), (&json!(true), &json!(0)), "{chain}");
        }
        assert_eq!(site.state(&lapsed).await["status"], "expired");
        site.quote_for(&Wallet::new(25), "20").await;
        assert_eq!(site.service().await["held"], 3);
        site
    })
    .await;
}
