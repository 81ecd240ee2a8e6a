//! The job `prune_payloads`.

use super::{finish, gateways_with, is_there, post, read, store, text_store};
use plugin_testing::{TestGateway, json};
use std::time::Duration;

const HOUR: Duration = Duration::from_secs(60 * 60);
const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const LIMIT: Duration = Duration::from_secs(60);

async fn gateways() -> Vec<TestGateway> {
    gateways_with(|builder| builder.plugin(text_store::module())).await
}

async fn mention(gateway: &TestGateway, text: &str) {
    assert_eq!(gateway.send("POST", text_store::TEXTS, &[], text.to_owned()).await.status, 204);
}

async fn forget(gateway: &TestGateway) {
    assert_eq!(gateway.send("DELETE", text_store::TEXTS, &[], "").await.status, 204);
}

async fn runs(gateway: &TestGateway) -> u64 {
    let rows =
        gateway.rows("SELECT runs FROM host_job_runs WHERE plugin = 'payloads' AND job = 'prune_payloads'").await;
    rows.first().and_then(|row| row.trim_start_matches("Int(").trim_end_matches(')').parse().ok()).unwrap_or_default()
}

/// Lets the job run `times` more times, an hour of the gateway's clock apart.
async fn run(gateway: &TestGateway, times: u64) {
    for _ in 0..times {
        let before = runs(gateway).await;
        gateway.clock().advance(HOUR).await;
        TestGateway::eventually(LIMIT, "the job runs", || async {
            gateway.clock().advance(Duration::from_secs(60)).await;
            runs(gateway).await > before
        })
        .await;
    }
}

async fn totals(gateway: &TestGateway) -> Vec<String> {
    gateway.rows("SELECT payloads, bytes FROM payloads_totals").await
}

#[tokio::test]
async fn an_unreferenced_payload_is_deleted_after_its_time() {
    for gateway in gateways().await {
        let (mentioned, forgotten) = (store(&gateway, "mentioned").await, store(&gateway, "forgotten").await);
        mention(&gateway, "no hash here").await;
        mention(&gateway, "nor here").await;
        mention(&gateway, &format!("see fmx://payload/{}", mentioned.to_uppercase().replace("0X", "0x"))).await;
        gateway.clock().advance(DAY * 29).await;
        let young = store(&gateway, "young").await;
        run(&gateway, 2).await;
        assert!(is_there(&gateway, &forgotten).await, "30 days are not over");
        gateway.clock().advance(DAY * 2).await;
        run(&gateway, 3).await;
        assert!(!is_there(&gateway, &forgotten).await);
        assert!(is_there(&gateway, &mentioned).await && is_there(&gateway, &young).await);
        assert_eq!(totals(&gateway).await, ["Int(2) Int(14)"]);
        // When the reference is gone, its full time starts again, and then it is deleted.
        forget(&gateway).await;
        run(&gateway, 2).await;
        assert!(is_there(&gateway, &mentioned).await);
        gateway.clock().advance(DAY * 31).await;
        run(&gateway, 3).await;
        assert!(!is_there(&gateway, &mentioned).await && !is_there(&gateway, &young).await);
        assert_eq!(totals(&gateway).await, ["Int(0) Int(0)"]);
        // It can be stored again.
        store(&gateway, "mentioned").await;
        assert!(is_there(&gateway, &mentioned).await);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn storing_it_again_restarts_its_time() {
    for gateway in gateways().await {
        let hash = store(&gateway, "again").await;
        gateway.clock().advance(DAY * 29).await;
        store(&gateway, "again").await;
        gateway.clock().advance(DAY * 2).await;
        run(&gateway, 3).await;
        assert!(is_there(&gateway, &hash).await);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_payload_marked_for_deletion_is_hidden_until_it_is_referenced_or_stored_again() {
    for gateway in gateways().await {
        let (one, two) = (store(&gateway, "one").await, store(&gateway, "two").await);
        run(&gateway, 1).await;
        gateway.clock().advance(DAY * 31).await;
        let visible = async || gateway.rows("SELECT hash FROM payloads_v1 ORDER BY size, hash").await.len();
        TestGateway::eventually(LIMIT, "both are given up", || async {
            gateway.clock().advance(Duration::from_secs(60)).await;
            visible().await == 0
        })
        .await;
        assert!(is_there(&gateway, &one).await && is_there(&gateway, &two).await, "until the second question");
        mention(&gateway, &one).await;
        assert_eq!(post(&gateway, "text/plain", "two").await.status, 200);
        assert_eq!(visible().await, 1);
        run(&gateway, 2).await;
        assert!(is_there(&gateway, &one).await && is_there(&gateway, &two).await);
        assert_eq!(visible().await, 2);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn nothing_is_deleted_while_a_referencing_plugin_is_off() {
    for gateway in gateways().await {
        let hash = store(&gateway, "mentioned").await;
        mention(&gateway, &hash).await;
        run(&gateway, 1).await;
        let gateway = gateway
            .restart_after(|config| {
                config.plugins.sections.entry("text_store".to_owned()).or_default().enabled = Some(false);
            })
            .await;
        gateway.clock().advance(DAY * 40).await;
        run(&gateway, 3).await;
        assert!(is_there(&gateway, &hash).await);
        let service = read(&gateway, "/api/status").await["services"]["payloads"].clone();
        assert_eq!(service["ok"], true);
        assert!(service["detail"].as_str().unwrap().contains("text_store"), "{service}");
        // Until the operator declares that the plugin is gone.
        let gateway = gateway
            .restart_after(|config| {
                let settings = &mut config.plugins.sections.entry("payloads".to_owned()).or_default().config;
                settings.insert("gone".to_owned(), json!(["text_store"]));
            })
            .await;
        run(&gateway, 3).await;
        assert!(!is_there(&gateway, &hash).await);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn more_payloads_than_one_call_holds_are_deleted() {
    for gateway in gateways().await {
        for number in 0..620_u32 {
            store(&gateway, number.to_be_bytes()).await;
        }
        gateway.clock().advance(DAY * 31).await;
        run(&gateway, 3).await;
        assert_eq!(totals(&gateway).await, ["Int(0) Int(0)"]);
        assert_eq!(gateway.rows("SELECT hash FROM payloads_payloads").await, Vec::<String>::new());
        finish(gateway).await;
    }
}
