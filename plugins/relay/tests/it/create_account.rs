//! `POST /api/accounts/create`.

use crate::{
    account, assert_refused, counted, each, eventually, post, relayer, set_is_account, set_nonce, set_predicted,
};
use plugin_testing::{ScriptedChain, TestGateway, TestResponse, Value, Wallet, json};

const PATH: &str = "/api/accounts/create";

fn owner(number: u64) -> String {
    Wallet::new(number).address().to_owned()
}

async fn create(gateway: &TestGateway, body: Value) -> TestResponse {
    post(gateway, PATH, &body).await
}

#[tokio::test]
async fn an_account_is_created_once() {
    each(json!({}), async |chain, gateway| {
        let created = create(&gateway, json!({ "owner": owner(1) })).await;
        assert_eq!(created.status, 202, "{}", created.text());
        let answer = created.json();
        let zero = format!("0x{}", "0".repeat(64));
        let expected = json!({
            "account": account(50), "address": account(50), "owner": owner(1), "salt": zero, "existing": false,
            "txHash": answer["tx"], "tx": answer["tx"], "relayer": relayer(),
        });
        assert_eq!(answer, expected);
        assert_eq!(create(&gateway, json!({ "owner": owner(1) })).await.json(), answer, "it is on its way");
        eventually(&gateway, "it is sent", async || !chain.waiting().is_empty()).await;
        let sent = chain.waiting().remove(0);
        assert_eq!(
            (sent.to, &sent.data[..4]),
            (ScriptedChain::address_of("accountFactory"), &[0xa3, 0xde, 0xf9, 0x23][..])
        );
        chain.mine_empty(1);
        set_nonce(chain, 50, 0);
        let existing = create(&gateway, json!({ "owner": owner(1), "salt": "0x00" })).await;
        assert_eq!(existing.status, 200, "{}", existing.text());
        let expected = json!({
            "account": account(50), "address": account(50), "owner": owner(1), "salt": zero, "existing": true,
            "txHash": null, "tx": null,
        });
        assert_eq!(existing.json(), expected);
        assert_eq!(counted(&gateway, "create_day").await, ["Int(1)"]);
        gateway
    })
    .await;
}

#[tokio::test]
async fn one_that_somebody_else_created_exists() {
    each(json!({}), async |chain, gateway| {
        set_predicted(chain, account(1));
        let existing = create(&gateway, json!({ "owner": owner(1), "salt": "mine" })).await;
        assert_eq!((existing.status, &existing.json()["existing"]), (200, &json!(true)));
        set_is_account(chain, false);
        assert_refused(&create(&gateway, json!({ "owner": owner(1) })).await, 403, "target_not_allowed");
        gateway
    })
    .await;
}

#[tokio::test]
async fn the_account_without_salt_has_a_share_of_its_own() {
    each(json!({}), async |chain, gateway| {
        let other = json!({ "owner": owner(1), "salt": "a" });
        assert_eq!(create(&gateway, other).await.status, 202);
        set_predicted(chain, account(51));
        assert_refused(&create(&gateway, json!({ "owner": owner(1), "salt": "b" })).await, 429, "rate_limited");
        set_predicted(chain, account(52));
        assert_eq!(create(&gateway, json!({ "owner": owner(1) })).await.status, 202, "nobody took it");
        gateway
    })
    .await;
}

#[tokio::test]
async fn caps_are_of_the_client_and_the_network() {
    each(json!({ "creates_per_ip": 2, "creates_per_day": 3 }), async |chain, gateway| {
        let ask = async |number: u8| {
            set_predicted(chain, account(60 + number));
            create(&gateway, json!({ "owner": owner(number.into()) })).await
        };
        assert_eq!([ask(1).await.status, ask(2).await.status], [202, 202]);
        assert_refused(&ask(3).await, 429, "rate_limited");
        gateway.set_client_ip("192.0.2.9".parse().unwrap());
        assert_eq!(ask(3).await.status, 202);
        assert_refused(&ask(4).await, 503, "daily_cap");
        assert_eq!(counted(&gateway, "create_day").await, ["Int(3)"]);
        gateway
    })
    .await;
}

#[tokio::test]
async fn other_bodies_are_refused() {
    each(json!({}), async |chain, gateway| {
        let zero = format!("0x{}", "0".repeat(40));
        assert_refused(&create(&gateway, json!({ "owner": zero })).await, 400, "bad_address");
        for body in [json!({}), json!({ "owner": "0x1" }), json!({ "owner": owner(1), "salt": 7 })] {
            assert_refused(&create(&gateway, body).await, 400, "bad_request");
        }
        chain.refuse_calls(ScriptedChain::address_of("accountFactory"), true);
        assert_refused(&create(&gateway, json!({ "owner": owner(1) })).await, 400, "bad_request");
        assert_eq!(gateway.rows("SELECT count(*) FROM relay_counters").await, ["Int(0)"]);
        gateway
    })
    .await;
}
