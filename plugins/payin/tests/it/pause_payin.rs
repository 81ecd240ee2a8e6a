//! `POST /api/payin/pause`

use crate::{CONFIRMATIONS, assert_refused, buyer, each, operator, selling};
use plugin_testing::{Value, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_quoted_or_paid_while_paused() {
    each(selling(), async |site| {
        let quote = site.quote("10").await;
        let by_stranger = site.operate(&buyer(), "pause", "payin.pause", json!({ "paused": true })).await;
        assert_refused(&by_stranger, 403, "not_operator");
        let unknown = json!({ "chain": "eth", "paused": true });
        assert_refused(&site.operate(&operator(), "pause", "payin.pause", unknown).await, 400, "unknown_chain");
        for scope in [json!(null), json!("dev")] {
            site.pause(json!({ "chain": scope, "paused": true, "reason": "looking" })).await;
        }
        let body = json!({ "chain": "dev", "asset": "USDX", "amount": "10", "to": buyer().address() });
        let refused = site.ask(body).await;
        assert_refused(&refused, 503, "chain_unavailable");
        assert_eq!((&refused.json()["unavailable"], &refused.json()["chain"]), (&json!(true), &json!("dev")));
        assert!(!refused.text().contains("looking"), "{}", refused.text());

        site.deposit(&quote);
        site.dev.mine_empty(CONFIRMATIONS);
        site.becomes(&quote, "confirmed").await;
        // The operator's words are not for everybody.
        site.until("it says so", async || site.state(&quote).await["error"] == "payouts are paused").await;
        let public = [site.state(&quote).await, site.service().await, site.assets().await];
        assert!(public.iter().all(|answer| !answer.to_string().contains("looking")), "{public:?}");
        // One pause is left.
        site.pause(json!({ "paused": false })).await;
        site.after_run("pay").await;
        assert!(site.main.waiting().is_empty());
        assert_eq!(site.service().await["ok"], false);
        site.pause(json!({ "chain": "dev", "paused": false })).await;
        site.pays(&quote).await;
        site.paid(&quote).await;
        site
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_operators_nobody_decides() {
    let mut config = selling();
    config["operators"] = json!([]);
    each(config, async |site| {
        for what in ["pause", "deposits/resolve"] {
            let refused = site.operate(&operator(), what, "payin.pause", json!({ "paused": true })).await;
            assert_refused(&refused, 503, "disabled");
        }
        site
    })
    .await;
}

/// The buttons of the operator's page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_operators_page_pauses_and_resumes_without_a_signature() {
    each(selling(), async |site| {
        let controls =
            async |press| site.gateway.collect("controls", &json!({ "press": press })).await["payin"].clone();
        let is = async |expected: [(&str, &str); 2]| {
            let shown = controls(json!(null)).await;
            let of = |control: &Value| (control["name"].clone(), control["state"].clone());
            let states: Vec<_> = shown.as_array().unwrap().iter().map(of).collect();
            assert_eq!(states, expected.map(|(name, state)| (json!(name), json!(state))), "{shown}");
        };
        is([("all-chains", "running"), ("dev", "running")]).await;
        for control in ["all-chains", "dev"] {
            let quote = site.quote("10").await;
            let paused = controls(json!({ "control": control, "action": "pause" })).await;
            let paused = paused.as_array().unwrap().iter().find(|one| one["name"] == control).unwrap().clone();
            let expected = json!({
                "name": control, "state": "paused", "reason": "paused on the operator's page", "actions": ["resume"],
            });
            assert_eq!(paused, expected);
            site.deposit(&quote);
            site.dev.mine_empty(CONFIRMATIONS);
            site.until("it waits", async || site.state(&quote).await["error"] == "payouts are paused").await;
            controls(json!({ "control": control, "action": "resume" })).await;
            site.pays(&quote).await;
            site.paid(&quote).await;
        }
        // What nobody offers changes nothing.
        controls(json!({ "control": "eth", "action": "pause" })).await;
        is([("all-chains", "running"), ("dev", "running")]).await;
        site
    })
    .await;
}
