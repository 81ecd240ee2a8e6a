//! `POST /api/relay`: the good way, repetitions, and each refusal in its order.

use crate::{
    DEPTH, Draft, account, assert_refused, counted, each, each_built, eventually, post, relay, relayed, relayer,
    set_is_account, set_nonce,
};
use plugin_testing::{Builder, ScriptedChain, json};
use std::time::Duration;

#[tokio::test]
async fn a_signed_call_is_sent_for_its_account() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft { value: 5, ..Draft::new(&gateway, 1, 0) };
        let answer = relayed(&gateway, &draft).await;
        let expected = json!({
            "txHash": answer["tx"], "tx": answer["tx"], "account": draft.account, "to": draft.to, "value": "5",
            "gasEstimate": "50000", "gasLimit": "300000", "relayer": relayer(), "remainingToday": 19,
        });
        assert_eq!(answer, expected);
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        let sent = chain.waiting().remove(0);
        assert_eq!((sent.to, sent.gas, sent.tip), (draft.account, 300_000, 1_000_000_000));
        assert_eq!(sent.value.to_string(), "0", "the account pays the value, not the relayer");
        let key = gateway.rows("SELECT name FROM host_tx_intents").await;
        assert_eq!(key, [format!("Text(\"{}\")", draft.digest())]);
        gateway
    })
    .await;
}

#[tokio::test]
async fn the_same_call_within_two_minutes_is_one_send_and_one_answer() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(&gateway, 1, 0);
        let answer = relayed(&gateway, &draft).await;
        assert_eq!(relayed(&gateway, &draft).await, answer);
        let other_form = post(&gateway, "/api/relay", &draft.body_with(&draft.other_form())).await;
        assert_eq!((other_form.status, other_form.json()), (202, answer.clone()), "its bytes do not matter");
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        chain.mine_empty(1);
        set_nonce(&chain.clone(), 1, 1);
        // The chain would refuse it now.
        chain.refuse_calls(draft.account, true);
        assert_eq!(relayed(&gateway, &draft).await, answer);
        let short_form = post(&gateway, "/api/relay", &draft.body_with(&draft.short_form())).await;
        assert_eq!((short_form.status, short_form.json()), (202, answer), "it is known by its signer");
        gateway.clock().advance(Duration::from_secs(121)).await;
        assert_refused(&relay(&gateway, &draft).await, 400, "bad_request");
        assert_eq!(counted(&gateway, "call_day").await, ["Int(1)"]);
        assert_eq!(chain.mined().len(), 1);
        gateway
    })
    .await;
}

#[tokio::test]
async fn the_next_nonce_is_another_call_also_when_all_else_is_the_same() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(&gateway, 1, 0);
        let first = relayed(&gateway, &draft).await;
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        chain.mine_empty(DEPTH + 1);
        set_nonce(chain, 1, 1);
        let second = relayed(&gateway, &Draft { nonce: 1, ..draft }).await;
        assert_ne!(first["tx"], second["tx"]);
        assert_eq!(second["remainingToday"], 18);
        gateway
    })
    .await;
}

#[tokio::test]
async fn another_call_with_the_same_nonce_waits_for_the_first() {
    each(json!({}), async |_, gateway| {
        let draft = Draft::new(&gateway, 1, 0);
        relayed(&gateway, &draft).await;
        let other = Draft { data: vec![1], ..draft };
        let refused = relay(&gateway, &other).await;
        assert_refused(&refused, 429, "rate_limited");
        assert!(refused.json()["error"].as_str().unwrap().contains("nonce 0"), "{}", refused.text());
        assert_eq!(counted(&gateway, "call_day").await, ["Int(1)"]);
        relayed(&gateway, &Draft::new(&gateway, 2, 0)).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn refusals_come_in_order_and_count_nothing() {
    each(json!({}), async |chain, gateway| {
        let mut draft = Draft { account: account(40), to: account(41), ..Draft::new(&gateway, 1, 0) };
        draft.deadline = gateway.now_s();
        let malformed = post(&gateway, "/api/relay", &draft.body_with("0x12")).await;
        assert_refused(&malformed, 400, "bad_request");
        assert_refused(&relay(&gateway, &draft).await, 400, "bad_request");
        draft.deadline += 3600;
        assert_refused(&relay(&gateway, &draft).await, 403, "target_not_allowed");
        draft.to = ScriptedChain::address_of("accountImpl");
        assert_refused(&relay(&gateway, &draft).await, 403, "target_not_allowed");
        draft.to = ScriptedChain::address_of("escrow");
        assert_refused(&relay(&gateway, &draft).await, 404, "not_found");
        draft.account = account(1);
        set_is_account(chain, false);
        assert_refused(&relay(&gateway, &draft).await, 403, "target_not_allowed");
        set_is_account(chain, true);
        chain.refuse_calls(account(1), true);
        let failing = relay(&gateway, &draft).await;
        assert_refused(&failing, 400, "bad_request");
        assert!(
            failing.json()["error"].as_str().unwrap().contains("execution reverted: not now"),
            "{}",
            failing.text()
        );
        chain.refuse_calls(account(1), false);
        chain.set_estimate(account(1), 300_001);
        let large = relay(&gateway, &draft).await;
        assert_refused(&large, 400, "bad_request");
        assert!(large.json()["error"].as_str().unwrap().contains("300001"), "{}", large.text());
        chain.set_estimate(account(1), 300_000);
        assert_eq!(gateway.rows("SELECT count(*) FROM relay_counters").await, ["Int(0)"]);
        assert_eq!(gateway.rows("SELECT count(*) FROM host_tx_intents").await, ["Int(0)"]);
        assert_eq!(relayed(&gateway, &draft).await["gasEstimate"], "300000");
        gateway
    })
    .await;
}

#[tokio::test]
async fn caps_are_of_the_account_the_client_and_the_network() {
    each(json!({ "account_per_day": 1, "ip_per_day": 2, "per_day": 3 }), async |chain, gateway| {
        let first = Draft::new(&gateway, 1, 0);
        relayed(&gateway, &first).await;
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        chain.mine_empty(DEPTH + 1);
        set_nonce(chain, 1, 1);
        let of_account = relay(&gateway, &Draft { data: vec![1], nonce: 1, ..first.clone() }).await;
        assert_refused(&of_account, 429, "rate_limited");
        assert!(of_account.headers.contains_key("retry-after"));
        relayed(&gateway, &Draft::new(&gateway, 2, 0)).await;
        assert_refused(&relay(&gateway, &Draft::new(&gateway, 3, 0)).await, 429, "rate_limited");
        gateway.set_client_ip("192.0.2.9".parse().unwrap());
        relayed(&gateway, &Draft::new(&gateway, 3, 0)).await;
        crate::set_nonce(chain, 4, 0);
        assert_refused(&relay(&gateway, &Draft::new(&gateway, 4, 0)).await, 503, "daily_cap");
        assert_eq!(relayed(&gateway, &first).await["remainingToday"], 0, "a repetition is none more");
        gateway.clock().advance(Duration::from_secs(86_400)).await;
        relayed(&gateway, &Draft::new(&gateway, 4, 0)).await;
        gateway
    })
    .await;
}

#[tokio::test]
async fn while_the_chain_is_silent_nothing_is_counted() {
    each(json!({}), async |chain, gateway| {
        let draft = Draft::new(&gateway, 1, 0);
        chain.fail_always(Some(plugin_testing::Fault::Status(502)));
        assert_refused(&relay(&gateway, &draft).await, 503, "unavailable");
        chain.fail_always(None);
        let answers = async || relay(&gateway, &draft).await.status == 202;
        eventually(&gateway, "the chain is read again", answers).await;
        assert_eq!(relayed(&gateway, &draft).await["remainingToday"], 19, "it is counted once");
        gateway
    })
    .await;
}

#[tokio::test]
async fn without_a_key_it_is_off() {
    let without_key = |builder: Builder| builder.configure(|config| config.signers.clear());
    each_built(json!({}), without_key, async |_, gateway| {
        let off = relay(&gateway, &Draft::new(&gateway, 1, 0)).await;
        assert_refused(&off, 503, "disabled");
        assert_eq!(off.json()["disabled"], true);
        gateway
    })
    .await;
}
