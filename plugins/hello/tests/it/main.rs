//! The plugin in a gateway, one file per operation: the gateway's own router, checks and databases, no network.
#![allow(clippy::unwrap_used, reason = "tests")]

mod configuration;
mod create_guest;
mod get_greeting;
mod list_guests;
mod prune_guests;

use plugin_testing::{TestGateway, TestResponse, Wallet, json};

/// A gateway with this plugin on each database.
async fn gateways() -> Vec<TestGateway> {
    TestGateway::each_database(&[hello::plugin_module()]).await
}

async fn sign(gateway: &TestGateway, wallet: &Wallet, message: &str) -> TestResponse {
    gateway.post_signed("/api/hello/guests", wallet, "hello.sign", json!({ "message": message })).await
}

/// Ends a test: no plugin reported a fault.
async fn close(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
