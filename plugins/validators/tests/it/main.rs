//! The waitlist behind a gateway, on each database: one file per operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod configuration;
mod count_waitlist;
mod export_waitlist;
mod get_waitlist_challenge;
mod join_waitlist;

use plugin_testing::{Answer, Builder, TestGateway, Value, Wallet, json};

const WAITLIST: &str = "/api/validators/waitlist";

/// Without limits per IP but the plugin's own, which is out of the way.
async fn houses() -> Vec<TestGateway> {
    houses_with(json!({ "signups_per_hour": 1000 })).await
}

async fn houses_with(config: Value) -> Vec<TestGateway> {
    houses_of(|builder| builder.config("validators", config.clone())).await
}

/// No address is free of limits.
async fn limited_houses() -> Vec<TestGateway> {
    houses_of(|builder| builder.configure(|config| config.limits.allow.clear())).await
}

async fn houses_of(configure: impl Fn(Builder) -> Builder) -> Vec<TestGateway> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut houses = Vec::new();
    for builder in builders {
        houses.push(configure(builder.plugin(validators::plugin_module())).start().await);
    }
    houses
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

async fn challenge(house: &TestGateway, fields: &Value) -> Answer {
    house.get(&format!("{WAITLIST}/challenge?{}", query(fields))).await
}

async fn post(house: &TestGateway, payload: &Value) -> Answer {
    house.send("POST", WAITLIST, &[("content-type", "application/json")], payload.to_string()).await
}

/// The fields with what a client adds: it asks for a challenge and signs it.
async fn signed(house: &TestGateway, wallet: &Wallet, fields: Value) -> Value {
    let answer = challenge(house, &fields).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    let challenge = answer.json();
    let sig = wallet.sign_text(challenge["message"].as_str().expect("message"));
    with(fields, json!({ "nonce": challenge["nonce"], "expires": challenge["expires"], "sig": sig }))
}

/// Signs up; answers status and receipt.
async fn join(house: &TestGateway, wallet: &Wallet, fields: Value) -> (u16, Value) {
    let answer = post(house, &signed(house, wallet, fields).await).await;
    (answer.status, answer.json())
}

async fn count(house: &TestGateway) -> Value {
    let answer = house.get(&format!("{WAITLIST}/count")).await;
    assert_eq!(answer.status, 200, "{}", answer.text());
    answer.json()
}

/// Nothing went wrong inside.
async fn finish(house: TestGateway) {
    assert_eq!(house.faults().await, Vec::<String>::new());
    house.stop().await;
}
