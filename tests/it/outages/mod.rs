//! Kinds of outage: the disk is full, the database is away, a thread of it has ended, all RPC servers lie.
//!
//! The rule that is tested: the listeners of clients and of the operator tell the truth while it lasts, nothing waits for
//! what is away, and everything recovers by itself.

mod database_away;
mod database_thread;
mod disk_full;
mod lying_servers;

use crate::e2e::Site;
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{TestGateway, Value};

/// The listeners of one gateway.
struct Views {
    public: Site,
    operator: Site,
}

impl Views {
    fn of(gateway: &GatewayProcess) -> Self {
        Self { public: Site::of(gateway), operator: Site::at(gateway.admin_url()) }
    }

    /// Waits until the gateway is ready, or is not, and returns what it says then. `/api/health` says the same.
    async fn becomes_ready(&self, ready: bool) -> Value {
        let status = if ready { 200 } else { 503 };
        let agrees = async || {
            let (operator, public) = tokio::join!(self.operator.get("/ready"), self.public.get("/api/health"));
            assert_eq!(public.status, 200, "it lives: {}", public.text());
            operator.status == status && operator.json()["ok"] == ready && public.json()["ok"] == ready
        };
        TestGateway::eventually(LIMIT, &format!("ready: {ready}"), agrees).await;
        self.operator.get("/ready").await.json()
    }

    async fn is_alive(&self) {
        let live = self.operator.get("/live").await;
        assert_eq!((live.status, &live.json()["ok"]), (200, &true.into()), "{}", live.text());
    }

    /// The operator's page.
    async fn page(&self) -> String {
        let page = self.operator.get("/").await;
        assert_eq!(page.status, 200, "{}", page.text());
        page.text()
    }

    async fn degraded(&self) -> Vec<String> {
        let status = self.public.get("/api/status").await;
        assert_eq!(status.status, 200, "{}", status.text());
        serde_json::from_value(status.json()["degraded"].clone()).unwrap()
    }
}
