//! `plugin-test-kit`, with which authors outside of this repository test their plugins: it starts the program with their library.

use plugin_test_kit::{Builder, TestGateway, Wallet, json};
use std::time::{Duration, Instant};

const GUESTS: &str = "/api/hello/guests";

async fn builders() -> Vec<Builder> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let program = |builder: Builder| builder.program(env!("CARGO_BIN_EXE_gateway-under-test"));
    builders.into_iter().map(program).collect()
}

#[tokio::test]
async fn a_plugin_is_tested_through_the_program_on_each_database() {
    let expected = if std::env::var_os("GATEWAY_TEST_POSTGRES").is_some() { 2 } else { 1 };
    let mut dialects = Vec::new();
    for builder in builders().await {
        let gateway = builder.plugin("hello").config("hello", json!({ "greeting": "Good \"morning\"" })).start().await;
        let greeting = gateway.get("/api/hello/world").await;
        assert_eq!((greeting.status, greeting.json()), (200, json!({ "greeting": "Good \"morning\", world!" })));

        // Two writes of one wallet need a second between them; those of two wallets do not.
        let (started, wallet) = (Instant::now(), Wallet::new(1));
        for (wallet, message) in [(&wallet, "one"), (&Wallet::new(2), "two"), (&wallet, "three")] {
            let signed = gateway.post_signed(GUESTS, wallet, "hello.sign", json!({ "message": message })).await;
            assert_eq!((signed.status, &signed.json()["message"]), (201, &json!(message)), "{}", signed.text());
            assert_eq!(signed.json()["address"], wallet.address());
        }
        assert!(started.elapsed() >= Duration::from_secs(1));
        let refused = gateway.send("POST", GUESTS, &[], r#"{"message":"unsigned"}"#).await;
        assert_eq!(refused.status, 401, "{}", refused.text());
        assert_eq!(gateway.get(GUESTS).await.json()["total"], 3);

        assert_eq!(gateway.faults().await, Vec::<String>::new());
        let reports = gateway.reports().await;
        assert_eq!((reports.len(), &reports[0]["name"], &reports[0]["serves"]), (1, &json!("hello"), &json!(true)));
        assert!(gateway.log().contains("hello"), "{}", gateway.log());
        dialects.push(gateway.dialect().to_owned());
        gateway.stop().await;
    }
    assert_eq!(dialects, &["sqlite", "postgres"][..expected]);
}

/// What a test says that cannot start its gateway.
async fn failure(builder: Builder) -> String {
    let Err(ended) = tokio::spawn(builder.start()).await.map(drop) else { panic!("it started") };
    let panic = ended.into_panic();
    panic.downcast_ref::<String>().cloned().unwrap_or_default()
}

#[tokio::test]
async fn a_test_whose_plugin_does_not_serve_fails_with_the_reason() {
    for builder in builders().await {
        let said = failure(builder.plugin("hello").config("hello", json!({ "greting": "Hi" }))).await;
        assert!(said.contains("the gateway refused a plugin: [\"hello: ") && said.contains("greting"), "{said}");
    }
}

#[tokio::test]
async fn a_test_whose_gateway_does_not_start_fails() {
    let builder = || TestGateway::builder().program(env!("CARGO_BIN_EXE_gateway-under-test"));
    let said = failure(builder().set("http.lissen", json!("127.0.0.1:0"))).await;
    assert!(said.contains("the gateway ended before it served: exit status: 3"), "{said}");
    let said = failure(builder().plugin("nobody")).await;
    assert!(said.contains("there is no libnobody.so in") && said.contains("crate-type"), "{said}");
}

#[tokio::test]
async fn the_gateway_ends_with_its_test() {
    for builder in builders().await {
        let gateway = builder.start().await;
        let address = gateway.base_url().trim_start_matches("http://").to_owned();
        assert!(std::net::TcpStream::connect(&address).is_ok());
        drop(gateway);
        assert!(std::net::TcpStream::connect(&address).is_err());
    }
}

#[tokio::test]
#[ignore = "fails on purpose: the next test starts it"]
async fn fails_while_its_gateway_runs() {
    let _gateway = TestGateway::builder().program(env!("CARGO_BIN_EXE_gateway-under-test")).start().await;
    panic!("on purpose");
}

#[test]
fn a_test_that_fails_prints_what_the_gateway_logged() {
    let mut test = std::process::Command::new(std::env::current_exe().unwrap());
    test.args(["--exact", "e2e::test_kit::fails_while_its_gateway_runs", "--ignored", "--nocapture"]);
    let output = test.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && printed.contains("on purpose"), "{printed}");
    let log = printed.split("--- what the gateway logged:\n").nth(1).unwrap_or_default();
    assert!(log.contains("\"level\":\"WARN\",\"message\":\"no key is set for this role"), "{printed}");
}
