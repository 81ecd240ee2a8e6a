//! `cx.write(…)`: what is written, published and used up together, and what is left of a write that fails.

use super::scribe::{ACTION, JOB, LINES, SLOW_LINES, plugin_module};
use plugin_testing::{TestGateway, TestResponse, Value, Wallet, json};

async fn gateways() -> Vec<TestGateway> {
    TestGateway::each_database(&[plugin_module()]).await
}

async fn write(gateway: &TestGateway, wallet: u64, ending: &str) -> TestResponse {
    let payload = json!({ "text": ending, "ending": ending });
    gateway.post_signed(LINES, &Wallet::new(wallet), ACTION, payload).await
}

/// Number of stored lines and of published events.
async fn written(gateway: &TestGateway) -> (i64, usize) {
    (gateway.get(LINES).await.json().as_i64().unwrap(), gateway.events().await.len())
}

async fn finish(gateway: TestGateway, faults: &[&str]) {
    let reported = gateway.faults().await;
    assert_eq!(reported.len(), faults.len(), "{reported:?}");
    for (report, fault) in reported.iter().zip(faults) {
        assert!(report.contains(fault), "{report} has no {fault}");
    }
    gateway.stop().await;
}

#[tokio::test]
async fn a_write_is_committed_when_it_returns() {
    for gateway in gateways().await {
        let response = write(&gateway, 1, "good").await;
        assert_eq!(response.status, 201, "{}", response.text());
        let line = response.json();
        assert_eq!((&line["total"], &line["runs"]), (&json!(1), &json!(1)), "the handler reads its own write");
        let events = gateway.events().await;
        assert_eq!(
            events.iter().map(|event| &event.data).collect::<Vec<_>>(),
            [&json!({ "id": line["id"], "text": "good" })]
        );
        finish(gateway, &[]).await;
    }
}

#[tokio::test]
async fn a_refused_write_leaves_nothing_not_even_a_used_signature() {
    for gateway in gateways().await {
        let body = Wallet::new(1).signed_body(ACTION, gateway.now_s(), &json!({ "text": "a", "ending": "refused" }));
        for _ in 0..2 {
            let response = gateway.send("POST", LINES, &[], body.to_string()).await;
            assert_eq!((response.status, response.code().as_str()), (409, "refused"));
        }
        assert_eq!(written(&gateway).await, (0, 0));
        assert_eq!(write(&gateway, 1, "good").await.status, 201, "the interval was not used either");
        finish(gateway, &[]).await;
    }
}

#[tokio::test]
async fn a_write_that_fails_leaves_nothing() {
    for (ending, fault) in
        [("failed", "as the test wished"), ("panic", "as the test wished"), ("bad_statement", "scribe")]
    {
        for gateway in gateways().await {
            let response = write(&gateway, 1, ending).await;
            assert!((500..=503).contains(&response.status), "{ending}: {}", response.text());
            assert_eq!(written(&gateway).await, (0, 0), "{ending}");
            assert_eq!(write(&gateway, 1, "good").await.status, 201, "after {ending}");
            let faults = gateway.faults().await;
            assert!(ending == "bad_statement" || faults[0].contains(fault), "{ending}: {faults:?}");
            gateway.stop().await;
        }
    }
}

#[tokio::test]
async fn a_write_that_hangs_is_rolled_back_at_the_time_limit() {
    for gateway in gateways().await {
        let payload = json!({ "text": "a", "ending": "hang" });
        let response = gateway.post_signed(SLOW_LINES, &Wallet::new(1), ACTION, payload).await;
        assert_eq!((response.status, response.code().as_str()), (503, "timeout"));
        assert!(response.text().contains("nothing was written"), "{}", response.text());
        assert_eq!(written(&gateway).await, (0, 0));
        assert_eq!(write(&gateway, 1, "good").await.status, 201);
        finish(gateway, &["timeout"]).await;
    }
}

#[tokio::test]
async fn a_time_limit_after_the_write_does_not_say_that_nothing_was_written() {
    for gateway in gateways().await {
        let payload = json!({ "text": "a", "ending": "hang_later" });
        let body = Wallet::new(1).signed_body(ACTION, gateway.now_s(), &payload).to_string();
        let response = gateway.send("POST", SLOW_LINES, &[], body.clone()).await;
        assert_eq!((response.status, response.code().as_str()), (503, "timeout"));
        assert!(response.text().contains("409 replay"), "{}", response.text());
        assert_eq!(written(&gateway).await, (1, 1));
        let again = gateway.send("POST", SLOW_LINES, &[], body).await;
        assert_eq!((again.status, again.code().as_str()), (409, "replay"));
        finish(gateway, &["timeout"]).await;
    }
}

#[tokio::test]
async fn a_replay_is_refused_whatever_the_handler_answers() {
    for ending in ["good", "ignored"] {
        for gateway in gateways().await {
            let payload = |text: &str| json!({ "text": text, "ending": ending });
            let body = Wallet::new(1).signed_body(ACTION, gateway.now_s(), &payload("a"));
            let statuses = futures_util::future::join_all((0..20).map(|_| {
                let (gateway, body) = (&gateway, body.to_string());
                async move { gateway.send("POST", LINES, &[], body).await }
            }))
            .await;
            let mut outcomes: Vec<(u16, String)> =
                statuses.iter().map(|response| (response.status, response.code())).collect();
            outcomes.sort_unstable();
            assert_eq!(outcomes.iter().filter(|(status, _)| *status == 201).count(), 1, "{outcomes:?}");
            assert_eq!(written(&gateway).await, (1, 1), "{ending}");
            let soon = gateway.post_signed(LINES, &Wallet::new(1), ACTION, payload("b")).await;
            assert_eq!((soon.status, soon.code().as_str(), soon.header("retry-after")), (429, "rate_limited", "1"));
            assert_eq!(written(&gateway).await, (1, 1), "{ending}");
            gateway.stop().await;
        }
    }
}

#[tokio::test]
async fn a_replay_and_a_write_too_soon_are_no_faults_of_the_plugin() {
    for gateway in gateways().await {
        let wallet = Wallet::new(1);
        let first = wallet.signed_body(ACTION, gateway.now_s(), &json!({ "text": "a", "ending": "good" }));
        let second = wallet.signed_body(ACTION, gateway.now_s(), &json!({ "text": "b", "ending": "good" }));
        assert_eq!(gateway.send("POST", LINES, &[], first.to_string()).await.status, 201);
        let replay = gateway.send("POST", LINES, &[], second.to_string()).await;
        assert_eq!((replay.status, replay.code().as_str()), (429, "rate_limited"));
        assert_eq!(written(&gateway).await, (1, 1));
        finish(gateway, &[]).await;
    }
}

#[tokio::test]
async fn a_handler_that_ignores_a_refusal_has_written_nothing_and_used_the_signature() {
    for gateway in gateways().await {
        let payload = json!({ "text": "a", "ending": "refused_and_ignored" });
        let body = Wallet::new(1).signed_body(ACTION, gateway.now_s(), &payload).to_string();
        assert_eq!(gateway.send("POST", LINES, &[], body.clone()).await.status, 201);
        assert_eq!(written(&gateway).await, (0, 0));
        let again = gateway.send("POST", LINES, &[], body).await;
        assert_eq!((again.status, again.code().as_str()), (409, "replay"));
        finish(gateway, &[]).await;
    }
}

#[tokio::test]
async fn a_refusal_after_the_write_does_not_undo_it_and_is_reported() {
    for gateway in gateways().await {
        let response = write(&gateway, 1, "refused_later").await;
        assert_eq!((response.status, response.code().as_str()), (409, "refused"));
        assert_eq!(written(&gateway).await, (1, 1));
        finish(gateway, &["after the write was committed"]).await;
    }
}

#[tokio::test]
async fn a_second_write_is_an_error() {
    for gateway in gateways().await {
        let response = write(&gateway, 1, "twice").await;
        let error = response.json()["error"].as_str().unwrap_or_default().to_owned();
        assert!(error.contains("a request writes once"), "{}", response.text());
        assert_eq!(written(&gateway).await, (1, 1));
        finish(gateway, &[]).await;
    }
}

#[tokio::test]
async fn a_job_commits_its_write_or_leaves_nothing() {
    for gateway in gateways().await {
        let run = async |text: &str, fails: bool| -> Value {
            let mut outcomes = gateway.collect(JOB.name(), &json!({ "text": text, "fails": fails })).await;
            outcomes.remove("scribe").unwrap()
        };
        assert_eq!(run("a", false).await, json!([true, true]));
        assert_eq!(run("b", true).await, json!([false, false]));
        assert_eq!(written(&gateway).await, (1, 1));
        finish(gateway, &[]).await;
    }
}
