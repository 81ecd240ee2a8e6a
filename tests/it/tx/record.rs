//! An intent and the plugin's rows: both, or none.

use super::{ask, assert_paid_once, becomes, builders, each, pay, payer::Pay, payment, status, waits, wei};
use plugin_api::{Address, HostErrorCode, chain::TxState};
use plugin_testing::{ScriptedChain, TestGateway, Wallet, json};

#[tokio::test]
async fn an_intent_commits_with_the_row_beside_it_or_not_at_all() {
    each(async |chain, gateway| {
        let given_up = Pay { gives_up: true, ..payment(1) };
        assert!(
            pay(gateway, given_up.clone()).await.is_number(),
            "it was recorded, in a transaction that never committed"
        );
        let wallet = Wallet::new(1);
        let answer = gateway.post_signed("/api/payer/payments", &wallet, "payer.pay", json!(given_up)).await;
        assert_eq!((answer.status, answer.code().as_str()), (409, "given_up"), "{}", answer.text());
        assert_eq!(ask(gateway, "paid", &json!("1")).await, json!(null));
        assert_eq!(gateway.rows("SELECT count(*) FROM host_tx_intents").await, ["Int(0)"]);
        gateway.clock().advance(std::time::Duration::from_secs(2)).await;
        let answer = gateway.post_signed("/api/payer/payments", &wallet, "payer.pay", json!(payment(2))).await;
        assert_eq!(answer.status, 201, "{}", answer.text());
        assert_eq!(waits(chain, 1).await[0].value, wei(2));
        assert_eq!(gateway.rows("SELECT name FROM payer_payments").await, ["Text(\"2\")"]);
    })
    .await;
}

#[tokio::test]
async fn the_same_key_is_the_same_intent() {
    each(async |chain, gateway| {
        let first = pay(gateway, payment(4)).await;
        assert_eq!(pay(gateway, payment(4)).await, first);
        waits(chain, 1).await;
        chain.mine_empty(super::DEPTH + 1);
        becomes(gateway, "4", TxState::Final).await;
        assert_eq!(pay(gateway, payment(4)).await, first, "also when it is done");
        assert_eq!(status(gateway, "4").await.state, TxState::Final);
        for other in [
            Pay { value: wei(5), ..payment(4) },
            Pay { to: Address([9; 20]), ..payment(4) },
            Pay { gas: Some(50_000), ..payment(4) },
            Pay { valid_until_s: Some(1), ..payment(4) },
            Pay { function: Some("f(uint256)".into()), ..payment(4) },
        ] {
            let refused = pay(gateway, other).await;
            assert_eq!(refused["code"], HostErrorCode::Constraint as u32, "{refused}");
        }
        chain.mine_empty(2);
        assert_paid_once(chain, [4]);
    })
    .await;
}

#[tokio::test]
async fn many_at_once_with_one_key_are_one() {
    each(async |chain, gateway| {
        let all = futures_util::future::join_all((0..20).map(|_| pay(gateway, payment(6)))).await;
        assert!(all.iter().all(|id| *id == all[0]), "{all:?}");
        waits(chain, 1).await;
        chain.mine_empty(super::DEPTH + 1);
        becomes(gateway, "6", TxState::Final).await;
        assert_paid_once(chain, [6]);
    })
    .await;
}

#[tokio::test]
async fn what_cannot_be_sent_is_refused_at_once_and_says_why() {
    each(async |_, gateway| {
        let refused = async |pay_this: Pay| {
            let refused = pay(gateway, pay_this).await;
            (refused["code"].as_u64().unwrap_or_default(), refused["error"].as_str().unwrap_or_default().to_owned())
        };
        let role = |role: &str| Pay { role: role.into(), ..Pay::default() };
        let (code, error) = refused(role("facilitator")).await;
        assert_eq!(code, HostErrorCode::Disabled as u64);
        assert!(
            error.contains("no key for the role facilitator") && error.contains("[signers.facilitator]"),
            "{error}"
        );
        let (code, error) = refused(role("oracle")).await;
        assert_eq!(code, HostErrorCode::Refused as u64);
        assert!(error.contains("does not declare the role `oracle`"), "{error}");
        let (code, error) = refused(Pay { chain: "bnb".into(), ..Pay::default() }).await;
        assert_eq!(code, HostErrorCode::Refused as u64, "{error}");
        for (pay_this, part) in [
            (Pay { key: String::new(), ..Pay::default() }, "1 to 200 characters"),
            (Pay { key: "x".repeat(201), ..Pay::default() }, "1 to 200 characters"),
            (Pay { gas: Some(20_999), ..Pay::default() }, "21000 gas"),
            (Pay { function: Some("not a function".into()), ..Pay::default() }, "not a function"),
        ] {
            let (code, error) = refused(pay_this).await;
            assert_eq!(code, HostErrorCode::Invalid as u64, "{error}");
            assert!(error.contains(part), "{error}");
        }
        let wallet = Wallet::new(1);
        let answer = gateway.post_signed("/api/payer/payments", &wallet, "payer.pay", json!(role("facilitator"))).await;
        assert_eq!((answer.status, answer.code().as_str()), (503, "disabled"), "{}", answer.text());
        assert!(answer.text().contains("no key for the role facilitator"), "{}", answer.text());
        assert_eq!(gateway.rows("SELECT count(*) FROM host_tx_intents").await, ["Int(0)"]);
    })
    .await;
}

#[tokio::test]
async fn without_a_chain_nothing_is_recorded() {
    let chain = ScriptedChain::start().await;
    for builder in builders(&chain).await {
        let gateway: TestGateway = builder.configure(|config| config.chains.clear()).start().await;
        let refused = pay(&gateway, payment(1)).await;
        assert_eq!(refused["code"], HostErrorCode::Disabled as u32, "{refused}");
        assert!(refused["error"].as_str().unwrap().contains("[chains.main]"), "{refused}");
        let services = gateway.get("/api/status").await.json()["services"].clone();
        assert!(services["tx"].is_null() && services["signers"]["ok"] == true, "{services}");
        gateway.stop().await;
    }
}
