//! Webhooks in gateways of their own, with endpoints in other processes: deliveries that public libraries verify, kills, metrics.

mod crowd;
mod ended;
mod kills;
mod metrics;
mod suspended;
mod verifiers;

use crate::{
    e2e::{Site, setup_with_all_plugins},
    storage::Engine,
};
use gateway_tests::{postgres, process::Setup};
use plugin_testing::{Value, Wallet, json};

const PLUGINS: [&str; 3] = ["agents", "messages", "webhooks"];

/// The recipient of messages, who has the webhooks.
fn recipient() -> Wallet {
    Wallet::new(1)
}

/// A gateway that calls endpoints on this machine, and tries again after a second.
async fn setup(engine: Engine) -> Setup {
    let setup = setup_with_all_plugins().with_only(&PLUGINS).unwrap();
    let setup = setup
        .unset("plugins.hello.enabled")
        .unset("plugins.kb.network_pages")
        .set("egress.allow_hosts", "127.0.0.1")
        // Gateways of one database have one.
        .set("secrets.key", "ff02030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20")
        .set("limits.write_interval_ms", 0)
        .set("plugins.webhooks.retry_s", "[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]");
    match engine {
        Engine::Sqlite => setup,
        Engine::Postgres => setup.set("database.url", postgres::fresh_database().await.unwrap()),
    }
}

/// Registers a webhook of the recipient; returns its id.
async fn register(site: &Site, url: &str, secret: &str) -> i64 {
    let payload = json!({ "url": url, "secret": secret, "events": ["dm.received"] });
    let set = site.write("/api/webhooks", &recipient(), "webhook.set", payload).await;
    assert_eq!(set.status, 201, "{}", set.text());
    set.json()["id"].as_i64().unwrap()
}

/// A message to the recipient, which is an event.
async fn message(site: &Site, sender: &Wallet, body: &str) -> plugin_testing::TestResponse {
    let payload: Value = json!({ "to": recipient().address(), "body": body });
    site.write("/api/messages", sender, "message.send", payload).await
}
