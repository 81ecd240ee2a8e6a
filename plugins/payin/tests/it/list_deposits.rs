//! `GET /api/payin/deposits`, and kinds of deposits: what counts, and what is nothing or the operator's.

use crate::{CONFIRMATIONS, Site, TOKEN, assert_refused, buyer, deposit_address, each, operator, selling, transfer};
use alloy_primitives::B256;
use plugin_testing::{ScriptedChain, ScriptedLog, TestResponse, Value, Wallet, json};

async fn list(site: &Site, wallet: &Wallet, query: &str) -> TestResponse {
    let headers = wallet.signed_headers("payin.deposits", site.gateway.now_s(), "{}");
    let headers = headers.each_ref().map(|(name, value)| (name.as_str(), value.as_str()));
    site.gateway.send("GET", &format!("/api/payin/deposits{query}"), &headers, "").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn operators_see_the_newest_first() {
    each(selling(), async |site| {
        for units in ["7000000", "8000000"] {
            site.dev.mine(vec![transfer(&buyer(), deposit_address(), units)]);
        }
        site.until("both are left", async || site.deposits("unmatched").await.len() == 2).await;
        assert_refused(&list(&site, &buyer(), "").await, 403, "not_operator");
        for (query, total, amounts) in [
            ("", 2, json!(["8.0", "7.0"])),
            ("?state=unmatched&limit=1", 2, json!(["8.0"])),
            ("?state=unmatched&limit=1&offset=1", 2, json!(["7.0"])),
            ("?state=matched", 0, json!([])),
        ] {
            let response = list(&site, &operator(), query).await;
            assert_eq!(response.status, 200, "{}", response.text());
            let listed = response.json();
            let found: Vec<&Value> = listed["items"].as_array().unwrap().iter().map(|item| &item["amount"]).collect();
            assert_eq!((&listed["total"], json!(found)), (&json!(total), amounts), "{query}");
        }
        let refused = list(&site, &operator(), "?state=lost").await;
        assert_refused(&refused, 400, "bad_query");
        for state in ["new", "matched", "unmatched", "gone", "dismissed"] {
            assert!(refused.text().contains(&format!("`{state}`")), "{}", refused.text());
        }
        site
    })
    .await;
}

/// What people, wallets and attackers send, all with the very amount of an open quote.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_a_transfer_of_the_token_to_the_address_counts() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        let (from, to, units) = (buyer(), deposit_address(), "10000000");
        let genuine = transfer(&from, to, units);
        let mut look_alike = genuine.clone();
        look_alike.address = ScriptedChain::address_of("another token");
        // ERC-721: the third argument is a topic, too.
        let mut nft = genuine.clone();
        nft.topics.push(B256::from_slice(&nft.data));
        nft.data.clear();
        // Arguments that are not indexed.
        let mut unindexed = genuine.clone();
        unindexed.topics.truncate(1);
        let mut long = genuine.clone();
        long.topics.truncate(2);
        let to_another = transfer(&from, Wallet::new(60).address().parse().unwrap(), units);
        let approval = ScriptedLog::new(
            TOKEN,
            "Approval(address indexed from, address indexed to, uint256 value)",
            &[json!(from.address()), json!(to), json!(units)],
        );
        let zero = transfer(&from, to, "0");
        site.dev.mine(vec![look_alike, nft, unindexed, long, to_another, approval, zero]);
        site.dev.mine_empty(CONFIRMATIONS);
        site.after_run("scan").await;
        assert_eq!(site.gateway.rows("SELECT count(*) FROM payin_deposits").await, ["Int(0)"]);
        assert_eq!(site.state(&quote).await["status"], "quoted");

        // Amounts that are not quite it, among them what an exchange leaves after its fee.
        site.dev.mine(["9999999", "10000001", "9000000", "20000000"].map(|units| transfer(&from, to, units)).into());
        let kept = async || site.deposits("unmatched").await.len() == 4;
        site.until("others are kept for the operator", kept).await;
        assert_eq!(site.service().await["unattributed7d"], 4);

        // A mint is a deposit like any other.
        let minted = site.quote_for(&Wallet::new(12), "30").await;
        let mint = [json!(plugin_api::Address::ZERO), json!(to), minted["sendExactly"].clone()];
        site.dev.mine(vec![ScriptedLog::new(TOKEN, crate::TRANSFER, &mint)]);
        site.becomes(&minted, "seen").await;

        // Two in one transaction, of which each is one: the second finds no quote.
        let both = [genuine.clone().in_transaction("both"), genuine.in_transaction("both")];
        site.dev.mine(both.into());
        site.becomes(&quote, "seen").await;
        site.until("the second is kept", async || site.deposits("unmatched").await.len() == 5).await;
        let sent = site.pays(&quote).await;
        assert_eq!(sent.value.to_string(), "196000000000000000000");
        site.pays(&minted).await;
        site.paid(&quote).await;
        site.paid(&minted).await;
        assert_eq!(site.main.mined().len(), 2);
        site
    })
    .await;
}

/// A transfer that was in a block before the quote is not for it, whatever its amount.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deposit_before_the_quote_is_not_for_it() {
    each(selling(), async |site| {
        site.dev.mine(vec![transfer(&buyer(), deposit_address(), "10000000")]);
        let knows = async || {
            let health = site.gateway.rows("SELECT scanned_to FROM payin_scans").await;
            health == [format!("Int({})", site.dev.head())]
        };
        site.until("the block is known", knows).await;
        let quote = site.quote("10").await;
        site.dev.mine_empty(CONFIRMATIONS);
        site.after_run("scan").await;
        assert_eq!(site.state(&quote).await["status"], "quoted");
        assert_eq!(site.deposits("unmatched").await.len(), 1);
        site
    })
    .await;
}

/// A token that keeps a fee says in its event more than arrives.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_events_and_balances_differ_the_operator_decides() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        let token = ScriptedChain::address_of(TOKEN);
        site.dev.set_token(token, 30);
        site.deposit(&quote);
        site.until("it is left", async || site.deposits("unmatched").await.len() == 1).await;
        let left = site.deposits("unmatched").await;
        assert!(left[0]["reason"].as_str().unwrap().contains("10000000 units arrived"), "{left:?}");
        assert!(left[0]["actions"].as_array().unwrap().len() == 2, "{left:?}");
        assert_eq!(site.state(&quote).await["status"], "quoted");

        // The operator's own withdrawal in the block of a deposit is no difference.
        site.dev.set_token(token, 0);
        let withdrawal = transfer(&Wallet::new(950), Wallet::new(60).address().parse().unwrap(), "5000000");
        let log = transfer(&buyer(), deposit_address(), "10000000");
        site.dev.mine(vec![withdrawal, log]);
        site.becomes(&quote, "seen").await;
        site
    })
    .await;
}

/// Anybody can send as many transfers as he likes: of less than half a USD, which cost nothing, and of one USD each, which the operator keeps.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn transfers_of_others_hold_no_deposit_up() {
    const LARGE: usize = 150;
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        let of = |units: &str| transfer(&Wallet::new(77), deposit_address(), units).in_transaction("many");
        let mut logs: Vec<ScriptedLog> = vec![of("499999"); 300];
        logs.extend(vec![of("1000000"); LARGE]);
        site.dev.mine(logs);
        site.deposit(&quote);
        site.after_run("scan").await;
        assert_eq!(site.state(&quote).await["status"], "seen", "it is matched before those that no quote waits for");
        let stored = |and: &str| format!("SELECT count(*) FROM payin_deposits WHERE block < {} {and}", site.dev.head());
        assert_eq!(site.gateway.rows(&stored("")).await, [format!("Int({LARGE})")]);
        assert_eq!(site.gateway.rows(&stored("AND units <> '1000000'")).await, ["Int(0)"]);
        assert_eq!(site.service().await["chains"]["dev"]["consecutiveFailures"], json!(0));
        site.dev.mine_empty(CONFIRMATIONS);
        assert_eq!(site.pays(&quote).await.to.to_string(), buyer().address());
        site.paid(&quote).await;
        site
    })
    .await;
}
