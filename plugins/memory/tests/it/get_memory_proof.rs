//! `GET /api/memory/proof/{agentId}/{seq}`

use super::{
    ZERO,
    fixture::{Site, anchored, header, keccak, other, owner, sites, sites_with, transferred, verifies},
    read, refusal, store,
};
use plugin_testing::{ScriptedChain, Value, json};

fn path_of(agent: u64, seq: usize) -> String {
    format!("/api/memory/proof/{agent}/{seq}")
}

/// That the proof holds, by the bytes that it has and nothing else.
fn assert_proves(proof: &Value, root: &Value, text: &str, index: usize, count: usize) {
    assert_eq!((&proof["recordJson"], &proof["selfCheck"]), (&json!(text), &json!(true)), "{proof}");
    assert_eq!((&proof["index"], &proof["count"]), (&json!(index), &json!(count)));
    let siblings = proof["proof"].as_array().unwrap();
    assert!(verifies(root, text.as_bytes(), siblings, index, count), "{proof}");
    assert!(!verifies(root, b"another record", siblings, index, count));
    assert_eq!(proof["onchain"]["args"], json!([root, proof["recordBytes"], siblings, index, count]));
}

#[tokio::test]
async fn a_record_in_no_batch_says_so() {
    for site in sites().await {
        let record = store(&site.gateway, &owner(), "a", json!("one")).await["record"].clone();
        let begun = site.gateway.now_s();
        let mut proof = read(&site.gateway, &path_of(1, 1)).await;
        for name in ["verify", "reason"] {
            assert!(!proof.as_object_mut().unwrap().remove(name).unwrap().is_null(), "{name}");
        }
        let text = header(owner().address(), "put", 3, &record);
        assert_eq!(proof["record"].take().to_string(), text);
        let log = json!({
            "address": owner().address(), "seq": 1, "headHash": record["recordHash"], "lastWriteAt": begun, "unanchored": 1,
            "anchoredThroughSeq": 0, "lastRoot": null, "lastAnchorTx": null, "lastAnchorSeq": null, "lastAnchoredAt": null,
        });
        let expected = json!({
            "agentId": 1, "address": owner().address(), "seq": 1, "anchored": false, "record": null,
            "recordHash": record["recordHash"], "leaf": proof["leaf"], "log": log,
        });
        assert_eq!(proof, expected);
        site.close().await;
    }
}

#[tokio::test]
async fn an_anchored_record_has_its_proof_its_anchor_and_the_log() {
    for site in sites().await {
        let wallet = owner();
        let first = store(&site.gateway, &wallet, "a", json!("one")).await["record"].clone();
        let second = store(&site.gateway, &wallet, "b", json!("three")).await["record"].clone();
        let batch = site.anchor(&wallet, json!({ "agentId": 1 })).await.json();
        let unanchored = read(&site.gateway, &path_of(1, 2)).await;
        assert_eq!((&unanchored["anchored"], &unanchored["status"]), (&json!(false), &json!("built")));
        let text = header(wallet.address(), "put", 5, &second);
        assert_proves(&unanchored, &batch["root"], &text, 1, 2);
        assert_eq!(unanchored["onchain"]["head"], Value::Null);

        site.mine(vec![anchored(1, 1, &batch["root"], &json!(ZERO), 2)]).await;
        let last = store(&site.gateway, &wallet, "c", json!("later")).await["record"].clone();
        let proof = read(&site.gateway, &path_of(1, 2)).await;
        assert_proves(&proof, &batch["root"], &text, 1, 2);
        assert_eq!((&proof["v"], &proof["chainId"], &proof["anchored"]), (&json!(1), &json!(3961), &json!(true)));
        assert_eq!((&proof["batch"]["root"], &proof["batch"]["onchainSeq"]), (&batch["root"], &json!(1)));
        let onchain = &proof["onchain"];
        assert_eq!(onchain["contract"], json!(ScriptedChain::address_of("memoryAnchor")));
        assert_eq!((&onchain["tx"], &onchain["anchorSeq"]), (&proof["batch"]["tx"], &json!(1)));
        let head =
            json!({ "root": batch["root"], "seq": 1, "totalRecords": 2, "anchoredAt": proof["batch"]["anchoredAt"] });
        assert_eq!(onchain["head"], head);
        let continuity = &proof["continuity"];
        assert_eq!(
            (&continuity["prev"], &continuity["logHead"]["headHash"]),
            (&first["recordHash"], &last["recordHash"])
        );
        assert_eq!(
            (&continuity["logHead"]["unanchored"], &continuity["logHead"]["anchoredThroughSeq"]),
            (&json!(1), &json!(2))
        );
        assert_eq!(continuity["logHead"]["lastRoot"], batch["root"]);
        for name in ["key", "keyNonce"] {
            assert!(proof.get(name).is_none() && !proof.to_string().contains("keyNonce"), "{proof}");
        }
        // The log is walked down by prev.
        let earlier = read(&site.gateway, &path_of(1, 1)).await;
        assert_eq!((&earlier["recordHash"], &earlier["continuity"]["prev"]), (&continuity["prev"], &json!(ZERO)));
        site.close().await;
    }
}

/// Proofs of every record, for batches of one to ten.
#[tokio::test]
async fn every_record_of_every_batch_is_proved() {
    for site in sites().await {
        let (mut prev_root, mut seq) = (json!(ZERO), 0);
        for count in 1..=10usize {
            site.gateway.clock().advance(std::time::Duration::from_secs(1)).await;
            let mut records = Vec::new();
            for number in 0..count {
                let value = json!(format!("{count}.{number}"));
                records.push((
                    value.as_str().unwrap().len(),
                    store(&site.gateway, &owner(), "k", value).await["record"].clone(),
                ));
            }
            let batch = site.anchor(&owner(), json!({ "agentId": 1 })).await.json();
            assert_eq!((&batch["count"], &batch["prevRoot"]), (&json!(count), &prev_root));
            for (index, (size, record)) in records.iter().enumerate() {
                seq += 1;
                let proof = read(&site.gateway, &path_of(1, seq)).await;
                assert_proves(&proof, &batch["root"], &header(owner().address(), "put", *size, record), index, count);
            }
            site.mine(vec![anchored(1, u64::try_from(count).unwrap(), &batch["root"], &prev_root, 1)]).await;
            prev_root = batch["root"].clone();
        }
        site.close().await;
    }
}

async fn assert_refused(site: &Site, path: &str, status: u16, code: &str) {
    let refused = site.gateway.get(&format!("/api/memory/proof/{path}")).await;
    assert_eq!(refusal(&refused), (status, code.to_owned()), "{path}: {}", refused.text());
}

#[tokio::test]
async fn unknown_and_wrong_ids_are_refused() {
    for site in sites().await {
        site.write(&owner(), 1).await;
        for path in ["x/1", "1/x", "0/1", "1/0", "-1/1", "1/1.0", "1/%20"] {
            assert_refused(&site, path, 400, "bad_request").await;
        }
        for path in ["99/1", "1/2", "3/1", "99999999999999999999/1", "1/99999999999999999999"] {
            assert_refused(&site, path, 404, "not_found").await;
        }
        site.close().await;
    }
}

#[tokio::test]
async fn the_log_is_that_of_the_current_owner() {
    for site in sites().await {
        site.write(&owner(), 2).await;
        site.write(&other(), 1).await;
        assert_eq!(read(&site.gateway, &path_of(1, 2)).await["address"], owner().address());
        site.mine(vec![transferred(1, &owner(), &other())]).await;
        assert_eq!(read(&site.gateway, &path_of(1, 1)).await["address"], other().address());
        assert_refused(&site, "1/2", 404, "not_found").await;
        site.close().await;
    }
}

/// The self check is a check: of a changed record it fails.
#[tokio::test]
async fn a_changed_record_does_not_pass() {
    for site in sites_with(&["registry"]).await {
        site.write(&owner(), 3).await;
        site.anchor(&owner(), json!({ "agentId": 1 })).await;
        assert_eq!(read(&site.gateway, &path_of(1, 2)).await["selfCheck"], true);
        site.gateway
            .execute("UPDATE memory_records SET record = replace(record, '\"size\":1', '\"size\":2') WHERE seq = 2")
            .await;
        let proof = read(&site.gateway, &path_of(1, 2)).await;
        assert_eq!((&proof["selfCheck"], &proof["onchain"]["contract"]), (&json!(false), &Value::Null), "{proof}");
        assert_ne!(keccak(proof["recordJson"].as_str().unwrap().as_bytes()), proof["recordHash"]);
        site.close().await;
    }
}
