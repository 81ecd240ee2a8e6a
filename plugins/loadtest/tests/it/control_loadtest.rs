//! `POST /api/loadtest/runner`

use super::{config, control, derived, each_built, fund, operator, start, stats, with_seed};
use plugin_testing::{TestGateway, TestResponse, Value, Wallet, json};

const RUNNER: &str = "/api/loadtest/runner";

fn assert_refused(response: &TestResponse, status: u16, code: &str) {
    assert_eq!((response.status, response.code().as_str()), (status, code), "{}", response.text());
}

async fn start_as(gateway: &TestGateway, wallet: &Wallet) -> TestResponse {
    gateway.post_signed(RUNNER, wallet, "loadtest.control", json!({ "do": "start" })).await
}

#[tokio::test]
async fn operators_start_pause_and_drain_it() {
    each_built(config(json!({})), with_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        start(&gateway).await;
        let paused = control(&gateway, "pause").await;
        assert_eq!((paused.status, &paused.json()["mode"]), (200, &json!("paused")), "{}", paused.text());
        let stats = stats(&gateway).await;
        assert_eq!((&stats["mode"], &stats["paused"]), (&json!("paused"), &json!(true)), "{stats}");
        start(&gateway).await;
        let drained = control(&gateway, "drain").await;
        assert_eq!((drained.status, &drained.json()["mode"]), (200, &json!("draining")), "{}", drained.text());
        gateway
    })
    .await;
}

#[tokio::test]
async fn what_was_never_started_is_neither_paused_nor_drained() {
    each_built(config(json!({})), with_seed, async |_, gateway| {
        for command in ["pause", "drain"] {
            assert_refused(&control(&gateway, command).await, 409, "not_started");
        }
        assert_eq!(stats(&gateway).await["mode"], json!("off"));
        gateway
    })
    .await;
}

#[tokio::test]
async fn nobody_else_controls_it() {
    each_built(config(json!({})), with_seed, async |_, gateway| {
        assert_refused(&start_as(&gateway, &Wallet::new(71)).await, 403, "not_operator");
        assert_eq!(stats(&gateway).await["mode"], json!("off"));
        gateway
    })
    .await;
}

#[tokio::test]
async fn without_operators_it_is_disabled() {
    each_built(config(json!({ "operators": [] })), with_seed, async |_, gateway| {
        assert_refused(&start_as(&gateway, &operator()).await, 503, "disabled");
        gateway
    })
    .await;
}

/// The buttons of the operator's page.
#[tokio::test]
async fn the_operators_page_starts_pauses_and_drains_it_without_a_signature() {
    each_built(config(json!({})), with_seed, async |chain, gateway| {
        fund(chain);
        derived(&gateway, 6).await;
        let control = async |action: &str| {
            let press = json!({ "press": { "control": "runner", "action": action } });
            gateway.collect("controls", &press).await["loadtest"][0].clone()
        };
        let is = |control: &Value, state: &str, actions: Value| {
            assert_eq!((&control["state"], &control["actions"]), (&json!(state), &actions), "{control}");
        };
        is(&control("pause").await, "off", json!(["start"]));
        is(&control("start").await, "running", json!(["pause", "drain"]));
        is(&control("pause").await, "paused", json!(["start", "drain"]));
        is(&control("start").await, "running", json!(["pause", "drain"]));
        is(&control("drain").await, "draining", json!(["start", "pause"]));
        assert_eq!(stats(&gateway).await["mode"], json!("draining"));
        gateway
    })
    .await;
}

#[tokio::test]
async fn a_gateway_that_runs_no_load_test_has_no_button_for_it() {
    each_built(config(json!({ "runner": false })), with_seed, async |_, gateway| {
        assert_eq!(gateway.collect("controls", &json!({})).await["loadtest"], json!([]));
        gateway
    })
    .await;
}
