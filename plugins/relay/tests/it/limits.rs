//! What the caps and the rule of one nonce rest on over hours, blocks and networks.

use crate::{
    Draft, account, assert_refused, counted, each, eventually, post, relay, relayed, set_nonce, set_predicted,
};
use plugin_testing::{TestGateway, Wallet, json};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(3600);
const DAY_S: i64 = 86_400;

async fn from(gateway: &TestGateway, address: &str, account_number: u8) -> (u16, String) {
    gateway.set_client_ip(address.parse().unwrap());
    let response = relay(gateway, &Draft::new(gateway, account_number, 0)).await;
    (response.status, response.json()["error"].as_str().unwrap_or_default().to_owned())
}

/// Whoever has a /48 has 65,536 networks of a /64.
#[tokio::test]
async fn a_site_has_four_times_the_share_of_a_network() {
    each(json!({ "ip_per_day": 1 }), async |chain, gateway| {
        for number in 4..=6 {
            set_nonce(chain, number, 0);
        }
        for number in 1..=4 {
            assert_eq!(from(&gateway, &format!("2001:db8:0:{number}::1"), number).await.0, 202, "{number}");
        }
        let of_network = from(&gateway, "2001:db8:0:1::2", 5).await;
        assert!(of_network.0 == 429 && of_network.1.contains("calls of your network"), "{of_network:?}");
        let of_site = from(&gateway, "2001:db8:0:5::1", 5).await;
        assert!(of_site.0 == 429 && of_site.1.contains("calls of your network"), "{of_site:?}");
        assert_eq!(from(&gateway, "2001:db8:1:5::1", 5).await.0, 202, "another site");
        gateway
    })
    .await;
}

/// Such a request costs no estimate, and says when it may come again.
#[tokio::test]
async fn a_full_cap_is_found_before_the_chain_is_asked() {
    each(json!({ "account_per_day": 1 }), async |chain, gateway| {
        let draft = Draft::new(&gateway, 1, 0);
        relayed(&gateway, &draft).await;
        gateway.clock().advance(HOUR).await;
        let more = Draft { data: vec![1], ..Draft::new(&gateway, 1, 0) };
        chain.refuse_calls(account(1), true);
        let refused = relay(&gateway, &more).await;
        assert_refused(&refused, 429, "rate_limited");
        let left_s: i64 = refused.headers["retry-after"].to_str().unwrap().parse().unwrap();
        let until_midnight_s = DAY_S - gateway.now_s().rem_euclid(DAY_S);
        assert!((until_midnight_s..until_midnight_s + 60).contains(&left_s), "{left_s}, {until_midnight_s}");
        gateway
    })
    .await;
}

/// The rows are what the caps are counted by, and what a share is given back by.
#[tokio::test]
async fn nothing_of_a_day_is_deleted_on_that_day() {
    each(json!({ "account_per_day": 1, "per_day": 2 }), async |chain, gateway| {
        gateway.set_client_ip("2001:db8::1".parse().unwrap());
        chain.fail_calls(account(1));
        relayed(&gateway, &Draft::new(&gateway, 1, 0)).await;
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        chain.mine_empty(6);
        let reverted = async || gateway.rows("SELECT state FROM relay_calls").await == ["Text(\"reverted\")"];
        eventually(&gateway, "it ends", reverted).await;
        set_predicted(chain, account(50));
        let body = json!({ "owner": Wallet::new(1).address() });
        assert_eq!(post(&gateway, "/api/accounts/create", &body).await.status, 202);

        let prunes = "SELECT runs FROM host_job_runs WHERE plugin = 'relay' AND job = 'prune' AND runs >= 3";
        let advance = async || {
            gateway.clock().advance(HOUR / 4).await;
            !gateway.rows(prunes).await.is_empty()
        };
        TestGateway::eventually(crate::MINUTE, "the job has run", advance).await;
        assert!(gateway.now_s().rem_euclid(DAY_S) > 2 * 3600, "the day of the calls goes on");
        for name in ["call_account", "call_client", "call_site", "call_day"] {
            assert_eq!(counted(&gateway, name).await, ["Int(1)"], "{name}");
        }
        for name in ["create_owner", "create_client", "create_site", "create_day"] {
            assert_eq!(counted(&gateway, name).await, ["Int(1)"], "{name}");
        }
        let kept = "SELECT count(*) FROM relay_calls WHERE client IS NOT NULL AND site IS NOT NULL";
        assert_eq!(gateway.rows(kept).await, ["Int(1)"]);
        let more = Draft { data: vec![1], ..Draft::new(&gateway, 1, 0) };
        assert_refused(&relay(&gateway, &more).await, 429, "rate_limited");
        gateway
    })
    .await;
}

/// A call that reverted in a block has not used its nonce, and the next one need not wait until the block is final.
#[tokio::test]
async fn a_call_in_a_block_keeps_its_nonce_from_others_only_when_the_block_is_undone() {
    each(json!({}), async |chain, gateway| {
        chain.fail_calls(account(1));
        relayed(&gateway, &Draft::new(&gateway, 1, 0)).await;
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        let in_block = "SELECT count(*) FROM relay_calls WHERE mined_at IS NOT NULL";
        let has_mined = async |count: &str| gateway.rows(in_block).await == [count];
        chain.mine_empty(1);
        eventually(&gateway, "it is in a block", async || has_mined("Int(1)").await).await;
        chain.hold(true);
        chain.reorg(1);
        chain.mine_empty(2);
        eventually(&gateway, "it is in none any more", async || has_mined("Int(0)").await).await;
        let other = Draft { data: vec![1], ..Draft::new(&gateway, 1, 0) };
        let pending = relay(&gateway, &other).await;
        assert_refused(&pending, 429, "rate_limited");
        assert!(pending.text().contains("nonce 0"), "{}", pending.text());
        chain.hold(false);
        chain.mine_empty(1);
        eventually(&gateway, "it is in a block again", async || has_mined("Int(1)").await).await;
        relayed(&gateway, &other).await;
        gateway
    })
    .await;
}

/// Who knows a call does not learn what became of it, and is not told that it was his.
#[tokio::test]
async fn a_signature_of_another_key_repeats_no_call() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(&gateway, 1, 0);
        let answer = relayed(&gateway, &draft).await;
        // The contract refuses every signature now; only what is known by its signer is answered.
        chain.refuse_calls(account(1), true);
        for signature in [draft.signature_of(&Wallet::new(8)), format!("0x{}", "11".repeat(65))] {
            let refused = post(&gateway, "/api/relay", &draft.body_with(&signature)).await;
            assert_refused(&refused, 400, "bad_request");
            assert!(refused.text().contains("the call would fail"), "{}", refused.text());
        }
        assert_eq!(relayed(&gateway, &draft).await, answer);
        gateway
    })
    .await;
}

/// An account whose share is used up asks for the same call as long as that is on its way.
#[tokio::test]
async fn what_is_on_its_way_is_repeated_beyond_two_minutes_and_a_full_cap() {
    each(json!({ "account_per_day": 1 }), async |chain, gateway| {
        let draft = Draft::new(&gateway, 1, 0);
        relayed(&gateway, &draft).await;
        gateway.clock().advance(Duration::from_secs(130)).await;
        let again = relayed(&gateway, &draft).await;
        assert_eq!(again["remainingToday"], 0, "{again}");
        assert_eq!(gateway.rows("SELECT count(*) FROM host_tx_intents").await, ["Int(1)"]);
        // By a signature that is as good as the first.
        chain.refuse_calls(account(1), true);
        assert_refused(&relay(&gateway, &draft).await, 400, "bad_request");
        gateway
    })
    .await;
}

#[tokio::test]
async fn large_calls_and_long_salts_fit_their_bodies() {
    each(json!({}), async |chain, gateway| {
        relayed(&gateway, &Draft { data: vec![7; 20_000], ..Draft::new(&gateway, 1, 0) }).await;
        set_predicted(chain, account(50));
        let body = json!({ "owner": Wallet::new(1).address(), "salt": "s".repeat(4000) });
        assert_eq!(post(&gateway, "/api/accounts/create", &body).await.status, 202);
        gateway
    })
    .await;
}
