//! Webhooks in a gateway with the plugins whose events they send, on each database, with a scripted chain and endpoints on this
//! machine: one file per operation, job and contribution.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod at_once;
mod audit;
mod configuration;
mod contributions;
mod delete_webhook;
mod deliver;
mod disabling;
mod endpoint;
mod fixture;
mod follow_log;
mod keys;
mod list_own_webhooks;
mod prune_deliveries;
mod replay_webhook;
mod retraction;
mod secrecy;
mod set_webhook;
mod slow_server;
mod test_webhook;

use endpoint::Endpoint;
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, TestGateway, TestResponse, Value, Wallet, json};
use std::{
    sync::atomic::{AtomicU32, Ordering::SeqCst},
    time::Duration,
};

const WEBHOOKS: &str = "/api/webhooks";
const SECRET: &str = "a secret of thirty characters!";
/// After so many looks in vain the clock moves.
const LOOKS: u32 = 500;
const LIMIT: Duration = Duration::from_secs(30);
const CONTRACTS: [&str; 5] = ["registry", "escrow", "streamPay", "arbiterPool", "validation8004"];

/// A gateway with its own chain, on which wallet 1 owns the agent 1.
struct Site {
    gateway: TestGateway,
    chain: ScriptedChain,
}

fn owner() -> Wallet {
    Wallet::new(1)
}

fn client() -> Wallet {
    Wallet::new(2)
}

/// Without a pause between the writes of a wallet.
async fn builders() -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let configured = |builder: Builder| {
        builder.configure(|config| {
            config.limits.write_interval_ms = 0;
            config.egress.allow_hosts = vec!["127.0.0.1".to_owned(), "localhost".to_owned()];
        })
    };
    let plugins = [
        agents::plugin_module(),
        bounties::plugin_module(),
        economy::plugin_module(),
        messages::plugin_module(),
        webhooks::plugin_module(),
    ];
    let with_plugins = |builder: Builder| plugins.iter().fold(builder, |builder, plugin| builder.plugin(*plugin));
    builders.into_iter().map(|builder| with_plugins(configured(builder))).collect()
}

async fn sites_with(config: Value) -> Vec<Site> {
    sites_of(|builder| builder.config("webhooks", config.clone())).await
}

async fn sites_of(configure: impl Fn(Builder) -> Builder) -> Vec<Site> {
    let mut sites = Vec::new();
    for builder in builders().await {
        let chain = ScriptedChain::start().await;
        chain.mine(vec![fixture::agent(1, &owner())]);
        let gateway = configure(builder).chain(&chain, &CONTRACTS).start().await;
        gateway.indexed(&chain).await;
        sites.push(Site { gateway, chain });
    }
    sites
}

async fn sites() -> Vec<Site> {
    sites_with(json!({})).await
}

impl Site {
    async fn wait(&self, seconds: u64) {
        self.gateway.clock().advance(Duration::from_secs(seconds)).await;
    }

    /// Mines the events, so deep that they are public.
    async fn mine(&self, logs: Vec<ScriptedLog>) {
        self.chain.mine(logs);
        self.chain.mine_empty(3);
        self.gateway.indexed(&self.chain).await;
    }

    async fn set(&self, wallet: &Wallet, payload: Value) -> TestResponse {
        self.wait(1).await;
        self.gateway.post_signed(WEBHOOKS, wallet, "webhook.set", payload).await
    }

    /// Registers an endpoint for these events; returns the webhook.
    async fn webhook(&self, wallet: &Wallet, endpoint: &Endpoint, events: &[&str]) -> Value {
        self.webhook_with(wallet, endpoint, SECRET, events).await
    }

    async fn webhook_with(&self, wallet: &Wallet, endpoint: &Endpoint, secret: &str, events: &[&str]) -> Value {
        let payload = json!({ "url": endpoint.url(), "secret": secret, "events": events });
        let response = self.set(wallet, payload).await;
        assert!(response.is_success(), "{}", response.text());
        response.json()
    }

    /// A read or delete whose signature is over this text, with this body.
    async fn send_headers(
        &self,
        (method, path): (&str, &str),
        wallet: &Wallet,
        (action, signed): (&str, &str),
        body: &str,
    ) -> TestResponse {
        let headers = wallet.signed_headers(action, self.gateway.now_s(), signed);
        let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        self.gateway.send(method, path, &headers, body.to_owned()).await
    }

    async fn mine_of(&self, wallet: &Wallet) -> Value {
        let path = format!("{WEBHOOKS}/mine?deliveries=200");
        let response = self.send_headers(("GET", &path), wallet, ("webhook.set", ""), "").await;
        assert_eq!(response.status, 200, "{}", response.text());
        response.json()
    }

    /// The newest delivery of the owner; null when there is none.
    async fn newest(&self) -> Value {
        self.mine_of(&owner()).await["deliveries"].get(0).cloned().unwrap_or_default()
    }

    async fn delete(&self, wallet: &Wallet, id: &Value) -> TestResponse {
        self.wait(1).await;
        let (path, body) = (format!("{WEBHOOKS}/{id}"), json!({ "id": id }).to_string());
        self.send_headers(("DELETE", &path), wallet, ("webhook.delete", &body), &body).await
    }

    async fn test(&self, wallet: &Wallet, id: &Value) -> TestResponse {
        self.wait(1).await;
        let path = format!("{WEBHOOKS}/{id}/test");
        self.gateway.post_signed(&path, wallet, "webhook.test", json!({ "id": id })).await
    }

    async fn replay(&self, wallet: &Wallet, id: &Value, mut payload: Value) -> TestResponse {
        self.wait(1).await;
        payload["id"] = id.clone();
        let path = format!("{WEBHOOKS}/{id}/replay");
        self.gateway.post_signed(&path, wallet, "webhook.replay", payload).await
    }

    /// A message of the client to the owner, which is an event.
    async fn message(&self, body: &str) -> Value {
        self.wait(1).await;
        let payload = json!({ "to": owner().address(), "subject": "about", "body": body });
        let response = self.gateway.post_signed("/api/messages", &client(), "message.send", payload).await;
        assert_eq!(response.status, 201, "{}", response.text());
        response.json()
    }

    /// Waits until this many deliveries of the wallet have this status.
    async fn until_status(&self, wallet: &Wallet, status: &str, count: usize) {
        let what = format!("{count} deliveries are {status}");
        self.eventually(1, &what, async || self.count_status(wallet, status).await == count).await;
    }

    /// Waits for what a job does, whose next run needs a clock that goes on: from time to time by so many seconds.
    async fn eventually<F: Future<Output = bool>>(&self, seconds: u64, what: &str, condition: impl Fn() -> F) {
        let looks = AtomicU32::new(1);
        TestGateway::eventually(LIMIT, what, async || {
            if looks.fetch_add(1, SeqCst).is_multiple_of(LOOKS) {
                self.wait(seconds).await;
            }
            condition().await
        })
        .await;
    }

    async fn count_status(&self, wallet: &Wallet, status: &str) -> usize {
        // Signed reads would keep the processors busy.
        let owner = wallet.address();
        let select = format!("SELECT id FROM webhooks_deliveries WHERE owner = '{owner}' AND status = '{status}'");
        self.gateway.rows(&select).await.len()
    }

    /// Waits until deliveries are made of all events that there are.
    async fn log_is_followed(&self) {
        let position = "SELECT position FROM host_log_subscriptions WHERE plugin = 'webhooks'";
        self.eventually(1, "the log is followed", async || {
            self.gateway.rows(position).await == self.gateway.rows("SELECT max(id) FROM host_activity").await
        })
        .await;
    }

    /// Ends a test: no plugin reported a fault.
    async fn close(self) {
        assert_eq!(self.gateway.faults().await, Vec::<String>::new());
        self.gateway.stop().await;
    }
}

fn refusal(response: &TestResponse) -> (u16, String) {
    (response.status, response.code())
}
