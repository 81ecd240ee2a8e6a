//! A gateway of the market, as its clients see it.

use super::{FMX, Market, Payment};
use crate::{
    crash::query,
    e2e::{Site, answer},
    storage::Engine,
};
use gateway_tests::process::{GatewayProcess, LIMIT, Setup};
use plugin_testing::{TestResponse, Value};
use reqwest::{Method, RequestBuilder};
use std::time::Duration;

/// A gateway logs every request, so it is not asked all the time.
const PAUSE: Duration = Duration::from_millis(50);

pub struct Till {
    pub setup: Setup,
    pub gateway: GatewayProcess,
    site: Site,
    /// The test key that it settles with.
    pub facilitator: &'static str,
}

impl Till {
    /// Starts a gateway and waits until it knows the price of every agent, and every deposit.
    pub async fn open(market: &Market, setup: Setup, facilitator: &'static str) -> Self {
        let gateway = setup.start().await.unwrap();
        let till = Self { site: Site::of(&gateway), setup, gateway, facilitator };
        for agent in 1..=market.registered {
            till.knows_price_of(agent).await;
        }
        till.has_indexed(market).await;
        till
    }

    /// Waits until it has read the agent's registration and card.
    pub async fn knows_price_of(&self, agent: u64) {
        let path = format!("/api/agents/{agent}");
        until("the agent has a price", async || self.site.get(&path).await.json()["pricePerCall"].is_string()).await;
    }

    /// Starts it again after its end.
    pub async fn start_again(&mut self) {
        self.gateway = self.setup.start().await.unwrap();
        self.site = Site::of(&self.gateway);
        // On a busy machine the gateway does not wait for a plugin that starts slowly.
        until("it sells", async || self.site.get("/api/x402/supported").await.status == 200).await;
    }

    pub fn engine(&self) -> Engine {
        if self.setup.get("database.url").is_some() { Engine::Postgres } else { Engine::Sqlite }
    }

    /// One of the test keys that pay here, with a deposit that the gateway knows of.
    pub async fn payer(&self, market: &Market, number: usize) -> &'static str {
        let role = match self.engine() {
            Engine::Sqlite => ["user2", "user3", "user4"][number],
            Engine::Postgres => ["user5", "user6", "user7"][number],
        };
        market.deposit(role, FMX).await;
        self.has_indexed(market).await;
        role
    }

    /// Waits until it has the events of all blocks that there are now.
    pub async fn has_indexed(&self, market: &Market) {
        let newest = market.devnet.head().await.unwrap();
        until("the newest block is indexed", async || {
            self.get("/api/health").await["indexedBlock"].as_u64().is_some_and(|block| block >= newest)
        })
        .await;
    }

    pub async fn get(&self, path: &str) -> Value {
        let read = self.site.get(path).await;
        assert_eq!(read.status, 200, "{path}: {}", read.text());
        read.json()
    }

    pub fn request(&self, method: Method, path: &str, payment: Option<&Payment>) -> RequestBuilder {
        let request = self.site.request(method, path).header("content-type", "application/json");
        match payment {
            Some(payment) => request.header("x-payment", payment.header()),
            None => request,
        }
    }

    pub fn invocation(&self, agent: &str, payment: Option<&Payment>) -> RequestBuilder {
        self.request(Method::POST, &format!("/a/{agent}/invoke"), payment).body(r#"{"text":"hello"}"#)
    }

    pub async fn call(&self, agent: &str, payment: Option<&Payment>) -> TestResponse {
        answer(self.invocation(agent, payment)).await
    }

    /// Pays for a call that succeeds.
    pub async fn buy(&self, market: &Market, agent: &str, payer: &str) -> Payment {
        let payment = Payment::by(market, self, payer).await;
        let bought = self.call(agent, Some(&payment)).await;
        assert_eq!(bought.status, 200, "{}", bought.text());
        assert_ne!(bought.header("payment-response"), "");
        payment
    }

    /// The call is refused with 402; returns why.
    pub async fn refusal(&self, agent: &str, payment: &Payment) -> String {
        let refused = self.call(agent, Some(payment)).await;
        assert_eq!(refused.status, 402, "{}", refused.text());
        refused.json()["error"].as_str().unwrap_or_default().to_owned()
    }

    /// What is told of a payer.
    pub async fn account(&self, payer: &str) -> Value {
        self.get(&format!("/api/x402/payer/{payer}")).await
    }

    /// A voucher as it is shown; `null` when it is not known.
    pub async fn voucher(&self, payment: &Payment) -> Value {
        let account = self.account(&payment.voucher.payer).await;
        let nonce = payment.voucher.nonce.to_string();
        let vouchers = account["vouchers"].as_array().into_iter().flatten();
        vouchers.clone().find(|voucher| voucher["nonce"] == nonce.as_str()).cloned().unwrap_or_default()
    }

    /// Waits until a voucher has this status; returns how it is shown.
    pub async fn becomes(&self, payment: &Payment, status: &str) -> Value {
        let has = async || self.voucher(payment).await["status"] == status;
        if tokio::time::timeout(LIMIT, poll(has)).await.is_err() {
            panic!("it does not become {status}: {}", self.voucher(payment).await);
        }
        self.voucher(payment).await
    }

    /// Rows of its database, as texts.
    pub async fn rows(&self, sql: &'static str) -> Vec<Vec<String>> {
        query(&self.setup, sql).await
    }
}

/// Waits until it holds; fails the test otherwise.
pub async fn until(what: &str, holds: impl AsyncFn() -> bool) {
    assert!(tokio::time::timeout(LIMIT, poll(holds)).await.is_ok(), "{what}: not within {LIMIT:?}");
}

async fn poll(holds: impl AsyncFn() -> bool) {
    while !holds().await {
        tokio::time::sleep(PAUSE).await;
    }
}
