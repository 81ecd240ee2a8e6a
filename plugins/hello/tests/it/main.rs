//! The plugin from the outside, one file per operation: the gateway's own router, checks and databases, no network.
#![allow(clippy::unwrap_used, reason = "tests")]

mod configuration;
mod create_guest;
mod get_greeting;
mod list_guests;
mod prune_guests;

use plugin_testing::{Answer, TestGateway, Wallet, json};

/// A gateway with this plugin on each database.
async fn houses() -> Vec<TestGateway> {
    TestGateway::each_database(&[hello::plugin_module()]).await
}

async fn sign(house: &TestGateway, wallet: &Wallet, message: &str) -> Answer {
    house.post_signed("/api/hello/guests", wallet, "hello.sign", json!({ "message": message })).await
}

/// The end of a good test: nothing went wrong behind the answers.
async fn close(house: TestGateway) {
    assert_eq!(house.faults().await, Vec::<String>::new());
    house.stop().await;
}
