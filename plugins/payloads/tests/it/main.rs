//! The store behind a gateway, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod configuration;
mod contributions;
mod get_payload;
mod prune_payloads;
mod store_payload;
mod views;
mod witness;

use plugin_testing::{Answer, Builder, TestGateway, Value};

const PAYLOADS: &str = "/api/payloads";

/// Without limits per IP.
async fn houses() -> Vec<TestGateway> {
    houses_with(|builder| builder).await
}

async fn houses_with(configure: impl Fn(Builder) -> Builder) -> Vec<TestGateway> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut houses = Vec::new();
    for builder in builders {
        houses.push(configure(builder.plugin(payloads::plugin_module())).start().await);
    }
    houses
}

async fn post(house: &TestGateway, content_type: &str, bytes: impl Into<Vec<u8>>) -> Answer {
    let headers = [("content-type", content_type)];
    let headers = if content_type.is_empty() { &headers[..0] } else { &headers[..] };
    house.send("POST", PAYLOADS, headers, bytes.into()).await
}

/// Stores bytes; answers their hash.
async fn store(house: &TestGateway, bytes: impl Into<Vec<u8>>) -> String {
    let answer = post(house, "text/plain", bytes).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()["hash"].as_str().unwrap().to_owned()
}

fn path_of(hash: &str) -> String {
    format!("{PAYLOADS}/{hash}")
}

async fn is_there(house: &TestGateway, hash: &str) -> bool {
    house.get(&path_of(hash)).await.status == 200
}

/// What a GET answers with 200.
async fn read(house: &TestGateway, path: &str) -> Value {
    let answer = house.get(path).await;
    assert_eq!(answer.status, 200, "{path}: {}", answer.text());
    answer.json()
}

/// Nothing went wrong inside.
async fn finish(house: TestGateway) {
    assert_eq!(house.faults().await, Vec::<String>::new());
    house.stop().await;
}
