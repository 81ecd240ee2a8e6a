//! crates.io's `x402-types` reads what the gateway says of payments, and writes payments that it takes.

use super::{FMX, Market, PRICE, Payment, Till, agent, wei};
use crate::e2e::{answer, ask, clients};
use plugin_testing::{Value, json};
use reqwest::Method;
use std::process::Command;
use wiremock::ResponseTemplate;

/// It is built the first time, with packages that Cargo fetches.
fn program() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.args(["run", "--quiet", "--locked", "--manifest-path"]).arg(clients().join("x402_types/Cargo.toml"));
    cargo.env("CARGO_TARGET_DIR", concat!(env!("CARGO_TARGET_TMPDIR"), "/x402_types"));
    // What the workspace's own build says.
    for name in
        ["RUSTFLAGS", "RUSTC_WORKSPACE_WRAPPER", "CARGO_RESOLVER_FEATURE_UNIFICATION", "CARGO_ENCODED_RUSTFLAGS"]
    {
        cargo.env_remove(name);
    }
    cargo
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "builds hundreds of packages: cargo xtask prove"]
async fn x402_types_reads_the_gateway_and_pays() {
    let market = Market::open(&[agent("echo", ResponseTemplate::new(200).set_body_string("done"))]).await;
    for till in market.tills(|setup| setup.set("plugins.x402.batch_s", 1)).await {
        let payer = till.payer(&market, 0).await;
        let paths = ["/a/echo/invoke", "/a/echo/invoke?x402Version=2"];
        for (path, written) in paths.into_iter().zip(["payment", "payment2"]) {
            let (payment, payments) = payments(&market, &till, payer).await;
            let header = payments[written].to_string();
            let request = till.request(Method::POST, path, None).header("x-payment", header).body("{}");
            let bought = answer(request).await;
            assert_eq!((bought.status, bought.text().as_str()), (200, "done"), "{path}");
            till.becomes(&payment, "settled").await;
        }
        let (payment, payments) = payments(&market, &till, payer).await;
        let facilitator = async |operation: &str| {
            let request = till.request(Method::POST, &format!("/api/x402/{operation}"), None);
            answer(request.body(payments["request"].to_string())).await.json()
        };
        let (verified, settled) = (facilitator("verify").await, facilitator("settle").await);
        // The nonce is used.
        let refused = facilitator("verify").await;
        let supported = till.get("/api/x402/supported").await;
        let answers = json!({ "supported": supported, "verified": verified, "settled": settled, "refused": refused });
        let told = ask(program(), &json!({ "answers": answers })).await;
        assert_eq!((&told["payer"], &told["settled"]), (&json!(market.account(payer)), &json!(market.account(payer))));
        assert!(told["reason"].as_str().is_some_and(|why| why.contains("nonce is used")), "{told}");
        for version in [1, 2] {
            assert!(told["kinds"].as_array().unwrap().contains(&json!([version, told["network"]])), "{told}");
        }
        till.becomes(&payment, "settled").await;
        assert_eq!(market.balance(payer).await, wei(FMX - 3 * PRICE));
    }
}

/// A new voucher, and the payments with it that the types write for the gateway's terms.
async fn payments(market: &Market, till: &Till, payer: &str) -> (Payment, Value) {
    let payment = Payment::by(market, till, payer).await;
    let signed: Value = serde_json::from_str(&payment.header()).unwrap();
    let required = till.call("echo", None).await.json();
    let request = till.request(Method::POST, "/a/echo/invoke?x402Version=2", None).body("{}");
    let required2 = answer(request).await.json();
    let question = json!({ "required": required, "required2": required2, "signed": signed });
    (payment, ask(program(), &question).await)
}
