//! `POST /rpc`: envelopes, the allow-list, limits, logs and what is kept.

use crate::fixture::{call, calls_of, gateways, knows_head, post};
use plugin_testing::{Fault, ScriptedChain, ScriptedLog, Value, json};

async fn stop(gateway: plugin_testing::TestGateway) {
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}

#[tokio::test]
async fn the_chain_is_read() {
    let chain = ScriptedChain::start().await;
    chain.mine_empty(3);
    let token = ScriptedChain::address_of("token");
    chain.mock_call(token, "decimals() returns (uint8)", &[json!(18)]);
    for gateway in gateways(&[&chain], |builder| builder).await {
        // As wallets compare it (EIP-3085).
        assert_eq!(call(&gateway, "eth_chainId", json!([])).await["result"], "0xf79");
        assert_eq!(call(&gateway, "net_version", json!([])).await["result"], "3961");
        let version = call(&gateway, "web3_clientVersion", json!([])).await;
        assert!(version["result"].as_str().unwrap().starts_with("gateway/"), "{version}");
        assert_eq!(call(&gateway, "eth_blockNumber", json!([])).await["result"], "0x3");
        assert_eq!(call(&gateway, "eth_getBlockByNumber", json!(["0x2", false])).await["result"]["number"], "0x2");
        let called =
            call(&gateway, "eth_call", json!([{ "to": token, "data": "0x313ce567", "gas": "0xffffffffff" }])).await;
        assert!(called["result"].as_str().unwrap().ends_with("12"), "{called}");
        let sent = chain.calls().into_iter().rfind(|call| call.method == "eth_call").unwrap();
        assert_eq!((&sent.params[0]["gas"], &sent.params[1]), (&json!("0x1c9c380"), &json!("latest")));
        // A contract that reverts is the contract's answer, with its code.
        let reverted = call(&gateway, "eth_call", json!([{ "to": token, "data": "0x00000000" }, "latest"])).await;
        assert_eq!(reverted["error"]["code"], 3, "{reverted}");
        stop(gateway).await;
    }
}

#[tokio::test]
async fn only_methods_of_the_list_reach_a_server() {
    let chain = ScriptedChain::start().await;
    let config = json!({ "methods": ["eth_chainId", "eth_call"] });
    for gateway in gateways(&[&chain], |builder| builder.config("rpc", config.clone())).await {
        for method in [
            "eth_newFilter",
            "eth_subscribe",
            "debug_traceTransaction",
            "eth_accounts",
            "eth_gasPrice",
            "clique_status",
        ] {
            let before = calls_of(&chain, method);
            let answer = call(&gateway, method, json!([])).await;
            assert_eq!(answer["error"]["code"], -32601, "{answer}");
            assert!(method == "clique_status" || calls_of(&chain, method) == before, "{method} reached the server");
        }
        for overrides in [json!({ "0x00000000000000000000000000000000000000aa": { "balance": "0x1" } }), json!({})] {
            let answer =
                call(&gateway, "eth_call", json!([{ "to": ScriptedChain::address_of("a") }, "latest", overrides]))
                    .await;
            assert_eq!(answer["error"]["code"], -32602, "{answer}");
        }
        assert_eq!(calls_of(&chain, "eth_call"), 0);
        stop(gateway).await;
    }
}

#[tokio::test]
async fn every_body_has_an_answer_of_json_rpc() {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&[&chain], |builder| builder.config("rpc", json!({ "batch_max": 5 }))).await {
        for (body, code) in [
            ("", -32700),
            ("{", -32700),
            ("[]", -32600),
            ("[1", -32700),
            ("null", -32600),
            (r#"{"jsonrpc":"2.0","id":{"a":1},"method":"eth_chainId"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","method":"eth_gasPrice"}"#, -32600),
            ("[1,1,1,1,1,1]", -32600),
        ] {
            let answer = post(&gateway, body).await;
            assert_eq!(
                (answer.status, answer.json()["error"]["code"].as_i64()),
                (200, Some(code)),
                "{body}: {}",
                answer.text()
            );
            assert_eq!(answer.json()["id"], json!(null), "{body}");
        }
        for id in ["1", "\"a\"", "null", "-7.5", "12345678901234567890123456789012345678"] {
            let answer = post(&gateway, format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"eth_chainId"}}"#)).await;
            assert_eq!(answer.text(), format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"0xf79"}}"#));
        }
        let params =
            post(&gateway, r#"{"jsonrpc":"2.0","id":1,"method":"eth_getBalance","params":{"address":"0x1"}}"#).await;
        assert_eq!(params.json()["error"]["code"], -32602);
        let none = post(&gateway, r#"{"jsonrpc":"2.0","method":"eth_chainId"}"#).await;
        assert_eq!((none.status, none.body.len()), (204, 0));
        let none = post(&gateway, r#"[{"jsonrpc":"2.0","method":"eth_chainId"}]"#).await;
        assert_eq!((none.status, none.body.len()), (204, 0));
        let batch = r#"[1, {"jsonrpc":"2.0","id":1,"method":"eth_chainId"}, {"jsonrpc":"2.0","method":"eth_chainId"},
            {"jsonrpc":"2.0","id":2,"method":"eth_accounts"}, [[]]]"#;
        let answers = post(&gateway, batch).await;
        assert_eq!(answers.status, 200);
        let told: Vec<(Value, Value, Value)> = answers
            .json()
            .as_array()
            .unwrap()
            .iter()
            .map(|answer| (answer["id"].clone(), answer["result"].clone(), answer["error"]["code"].clone()))
            .collect();
        assert_eq!(
            told,
            [
                (json!(null), json!(null), json!(-32600)),
                (json!(1), json!("0xf79"), json!(null)),
                (json!(2), json!(null), json!(-32601)),
                (json!(null), json!(null), json!(-32600)),
            ]
        );
        let large = post(&gateway, format!("[{}]", "1,".repeat(600_000))).await;
        assert_eq!(large.status, 413, "{}", large.text());
        stop(gateway).await;
    }
}

#[tokio::test]
async fn a_page_of_another_origin_may_call() {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&[&chain], |builder| builder).await {
        let headers = [("origin", "https://wallet.example"), ("content-type", "application/json")];
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}"#;
        let answer = gateway.send("POST", "/rpc", &headers, body).await;
        assert_eq!((answer.status, answer.json()["result"].as_str()), (200, Some("0xf79")));
        stop(gateway).await;
    }
}

#[tokio::test]
async fn a_client_network_asks_so_much_in_a_minute() {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&[&chain], |builder| builder.config("rpc", json!({ "weight_per_minute": 1000 }))).await {
        gateway.set_client_ip("2001:db8::1".parse().unwrap());
        let gas = || json!({ "jsonrpc": "2.0", "id": 7, "method": "eth_estimateGas", "params": [{}] });
        let batch = Value::from(vec![gas(); 50]).to_string();
        assert_eq!(post(&gateway, batch.clone()).await.status, 200);
        // Another address of the same network.
        gateway.set_client_ip("2001:db8::2".parse().unwrap());
        let limited = post(&gateway, gas().to_string()).await;
        assert_eq!((limited.status, limited.header("retry-after")), (429, "2"), "{}", limited.text());
        assert_eq!((limited.json()["error"]["code"].clone(), limited.json()["id"].clone()), (json!(-32005), json!(7)));
        gateway.set_client_ip("2001:db8:0:1::1".parse().unwrap());
        assert_eq!(post(&gateway, gas().to_string()).await.status, 200);
        let never = post(&gateway, Value::from(vec![gas(); 51]).to_string()).await;
        assert_eq!((never.status, never.json()["error"]["code"].clone()), (200, json!(-32600)));
        gateway.set_client_ip("2001:db8::2".parse().unwrap());
        gateway.clock().advance(std::time::Duration::from_secs(2)).await;
        assert_eq!(post(&gateway, gas().to_string()).await.status, 200);
        stop(gateway).await;
    }
}

#[tokio::test]
async fn logs_of_a_long_range_are_asked_for_in_parts() {
    let chain = ScriptedChain::start().await;
    for number in 0..40 {
        chain.mine(vec![ScriptedLog::new("token", "Said(uint256 number)", &[json!(number)])]);
    }
    let config = json!({ "log_blocks_max": 40, "log_chunk_blocks": 10 });
    for gateway in gateways(&[&chain], |builder| builder.config("rpc", config.clone())).await {
        let filter = |from: &str, to: &str| json!([{ "fromBlock": from, "toBlock": to, "address": [ScriptedChain::address_of("token")] }]);
        let numbers = |answer: &Value| -> Vec<String> {
            let logs = answer["result"].as_array().unwrap_or_else(|| panic!("{answer}"));
            logs.iter().map(|log| log["blockNumber"].as_str().unwrap().to_owned()).collect()
        };
        let all: Vec<String> = (1..=40).map(|number| format!("{number:#x}")).collect();
        let before = calls_of(&chain, "eth_getLogs");
        assert_eq!(numbers(&call(&gateway, "eth_getLogs", filter("0x1", "latest")).await), all);
        assert_eq!(calls_of(&chain, "eth_getLogs") - before, 4);
        // A server that takes fewer blocks at a time is asked for fewer.
        chain.fail_always(Some(Fault::RangeMax(5)));
        assert_eq!(numbers(&call(&gateway, "eth_getLogs", filter("0x1", "0x28")).await), all);
        chain.fail_always(None);
        let long = call(&gateway, "eth_getLogs", filter("earliest", "latest")).await;
        assert_eq!(long["error"]["code"], -32602, "{long}");
        stop(gateway).await;
    }
}

#[tokio::test]
async fn what_cannot_change_is_kept_and_what_can_is_not() {
    let chain = ScriptedChain::start().await;
    chain.mine_empty(10);
    for gateway in gateways(&[&chain], |builder| builder).await {
        let asked = async |method: &'static str, params: Value| {
            // Only what the public asks: the gateway's own polls are in batches or ask for the newest.
            let public = |calls: Vec<plugin_testing::ScriptedCall>| {
                calls.iter().filter(|call| call.method == method && call.params == params).count()
            };
            let before = public(chain.calls());
            let answer = call(&gateway, method, params.clone()).await;
            (answer["result"].clone(), public(chain.calls()) - before)
        };
        knows_head(&gateway, &chain).await;
        let head = chain.head();
        let (final_block, last) = (format!("{:#x}", head - 4), format!("{head:#x}"));
        // By a number that is final.
        let (first, count) = asked("eth_getBlockByNumber", json!([final_block, true])).await;
        assert_eq!(count, 1);
        assert_eq!(asked("eth_getBlockByNumber", json!([final_block, true])).await, (first, 0));
        // By hash.
        let (newest, _) = asked("eth_getBlockByNumber", json!([last, true])).await;
        let by_hash = json!([newest["hash"], true]);
        assert_eq!(asked("eth_getBlockByHash", by_hash.clone()).await, (newest.clone(), 1));
        assert_eq!(asked("eth_getBlockByHash", by_hash.clone()).await, (newest.clone(), 0));
        // A block that is not final is another one after a reorganisation.
        assert_eq!(asked("eth_getBlockByNumber", json!([last, true])).await, (newest.clone(), 1));
        chain.reorg(2);
        chain.mine_empty(2);
        let (other, count) = asked("eth_getBlockByNumber", json!([last, true])).await;
        assert_eq!(count, 1);
        assert_ne!(other["hash"], newest["hash"]);
        // What is not there may come.
        let missing = json!([format!("{:#x}", head + 1), true]);
        assert_eq!(asked("eth_getBlockByNumber", missing.clone()).await, (json!(null), 1));
        chain.mine_empty(1);
        assert_eq!(asked("eth_getBlockByNumber", missing).await.1, 1);
        assert_eq!(asked("eth_getBalance", json!([ScriptedChain::address_of("a"), "0x1"])).await.1, 1);
        assert_eq!(asked("eth_getBalance", json!([ScriptedChain::address_of("a"), "0x1"])).await.1, 1);
        stop(gateway).await;
    }
}

#[tokio::test]
async fn an_answer_has_so_many_bytes() {
    let chain = ScriptedChain::start().await;
    chain.mine((0..200).map(|number| ScriptedLog::new("token", "Said(uint256 number)", &[json!(number)])).collect());
    for gateway in gateways(&[&chain], |builder| builder.config("rpc", json!({ "answer_bytes_max": 65_536 }))).await {
        let filter = json!([{ "fromBlock": "0x1", "address": [ScriptedChain::address_of("token")] }]);
        let answer = call(&gateway, "eth_getLogs", filter).await;
        assert_eq!(answer["error"]["code"], -32005, "{answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("65536 bytes"), "{answer}");
        stop(gateway).await;
    }
}
