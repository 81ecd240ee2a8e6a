//! The registration file of an agent is read by the ecosystem's own reader, agent0-sdk, which refuses unknown services.

use super::{chain, setup};
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
    let card = file.json()["services"][0]["endpoint"].clone();
    assert!(card.as_str().is_some_and(|card| card.ends_with("/a/1/.well-known/agent.json")), "{card}");
    let expected = json!({
        "name": "Digger", "active": true, "x402": false, "trust": ["reputation", "validation"], "endpoints": [["A2A", card]],
    });
    assert_eq!(read(&file).await, expected);
    let own = file.json()["x-service"]["services"].clone();
    let has_gateway = own.as_array().unwrap().iter().any(|service| service["name"] == "gateway");
    assert!(has_gateway, "our own names are in our own member: {own}");
}
