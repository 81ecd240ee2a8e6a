//! The registration file of an agent is read by the ecosystem's own reader, agent0-sdk, which refuses unknown services.

#[path = "../../../plugins/agents/tests/it/records.rs"]
mod records;

use super::{CONTRACTS, chain, setup};
use crate::e2e::{Site, clients, in_time, python};
use plugin_testing::{TestGateway, TestResponse, Value, json};
use std::process::Stdio;
use tokio::io::AsyncWriteExt as _;

const FILE: &str = "/api/agents/1/erc8004.json";

/// What the reader makes of a file.
async fn read(file: &TestResponse) -> Value {
    let mut reader = tokio::process::Command::from(python("registration.py"));
    reader
        .current_dir(clients())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut reader = reader.spawn().unwrap();
    reader.stdin.take().unwrap().write_all(&file.body).await.unwrap();
    let ended = in_time(reader.wait_with_output()).await.unwrap();
    assert!(ended.status.success(), "{}\n{}", String::from_utf8_lossy(&ended.stderr), file.text());
    serde_json::from_slice(&ended.stdout).unwrap()
}

#[tokio::test]
async fn the_reader_of_the_ecosystem_understands_it() {
    let chain = chain().await;
    let gateway = setup(&chain).start().await.unwrap();
    let site = Site::of(&gateway);
    let is_indexed = async || site.get(FILE).await.status == 200;
    TestGateway::eventually(super::LIMIT, "the agent is indexed", is_indexed).await;
    let file = site.get(FILE).await;
    let expected = json!({ "name": "Digger", "active": true, "x402": false, "trust": ["reputation", "validation"], "endpoints": [] });
    assert_eq!(read(&file).await, expected);
    assert_eq!(file.json()["x-service"]["services"][0]["name"], "gateway", "our own names are in our own member");
}

/// No plugin of the release serves cards, so a plugin of the test does.
#[tokio::test]
async fn it_understands_where_the_card_of_an_agent_is() {
    let chain = chain().await;
    let builder = TestGateway::builder().plugin(agents::plugin_module()).plugin(records::plugin_module());
    let gateway = builder.chain(&chain, &CONTRACTS).start().await;
    gateway.indexed(&chain).await;
    let file = gateway.get(FILE).await;
    let card = "http://127.0.0.1:8080/a/1/.well-known/agent.json";
    assert_eq!(read(&file).await["endpoints"], json!([["A2A", card]]), "{}", file.text());
    gateway.stop().await;
}
