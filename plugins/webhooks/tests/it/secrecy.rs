//! No secret is in an answer, a log, an event, a report or a table.

use super::{CONTRACTS, Endpoint, Site, WEBHOOKS, fixture, owner};
use plugin_testing::{ScriptedChain, TestResponse, json};
use std::{
    io::Write,
    sync::{Arc, Mutex},
};
use tracing_subscriber::fmt::MakeWriter;

const SECRETS: [&str; 2] = ["the wombat knows it all", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"];

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Log {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn assert_silent(place: &str, text: &str) {
    for secret in SECRETS {
        // Without the beginning, which owners see.
        let hidden = &secret[6..];
        let is_there = text.contains(hidden) || text.to_lowercase().contains(&hex::encode(hidden));
        assert!(!is_there, "{place} has a secret: {text}");
    }
}

fn silent(place: &str, response: TestResponse) -> TestResponse {
    assert_silent(place, &response.text());
    response
}

async fn use_webhooks(site: &Site, endpoint: &Endpoint) {
    let mut id = json!(0);
    for secret in SECRETS {
        let set =
            site.set(&owner(), json!({ "url": endpoint.url(), "secret": secret, "events": ["dm.received"] })).await;
        id = silent("the answer", set).json()["id"].clone();
    }
    let wrong = json!({ "url": endpoint.url(), "secret": format!("{}=", SECRETS[1]), "events": ["dm.received"] });
    assert_eq!(silent("a refusal", site.set(&owner(), wrong).await).status, 400);
    let no_json = format!("{{\"secret\":\"{}\"", SECRETS[0]);
    silent("a refusal", site.gateway.send("POST", WEBHOOKS, &[], no_json).await);
    endpoint.fail(1);
    site.message("m").await;
    endpoint.calls(1).await;
    assert_eq!(silent("a test", site.test(&owner(), &id).await).status, 202);
    endpoint.calls(2).await;
    assert_silent("mine", &site.mine_of(&owner()).await.to_string());
    // A secret that does not open is a line in the log.
    site.gateway
        .execute("UPDATE webhooks_endpoints SET sealed_secret = sealed_old_secret, url = url || '/moved'")
        .await;
    assert_eq!(site.test(&owner(), &id).await.status, 202);
}

async fn assert_tables_are_silent(site: &Site) {
    let hex = if site.gateway.dialect() == "sqlite" { "hex(?)" } else { "encode(?, 'hex')" };
    let blob = |column: &str| hex.replace('?', column);
    let sealed = format!("{}, {}", blob("sealed_secret"), blob("sealed_old_secret"));
    for (table, columns) in [
        ("webhooks_endpoints", format!("owner, url, events, key_id, disabled_reason, {sealed}")),
        ("webhooks_deliveries", "event_id, data, last_error".to_owned()),
        ("webhooks_queue", "payload, error".to_owned()),
        ("host_activity", "data".to_owned()),
    ] {
        assert_silent(table, &site.gateway.rows(&format!("SELECT {columns} FROM {table}")).await.join("\n"));
    }
}

#[tokio::test]
async fn nobody_learns_a_secret() {
    let log = Log::default();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(log.clone())
        .finish();
    let _guard = tracing::subscriber::set_default(subscriber);
    for builder in super::builders().await {
        let chain = ScriptedChain::start().await;
        chain.mine(vec![fixture::agent(1, &owner())]);
        let gateway = builder.chain(&chain, &CONTRACTS).start().await;
        gateway.indexed(&chain).await;
        let site = Site { gateway, chain };
        let endpoint = Endpoint::start().await;
        use_webhooks(&site, &endpoint).await;
        site.until_status(&owner(), "failed", 1).await;
        let failed = site.newest().await;
        assert_eq!(failed["lastError"], "the gateway cannot use the secret: set it again");
        assert_tables_are_silent(&site).await;
        for report in site.gateway.reports().await {
            assert_silent("the report", &format!("{report:?}"));
        }
        for path in ["/api/activity", "/api/stats", "/api/status"] {
            assert_silent(path, &site.gateway.get(path).await.text());
        }
        site.gateway.stop().await;
    }
    let text = String::from_utf8_lossy(&log.0.lock().unwrap()).into_owned();
    assert!(text.contains("does not open"), "the log is captured: {text}");
    assert_silent("the log", &text);
}
