//! Quorum requests, which decide about money, succeed only when two servers respond the same.

use super::{LIMIT, builders, close, indexed, play, settings};
use gateway_config::ChainConfig;
use gateway_tests::{devnet::Devnet, mirror};
use plugin_testing::{TestGateway, Value, json};

const REQUESTED: &str = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, \
     uint256 amount, bytes32 inputHash, string inputURI)";

/// A gateway whose chain has these servers, and the quorum requests to send.
struct Fixture {
    gateway: TestGateway,
    input: Value,
}

impl Fixture {
    async fn start(devnet: &Devnet, servers: &[&str]) -> Self {
        let rpc = servers.iter().map(|url| (*url).into()).collect();
        let settings = ChainConfig { rpc, reorg_depth: 3, ..settings(devnet) };
        let gateway = builders(&settings).await.remove(0).start().await;
        indexed(&gateway, devnet).await;
        let (head, _) = super::newest(devnet).await;
        let block = devnet.call("eth_getBlockByNumber", json!([format!("{head:#x}"), false])).await.unwrap();
        let input = json!({
            "account": devnet.account("user2").unwrap(),
            "contract": devnet.facts.contracts["escrow"],
            "event": REQUESTED,
            "tx": block["transactions"][0],
        });
        Self { gateway, input }
    }

    async fn collect(&self) -> Value {
        let input = self.input.to_string();
        let points = &self.gateway.gateway().extension_points;
        points.collect(mirror::QUORUM.name(), input).await.remove(0).decode(mirror::QUORUM).unwrap()
    }
}

fn error(answer: &Value) -> &str {
    answer["error"].as_str().unwrap_or_else(|| panic!("it is answered: {answer}"))
}

#[tokio::test]
async fn two_servers_that_agree_are_an_answer() {
    let devnet = Devnet::start().await.unwrap();
    play(&devnet, 1).await;
    let fixture = Fixture::start(&devnet, &[&devnet.facts.rpc_url, &devnet.facts.anvil_url]).await;
    let (head, _) = super::newest(&devnet).await;
    let answer = fixture.collect().await;
    assert_eq!((&answer["head"]["number"], &answer["finalized"]["number"]), (&json!(head), &json!(head - 3)));
    let balance = devnet.call("eth_getBalance", json!([fixture.input["account"], "latest"])).await.unwrap();
    let wei = u128::from_str_radix(balance.as_str().unwrap().trim_start_matches("0x"), 16).unwrap();
    assert_eq!(answer["balance"], wei.to_string());
    assert_eq!((&answer["receipt"]["ok"], &answer["receipt"]["block"]), (&json!(true), &json!(head)));
    assert_eq!(answer["logs"], 1);
    let sent = &answer["transactions"];
    assert_eq!((&sent["number"], &sent["transactions"][0]["hash"]), (&json!(head), &fixture.input["tx"]), "{sent}");
    assert_eq!(sent["transactions"][0]["from"], answer["receipt"]["from"], "{sent}");
    // One server lacks the newest blocks: the response is about a block that both have.
    devnet.control(json!({ "lagBlocks": 2 })).await.unwrap();
    let behind = || async { fixture.collect().await["head"]["number"] == head - 2 };
    TestGateway::eventually(LIMIT, "both have that block", behind).await;
    close(fixture.gateway).await;
}

#[tokio::test]
async fn servers_that_differ_are_no_answer() {
    let devnet = Devnet::start().await.unwrap();
    play(&devnet, 1).await;
    let fixture = Fixture::start(&devnet, &[&devnet.facts.rpc_url, &devnet.facts.anvil_url]).await;
    let lies = [
        ("lieBalanceWei", json!("1"), "balance"),
        ("lieReceipts", json!(true), "receipt"),
        ("lieLogs", json!("alter"), "logs"),
    ];
    let code = fixture.collect().await["code"].clone();
    for (rule, lie, answer) in lies {
        devnet.control(json!({ rule: lie })).await.unwrap();
        let answers = fixture.collect().await;
        let found = error(&answers[answer]);
        assert!(found.contains("must agree on this, and http://") && found.contains("answer differently"), "{found}");
        assert_eq!(answers["code"], code, "what they agree on is answered");
        devnet.honest().await.unwrap();
    }
    close(fixture.gateway).await;
}

#[tokio::test]
async fn one_server_alone_is_no_answer() {
    let devnet = Devnet::start().await.unwrap();
    play(&devnet, 1).await;
    let alone = Fixture::start(&devnet, &[&devnet.facts.rpc_url]).await;
    let found = alone.collect().await;
    assert!(error(&found["balance"]).contains("only one is configured: add another to chains.main.rpc"), "{found}");
    close(alone.gateway).await;
    let two = Fixture::start(&devnet, &[&devnet.facts.anvil_url, &devnet.facts.rpc_url]).await;
    devnet.control(json!({ "failures": [{ "mode": "status" }] })).await.unwrap();
    let found = two.collect().await;
    assert!(error(&found["balance"]).contains("fewer than two answer"), "{found}");
    devnet.honest().await.unwrap();
    let answers = || async { two.collect().await["balance"].is_string() };
    TestGateway::eventually(LIMIT, "it heals", answers).await;
    close(two.gateway).await;
}
