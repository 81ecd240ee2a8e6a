//! `GET /api/memory/anchors`

use super::{
    ZERO, finish,
    fixture::{Site, anchored, keccak, other, owner, sites},
    read, refusal,
};
use plugin_testing::{ScriptedChain, Value, json};

const ANCHORS: &str = "/api/memory/anchors";

async fn roots(site: &Site, query: &str) -> Vec<Value> {
    let list = read(&site.gateway, &format!("{ANCHORS}?{query}")).await;
    list["items"].as_array().unwrap().iter().map(|batch| batch["root"].clone()).collect()
}

#[tokio::test]
async fn without_batches_it_is_empty_and_says_how_to_verify() {
    for site in sites().await {
        let mut list = read(&site.gateway, ANCHORS).await;
        let verify = list["verify"].take();
        assert_eq!(
            verify.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["leaf", "node", "odd", "count", "contract"]
        );
        let contract = ScriptedChain::address_of("memoryAnchor");
        assert_eq!(list, json!({ "items": [], "total": 0, "chainId": 3961, "contract": contract, "verify": null }));
        site.close().await;
    }
}

#[tokio::test]
async fn batches_of_all_agents_are_listed_with_what_the_chain_says() {
    for site in sites().await {
        site.write(&owner(), 2).await;
        site.write(&other(), 1).await;
        let first = site.anchor(&owner(), json!({ "agentId": 1, "uri": "own" })).await.json();
        let second = site.anchor(&other(), json!({ "agentId": 3 })).await.json();
        let foreign = json!(keccak(b"foreign"));
        site.mine(vec![anchored(1, 1, &first["root"], &json!(ZERO), 2), anchored(2, 1, &foreign, &json!(ZERO), 8)])
            .await;

        let list = read(&site.gateway, ANCHORS).await;
        assert_eq!(list["total"], 3);
        let items = list["items"].as_array().unwrap();
        let of_root = |root: &Value| items.iter().find(|item| item["root"] == *root).unwrap();
        let anchored = of_root(&first["root"]);
        let (tx, block) = (&anchored["tx"], anchored["block"].as_i64().unwrap());
        let expected = json!({
            "batchId": first["batchId"], "agentId": 1, "address": owner().address(), "root": first["root"],
            "prevRoot": ZERO, "uri": "ipfs://x", "status": "anchored", "count": 2, "fromSeq": 1, "toSeq": 2, "onchainSeq": 1,
            "totalRecords": 2, "block": block, "anchoredBy": owner().address(), "tx": tx, "createdAt": first["createdAt"],
            "submittedAt": null, "anchoredAt": 1_767_225_600 + block * 7,
        });
        assert_eq!(*anchored, expected);
        let unknown = of_root(&foreign);
        assert_eq!((&unknown["address"], &unknown["fromSeq"], &unknown["toSeq"]), (&Value::Null, &json!(0), &json!(0)));
        assert_eq!((&unknown["count"], &unknown["status"]), (&json!(8), &json!("anchored")));
        assert!(unknown["batchId"].as_i64().unwrap() > 1 << 40, "{unknown}");
        assert!(!list.to_string().contains("keyNonce"), "{list}");

        for (query, expected) in [
            ("agentId=1", vec![&first["root"]]),
            ("agentId=2", vec![&foreign]),
            ("agentId=99", vec![]),
            (&format!("address={}", other().address().to_lowercase()), vec![&second["root"]]),
            ("status=built", vec![&second["root"]]),
            ("status=submitted", vec![]),
            ("agentId=1&status=anchored&address=", vec![&first["root"]]),
        ] {
            assert_eq!(roots(&site, query).await.iter().collect::<Vec<_>>(), expected, "{query}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn pages_have_each_batch_once() {
    for site in sites().await {
        let logs =
            (1..=5u64).map(|seq| anchored(1, seq, &json!(keccak(&seq.to_be_bytes())), &json!(ZERO), 1)).collect();
        site.mine(logs).await;
        let mut seen = Vec::new();
        let mut path = format!("{ANCHORS}?limit=2");
        loop {
            let response = site.gateway.get(&path).await;
            assert_eq!(response.json()["total"], 5);
            seen.extend(response.json()["items"].as_array().unwrap().iter().map(|item| item["onchainSeq"].clone()));
            let Some(cursor) = response.next_cursor() else { break };
            path = format!("{ANCHORS}?limit=2&cursor={cursor}");
        }
        assert_eq!(seen, [5, 4, 3, 2, 1].map(|seq| json!(seq)));
        assert_eq!(roots(&site, "limit=2&offset=4").await.len(), 1);
        site.close().await;
    }
}

#[tokio::test]
async fn wrong_filters_are_refused() {
    for gateway in super::gateways().await {
        for query in ["agentId=x", "agentId=0", "agentId=-1", "address=0x1", "status=Built", "status=done"] {
            let refused = gateway.get(&format!("{ANCHORS}?{query}")).await;
            assert_eq!(refusal(&refused), (400, "bad_request".to_owned()), "{query}: {}", refused.text());
        }
        finish(gateway).await;
    }
}
