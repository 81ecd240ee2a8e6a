//! The waitlist in a gateway, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod configuration;
mod count_waitlist;
mod export_waitlist;
mod get_waitlist_challenge;
mod join_waitlist;

use plugin_testing::{Builder, TestGateway, TestResponse, Value, Wallet, json};

const WAITLIST: &str = "/api/validators/waitlist";

/// Gateways without limits per IP, and with a high limit of the plugin's own.
async fn gateways() -> Vec<TestGateway> {
    gateways_with(json!({ "signups_per_hour": 1000 })).await
}

async fn gateways_with(config: Value) -> Vec<TestGateway> {
    gateways_of(|builder| builder.config("validators", config.clone())).await
}

/// No address is exempt from limits.
async fn limited_gateways() -> Vec<TestGateway> {
    gateways_of(|builder| builder.configure(|config| config.limits.allow.clear())).await
}

async fn gateways_of(configure: impl Fn(Builder) -> Builder) -> Vec<TestGateway> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut gateways = Vec::new();
    for builder in builders {
        gateways.push(configure(builder.plugin(validators::plugin_module())).start().await);
    }
    gateways
}

fn fields(wallet: &Wallet) -> Value {
    json!({ "address": wallet.address(), "platform": "linux", "seats": 2 })
}

/// `payload` with other members.
fn with(mut payload: Value, members: Value) -> Value {
    let members = members.as_object().expect("an object").clone();
    payload.as_object_mut().expect("an object").extend(members);
    payload
}

fn query(fields: &Value) -> String {
    let encode = |text: &str| text.bytes().map(|byte| format!("%{byte:02X}")).collect::<String>();
    let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    let members = fields.as_object().expect("an object").iter();
    members.map(|(name, value)| format!("{name}={}", encode(&text(value)))).collect::<Vec<_>>().join("&")
}

async fn challenge(gateway: &TestGateway, fields: &Value) -> TestResponse {
    gateway.get(&format!("{WAITLIST}/challenge?{}", query(fields))).await
}

async fn post(gateway: &TestGateway, payload: &Value) -> TestResponse {
    gateway.send("POST", WAITLIST, &[("content-type", "application/json")], payload.to_string()).await
}

/// Requests a challenge for the fields, signs it and returns the payload.
async fn signed(gateway: &TestGateway, wallet: &Wallet, fields: Value) -> Value {
    let response = challenge(gateway, &fields).await;
    assert_eq!(response.status, 200, "{}", response.text());
    let challenge = response.json();
    let sig = wallet.sign_text(challenge["message"].as_str().expect("message"));
    with(fields, json!({ "nonce": challenge["nonce"], "expires": challenge["expires"], "sig": sig }))
}

/// Signs up; returns status and receipt.
async fn join(gateway: &TestGateway, wallet: &Wallet, fields: Value) -> (u16, Value) {
    let response = post(gateway, &signed(gateway, wallet, fields).await).await;
    (response.status, response.json())
}

async fn count(gateway: &TestGateway) -> Value {
    let response = gateway.get(&format!("{WAITLIST}/count")).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

/// Ends a test: no plugin reported a fault.
async fn finish(gateway: TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}
