//! What the operator sees of deliveries and of their queue.

use super::{message, register, setup};
use crate::{e2e::Site, storage::Engine};
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Wallet};
use wiremock::{Mock, MockServer, ResponseTemplate, matchers::any};

/// The value of the series with these labels.
fn value(metrics: &str, name: &str, labels: &[&str]) -> Option<f64> {
    let is_it = |line: &&str| line.starts_with(&format!("{name}{{")) && labels.iter().all(|label| line.contains(label));
    metrics.lines().find(is_it)?.rsplit(' ').next()?.parse().ok()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn attempts_and_tasks_are_counted() {
    let gateway = setup(Engine::Sqlite).await.start().await.unwrap();
    let endpoint = MockServer::start().await;
    Mock::given(any()).respond_with(ResponseTemplate::new(500)).up_to_n_times(1).mount(&endpoint).await;
    Mock::given(any()).respond_with(ResponseTemplate::new(200)).mount(&endpoint).await;
    let site = Site::of(&gateway);
    register(&site, &endpoint.uri(), "a secret of some length").await;
    assert_eq!(message(&site, &Wallet::new(10), "m").await.status, 201);
    let admin = Site::at(gateway.admin_url());
    let of_queue = [r#"plugin="webhooks""#, r#"queue="webhooks_queue""#];
    let is_counted = async || {
        let metrics = admin.get("/metrics").await.text();
        let attempts = |outcome: &str| value(&metrics, "plugin_webhooks_attempts", &[outcome]);
        let of = |name: &str, label: &str| value(&metrics, name, &[&of_queue[..], &[label]].concat());
        let keys = of("gateway_queue_keys", r#"state="due""#);
        let tasks = ["waiting", "running", "dead"].map(|state| of("gateway_queue_tasks", state));
        let oldest = value(&metrics, "gateway_queue_oldest_task_seconds", &of_queue);
        attempts(r#"outcome="failed""#) == Some(1.0)
            && attempts(r#"outcome="delivered""#) == Some(1.0)
            && of("gateway_queue_attempts_total", r#"result="ok""#) == Some(2.0)
            && keys.is_some()
            && tasks == [Some(0.0); 3]
            && oldest == Some(0.0)
    };
    TestGateway::eventually(LIMIT, "both attempts are counted, and no task is left", is_counted).await;
}
