//! Servers that are dead, slow or wrong. What the public asks is no part of their health, and delays nothing.

use crate::fixture::{PATIENCE, call, calls_of, gateways, knows_head, post};
use futures_util::future::join_all;
use plugin_testing::{Fault, ScriptedChain, TestGateway, Value, json};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

async fn rpc_status(gateway: &TestGateway) -> Value {
    gateway.get("/api/status").await.json()["services"]["rpc"].clone()
}

#[tokio::test]
async fn the_next_server_answers_for_one_that_fails_the_public() {
    let first = ScriptedChain::start().await;
    first.mine_empty(3);
    let second = first.another_server().await;
    for gateway in gateways(&[&first, &second], |builder| builder).await {
        for fault in [Fault::SilentOn("eth_gasPrice"), Fault::Status(502), Fault::Garbage, Fault::DropsAnswer] {
            // Polls are not failed: they are batches, or come before.
            let started = Instant::now();
            first.fail_next(usize::from(!matches!(fault, Fault::SilentOn(_))), fault);
            first.fail_always(Some(fault).filter(|fault| matches!(fault, Fault::SilentOn(_))));
            let answer = call(&gateway, "eth_gasPrice", json!([])).await;
            first.fail_always(None);
            assert!(answer["result"].is_string(), "{fault:?}: {answer}");
            assert!(started.elapsed() < Duration::from_secs(9), "{fault:?}: {:?}", started.elapsed());
        }
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn errors_of_the_public_put_no_server_aside() {
    let first = ScriptedChain::start().await;
    first.mine_empty(3);
    let second = first.another_server().await;
    for gateway in gateways(&[&first, &second], |builder| builder).await {
        let preferred = rpc_status(&gateway).await["url"].clone();
        for server in [&first, &second] {
            server.fail_always(Some(Fault::SilentOn("eth_getStorageAt")));
        }
        let storage = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getStorageAt", "params": [ScriptedChain::address_of("a"), "0x0"] });
        let failing = post(&gateway, Value::from(vec![storage; 4]).to_string()).await;
        assert!(
            failing.json().as_array().unwrap().iter().all(|answer| answer["error"]["code"] == -32000),
            "{}",
            failing.text()
        );
        let status = rpc_status(&gateway).await;
        assert_eq!(
            (&status["ok"], &status["url"], &status["detail"]),
            (&json!(true), &preferred, &json!(null)),
            "{status}"
        );
        for server in [&first, &second] {
            server.fail_always(None);
        }
        assert!(call(&gateway, "eth_gasPrice", json!([])).await["result"].is_string());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn what_hangs_for_the_public_delays_nothing_of_the_gateways_own() {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&[&chain], |builder| builder.config("rpc", json!({ "requests_per_client_max": 100 }))).await
    {
        chain.fail_always(Some(Fault::SilentOn("eth_getStorageAt")));
        let storage = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_getStorageAt", "params": [ScriptedChain::address_of("a"), "0x0"] });
        let before = calls_of(&chain, "eth_getStorageAt");
        let hanging = join_all((0..40).map(|_| post(&gateway, storage.to_string())));
        let meanwhile = async {
            // All places of raw calls are taken.
            let taken = || async { calls_of(&chain, "eth_getStorageAt") - before >= 32 };
            TestGateway::eventually(PATIENCE, "the public waits", taken).await;
            let started = Instant::now();
            for _ in 0..5 {
                chain.mine_empty(1);
                knows_head(&gateway, &chain).await;
            }
            assert!(started.elapsed() < Duration::from_secs(5), "{:?}", started.elapsed());
            let main = gateway.gateway().chains.main().unwrap();
            assert!(main.account(alloy_primitives::Address::ZERO).await.is_ok(), "the journal's requests are answered");
        };
        let (answers, ()) = futures_util::future::join(hanging, meanwhile).await;
        chain.fail_always(None);
        let statuses: BTreeSet<u16> = answers.iter().map(|answer| answer.status).collect();
        assert_eq!(statuses, [200, 503].into(), "they ran out of time, or found no place");
        let refused = answers.iter().find(|answer| answer.status == 503).unwrap();
        assert_eq!((refused.header("retry-after"), &refused.json()["error"]["code"]), ("1", &json!(-32005)));
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn the_public_has_connections_of_its_own() {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&[&chain], |builder| builder).await {
        for _ in 0..5 {
            assert!(call(&gateway, "eth_gasPrice", json!([])).await["result"].is_string());
            chain.mine_empty(1);
            knows_head(&gateway, &chain).await;
        }
        let connections = |is_public: bool| -> BTreeSet<u64> {
            let calls = chain.calls();
            calls
                .iter()
                .filter(|call| (call.method == "eth_gasPrice") == is_public)
                .map(|call| call.connection)
                .collect()
        };
        assert!(!connections(true).is_empty() && connections(true).is_disjoint(&connections(false)));
        gateway.stop().await;
    }
}

#[tokio::test]
async fn nobody_learns_where_the_servers_are() {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&[&chain], |builder| builder).await {
        let host = chain.url().replace("http://", "");
        for fault in [Fault::NamesItself, Fault::Status(500), Fault::Garbage] {
            chain.fail_always(Some(fault));
            let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_gasPrice", "params": [] }).to_string();
            let answer = post(&gateway, body).await;
            chain.fail_always(None);
            let text = answer.text();
            assert!(answer.json()["error"]["code"].is_i64(), "{text}");
            assert!(!text.contains(&host) && !text.contains("127.0.0.1") && !text.contains("0123456789"), "{text}");
        }
        gateway.stop().await;
    }
}

#[tokio::test]
async fn without_a_server_the_client_is_told_to_wait() {
    let chain = ScriptedChain::start().await;
    for gateway in gateways(&[&chain], |builder| builder).await {
        chain.fail_always(Some(Fault::Status(503)));
        let answer = post(&gateway, r#"{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"}"#).await;
        assert_eq!((answer.status, answer.header("retry-after")), (503, "5"), "{}", answer.text());
        assert_eq!(answer.json()["error"]["code"], -32603);
        // In a batch each call has its own answer.
        let batch =
            r#"[{"jsonrpc":"2.0","id":1,"method":"eth_gasPrice"},{"jsonrpc":"2.0","id":2,"method":"eth_chainId"}]"#;
        let answers = post(&gateway, batch).await;
        assert_eq!(
            (answers.status, &answers.json()[0]["error"]["code"], &answers.json()[1]["result"]),
            (200, &json!(-32603), &json!("0xf79"))
        );
        chain.fail_always(None);
        gateway.stop().await;
    }
}
