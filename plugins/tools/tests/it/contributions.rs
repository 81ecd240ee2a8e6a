//! Contributions of the registry.

use super::{NOWHERE, compute, finish, gateways, publish, read, tool, with};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::time::Duration;

const MANIFEST: &str = "/.well-known/service.json";

#[tokio::test]
async fn the_manifest_counts_tools_and_names_endpoints() {
    for gateway in gateways().await {
        publish(&gateway, &Wallet::new(1), tool("one")).await;
        publish(&gateway, &Wallet::new(2), compute("two")).await;
        gateway.clock().advance(Duration::from_secs(60)).await;
        let manifest = read(&gateway, MANIFEST).await;
        let stats = &manifest["live"]["stats"];
        assert_eq!((stats["tools"].as_i64(), stats["toolsOnline"].as_i64()), (Some(2), Some(0)), "{stats}");
        for (name, path) in [("tools", "/api/tools"), ("compute", "/api/compute")] {
            let endpoint = manifest["endpoints"][name].as_str().unwrap_or_default();
            assert!(endpoint.ends_with(path), "{name}: {endpoint}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_status_shows_whether_tools_are_probed_in_time() {
    for gateway in gateways().await {
        publish(&gateway, &Wallet::new(1), tool("one")).await;
        let status = || async {
            gateway.clock().advance(Duration::from_secs(10)).await;
            read(&gateway, "/api/status").await["services"]["tools"].clone()
        };
        TestGateway::eventually(Duration::from_secs(60), "the tool is asked", || async {
            status().await["waiting"] == 0
        })
        .await;
        let status = status().await;
        assert_eq!(
            (&status["ok"], &status["tools"], &status["online"]),
            (&true.into(), &1.into(), &0.into()),
            "{status}"
        );
        assert_eq!(status["intervalS"], 600);
        finish(gateway).await;
    }
}

async fn contribution(gateway: &TestGateway, point: &str, input: Value) -> Value {
    gateway.collect(point, &input).await["tools"].clone()
}

#[tokio::test]
async fn compute_for_rent_is_work() {
    for gateway in gateways().await {
        let (alice, now) = (Wallet::new(1), gateway.now_s());
        let other = publish(&gateway, &Wallet::new(2), tool("other")).await;
        let listing = publish(&gateway, &alice, compute("gpu")).await;
        let id = &listing["id"];
        let item = json!({
            "kind": "endpoint", "refId": id, "variant": "compute", "title": "gpu",
            "summary": "NVIDIA H100 with 80 GB for 1000 wei a second",
            "tags": ["compute", "x402", "nvidia h100", "eu-west"], "reward": "1000", "postedAt": now, "deadline": null,
            "agentId": null, "claims": 0, "requester": alice.address(), "page": format!("/compute/{id}"),
            "api": format!("/api/compute/{id}"),
            "action": format!("POST {NOWHERE} {{input}} with an x402 payment of 1000 wei for each second")
        });
        assert_eq!(contribution(&gateway, "work", json!({})).await, json!([item]));
        assert_eq!(read(&gateway, item["api"].as_str().unwrap()).await["id"], *id);
        let made_by = |kind: &str, tool: &Value| json!({ "made_by": { "type": kind, "data": { "toolId": tool } } });
        for (input, items) in [
            (made_by("tool.publish", id), json!([item])),
            (made_by("tool.publish", &other["id"]), json!([])),
            (made_by("thread.create", id), json!([])),
        ] {
            assert_eq!(contribution(&gateway, "work", input.clone()).await, items, "{input}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn payloads_that_a_tool_names_are_kept() {
    for gateway in gateways().await {
        let [one, two, other] = ["aa", "bb", "cc"].map(|byte| format!("0x{}", byte.repeat(32)));
        let members = json!({ "description": one, "schema": { "example": format!("fmx://payload/{two}") } });
        publish(&gateway, &Wallet::new(1), with(tool("one"), members)).await;
        let named = contribution(&gateway, "payload-references", json!({ "hashes": [one, two, other] })).await;
        assert_eq!(named, json!([one, two]));
        finish(gateway).await;
    }
}
