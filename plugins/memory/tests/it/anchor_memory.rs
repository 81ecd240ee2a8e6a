//! `POST /api/memory/anchor`

use super::{
    ZERO, delete,
    fixture::{Site, agent, anchored, header, keccak, other, owner, sites, sites_with, transferred, verifies},
    read, refusal, store,
};
use plugin_testing::{ScriptedChain, Value, json};

async fn built(site: &Site, payload: Value) -> Value {
    let response = site.anchor(&owner(), payload).await;
    assert_eq!(response.status, 201, "{}", response.text());
    response.json()
}

#[tokio::test]
async fn a_sealed_key_opens_in_its_own_record_only() {
    for site in sites().await {
        for key in ["quokka", "wombat"] {
            store(&site.gateway, &owner(), key, json!("a value")).await;
        }
        let moved = "UPDATE memory_records SET sealed_key = (SELECT r.sealed_key FROM memory_records r WHERE r.seq = 1) WHERE seq = 2";
        site.gateway.execute(moved).await;
        let refused = site.anchor(&owner(), json!({ "agentId": 1 })).await;
        assert_eq!(refused.status, 500, "{}", refused.text());
        let faults = site.gateway.faults().await.join(" ");
        assert!(!faults.is_empty() && !faults.contains("quokka") && !faults.contains("wombat"), "{faults}");
        site.gateway.stop().await;
    }
}

#[tokio::test]
async fn a_new_batch_has_every_record_with_its_key_and_proof() {
    for site in sites().await {
        let wallet = owner();
        let begun = site.gateway.now_s();
        let first = store(&site.gateway, &wallet, "a", json!("one")).await["record"].clone();
        let second = store(&site.gateway, &wallet, "b", json!({ "two": 2 })).await["record"].clone();
        let third = delete(&site.gateway, &wallet, "a").await.json()["record"].clone();

        let response = site.anchor(&wallet, json!({ "agentId": 1, "uri": "ipfs://x" })).await;
        assert_eq!(
            (response.status, response.header("cache-control")),
            (201, "private, no-store"),
            "{}",
            response.text()
        );
        let mut batch = response.json();
        let records = batch["records"].take();
        let onchain = batch["onchain"].take();
        let root = batch["root"].clone();
        for name in ["verify", "proves"] {
            assert!(!batch.as_object_mut().unwrap().remove(name).unwrap().is_null(), "{name}");
        }
        let id = batch["batchId"].as_u64().unwrap();
        let expected = json!({
            "batchId": id, "agentId": 1, "address": wallet.address(), "root": root, "prevRoot": ZERO, "uri": "ipfs://x",
            "status": "built", "count": 3, "fromSeq": 1, "toSeq": 3, "onchainSeq": null, "totalRecords": null,
            "block": null, "anchoredBy": null, "tx": null, "createdAt": begun + 1, "submittedAt": null, "anchoredAt": null,
            "rebuilt": true, "records": null, "onchain": null,
        });
        assert_eq!(batch, expected);

        let written = [("a", "put", 3, &first), ("b", "put", 9, &second), ("a", "del", 0, &third)];
        assert_eq!(records.as_array().unwrap().len(), written.len());
        for (index, ((key, op, size, receipt), record)) in
            written.into_iter().zip(records.as_array().unwrap()).enumerate()
        {
            let text = header(wallet.address(), op, size, receipt);
            assert_eq!((&record["key"], &record["op"], &record["size"]), (&json!(key), &json!(op), &json!(size)));
            for name in ["seq", "prev", "recordHash", "keyCommit", "keyNonce", "valueHash", "ts"] {
                assert_eq!(record[name], receipt[name], "{name} of {index}");
            }
            assert_eq!((&record["recordJson"], &record["index"]), (&json!(text), &json!(index)));
            assert_eq!(record["record"].to_string(), text);
            let hex: String = text.bytes().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(record["recordBytes"], format!("0x{hex}"));
            assert!(verifies(&root, text.as_bytes(), record["proof"].as_array().unwrap(), index, 3), "{record}");
        }
        assert_eq!(onchain["args"], json!([1, root, ZERO, 3, "ipfs://x"]));
        site.close().await;
    }
}

#[tokio::test]
async fn the_call_of_the_contract_is_prepared_and_a_relayed_one_as_well() {
    for site in sites().await {
        site.write(&owner(), 1).await;
        let batch = built(&site, json!({ "agentId": 1, "uri": "ipfs://x" })).await;
        let onchain = &batch["onchain"];
        let contract = json!(ScriptedChain::address_of("memoryAnchor"));
        assert_eq!((&onchain["contract"], &onchain["chainId"]), (&contract, &json!(3961)));
        assert!(onchain.get("disabled").is_none() && onchain.get("reason").is_none(), "{onchain}");
        let root = batch["root"].as_str().unwrap().trim_start_matches("0x");
        let words =
            format!("{:064x}{root}{}{:064x}{:064x}{:064x}{:0<64}", 1, "0".repeat(64), 1, 5 * 32, 8, "697066733a2f2f78");
        let selector = &keccak(b"anchor(uint256,bytes32,bytes32,uint32,string)")[2..10];
        assert_eq!(onchain["calldata"], format!("0x{selector}{words}"));
        assert_eq!(onchain["priorityFeeFloorWei"], "1000000000");

        let eip712 = &onchain["relayed"]["eip712"];
        let domain =
            json!({ "name": "ServiceMemoryAnchor", "version": "1", "chainId": 3961, "verifyingContract": contract });
        assert_eq!((&eip712["domain"], &eip712["primaryType"]), (&domain, &json!("Anchor")));
        let fields = eip712["types"]["Anchor"].as_array().unwrap().iter();
        let fields: Vec<String> = fields
            .map(|field| format!("{} {}", field["type"].as_str().unwrap(), field["name"].as_str().unwrap()))
            .collect();
        // The typehash of the deployed contract.
        assert_eq!(
            keccak(format!("Anchor({})", fields.join(",")).as_bytes()),
            "0xbc1ad0c81b826e1053449282c85e7b42200288c466cb76e1fd315cf04aaf2609"
        );
        let message = json!({
            "agentId": 1, "root": batch["root"], "prevRoot": ZERO, "count": 1, "uri": "ipfs://x", "nonce": null,
            "deadline": null,
        });
        assert_eq!(eip712["message"], message);
        site.close().await;
    }
}

#[tokio::test]
async fn without_the_contract_batches_are_built_all_the_same() {
    for site in sites_with(&["registry"]).await {
        site.write(&owner(), 1).await;
        let onchain = built(&site, json!({})).await["onchain"].clone();
        assert_eq!((&onchain["contract"], &onchain["calldata"]), (&Value::Null, &Value::Null));
        assert_eq!((&onchain["disabled"], &onchain["reason"]), (&json!(true), &json!("not deployed")));
        let list = read(&site.gateway, "/api/memory/anchors").await;
        assert_eq!(
            (&list["disabled"], &list["reason"], &list["total"]),
            (&json!(true), &json!("not deployed"), &json!(1))
        );
        site.close().await;
    }
}

#[tokio::test]
async fn a_batch_that_waits_is_answered_again() {
    for site in sites().await {
        site.write(&owner(), 2).await;
        let first = built(&site, json!({ "agentId": 1 })).await;
        store(&site.gateway, &owner(), "later", json!(1)).await;
        let again = site.anchor(&owner(), json!({ "agentId": 1, "uri": "ipfs://other", "limit": 1 })).await;
        assert_eq!(again.status, 200, "{}", again.text());
        let again = again.json();
        assert_eq!((&again["rebuilt"], &again["root"], &again["count"]), (&json!(false), &first["root"], &json!(2)));
        assert_eq!((&again["records"], &again["onchain"]), (&first["records"], &first["onchain"]));
        assert!(again["note"].is_string() && again.get("proves").is_none(), "{again}");
        site.close().await;
    }
}

#[tokio::test]
async fn batches_follow_each_other_by_their_roots() {
    for site in sites().await {
        site.write(&owner(), 3).await;
        let first = built(&site, json!({ "agentId": 1, "limit": 2 })).await;
        assert_eq!((&first["fromSeq"], &first["toSeq"]), (&json!(1), &json!(2)));
        site.mine(vec![anchored(1, 1, &first["root"], &json!(ZERO), 2)]).await;

        let second = built(&site, json!({ "agentId": 1, "limit": 2 })).await;
        assert_eq!((&second["fromSeq"], &second["toSeq"], &second["count"]), (&json!(3), &json!(3), &json!(1)));
        assert_eq!(second["prevRoot"], first["root"]);
        assert_eq!(second["records"][0]["leaf"], second["root"], "one leaf is its own root");
        // Somebody anchors another root for the agent meanwhile: the batch that waits follows it.
        let foreign = json!(keccak(b"foreign"));
        site.mine(vec![anchored(1, 2, &foreign, &first["root"], 5)]).await;
        let waiting = site.anchor(&owner(), json!({ "agentId": 1 })).await.json();
        assert_eq!((&waiting["root"], &waiting["prevRoot"]), (&second["root"], &foreign));
        assert_eq!(waiting["onchain"]["args"][2], foreign);
        site.mine(vec![anchored(1, 3, &second["root"], &foreign, 1)]).await;

        let nothing = site.anchor(&owner(), json!({ "agentId": 1 })).await;
        assert_eq!(refusal(&nothing), (409, "nothing_to_anchor".to_owned()), "{}", nothing.text());
        // The owner's other agent anchors the same log from its beginning.
        let of_other = built(&site, json!({ "agentId": 2 })).await;
        assert_eq!(
            (&of_other["fromSeq"], &of_other["toSeq"], &of_other["prevRoot"]),
            (&json!(1), &json!(3), &json!(ZERO))
        );
        site.close().await;
    }
}

#[tokio::test]
async fn only_the_owner_of_an_agent_makes_its_batches() {
    for site in sites().await {
        site.write(&owner(), 1).await;
        for (wallet, payload, expected) in [
            (owner(), json!({ "agentId": 3 }), (403, "not_owner")),
            (owner(), json!({ "agentId": 99 }), (404, "not_found")),
            (plugin_testing::Wallet::new(7), json!({}), (404, "not_found")),
            (other(), json!({ "agentId": 3 }), (409, "nothing_to_anchor")),
            (owner(), json!({ "agentId": 0 }), (400, "bad_request")),
            (owner(), json!({ "uri": "x".repeat(257) }), (400, "bad_request")),
            (owner(), json!({ "txHash": "0x12" }), (400, "bad_request")),
            (owner(), json!({ "txHash": keccak(b"t") }), (404, "not_found")),
            (owner(), json!({ "txHash": keccak(b"t"), "root": keccak(b"r") }), (404, "not_found")),
        ] {
            let refused = site.anchor(&wallet, payload.clone()).await;
            assert_eq!(refusal(&refused), (expected.0, expected.1.to_owned()), "{payload}: {}", refused.text());
        }
        // Without an id it is the agent with the lowest one.
        assert_eq!(built(&site, json!({})).await["agentId"], 1);
        site.close().await;
    }
}

#[tokio::test]
async fn a_new_owner_anchors_his_own_log() {
    for site in sites().await {
        site.write(&owner(), 2).await;
        let before = built(&site, json!({ "agentId": 1 })).await;
        site.mine(vec![transferred(1, &owner(), &other())]).await;
        let refused = site.anchor(&owner(), json!({ "agentId": 1 })).await;
        assert_eq!(refusal(&refused), (403, "not_owner".to_owned()));
        let nothing = site.anchor(&other(), json!({ "agentId": 1 })).await;
        assert_eq!(refusal(&nothing), (409, "nothing_to_anchor".to_owned()), "the other's batch is not his");
        site.write(&other(), 1).await;
        let after = site.anchor(&other(), json!({ "agentId": 1 })).await;
        assert_eq!(after.status, 201, "{}", after.text());
        assert_eq!((&after.json()["address"], &after.json()["count"]), (&json!(other().address()), &json!(1)));
        assert_ne!(after.json()["root"], before["root"]);
        site.close().await;
    }
}

#[tokio::test]
async fn a_transaction_is_noted_until_the_chain_has_the_root() {
    for site in sites().await {
        site.write(&owner(), 2).await;
        let batch = built(&site, json!({ "agentId": 1 })).await;
        let tx = keccak(b"transaction");
        let recorded =
            site.anchor(&owner(), json!({ "agentId": 1, "txHash": tx.to_uppercase().replace("0X", "0x") })).await;
        assert_eq!(recorded.status, 200, "{}", recorded.text());
        let recorded = recorded.json();
        assert_eq!(
            (&recorded["recorded"], &recorded["status"], &recorded["tx"]),
            (&json!(true), &json!("submitted"), &json!(tx))
        );
        assert!(recorded["note"].is_string() && recorded.get("records").is_none(), "{recorded}");
        assert_eq!(recorded["submittedAt"], site.gateway.now_s());
        // It still waits.
        let again = site.anchor(&owner(), json!({ "agentId": 1 })).await;
        assert_eq!((again.status, &again.json()["status"]), (200, &json!("submitted")));

        site.mine(vec![anchored(1, 1, &batch["root"], &json!(ZERO), 2)]).await;
        let late = json!({ "agentId": 1, "txHash": keccak(b"late"), "root": batch["root"] });
        let late = site.anchor(&owner(), late).await;
        assert_eq!((late.status, &late.json()["status"]), (200, &json!("anchored")), "{}", late.text());
        assert_ne!(late.json()["tx"], keccak(b"late"), "the chain says by which");
        site.close().await;
    }
}

/// Appends records to the owner's log of one, each with the key of the first: quicker than as many signed requests.
async fn extend_log(site: &Site, first: &Value, records: i64) {
    let mut receipt = first.clone();
    let mut rows = Vec::new();
    for seq in 2..=records {
        (receipt["seq"], receipt["prev"]) = (json!(seq), receipt["recordHash"].clone());
        let text = header(owner().address(), "put", 1, &receipt);
        receipt["recordHash"] = json!(keccak(text.as_bytes()));
        rows.push(format!("({seq}, {}, '{text}')", receipt["recordHash"].to_string().replace('"', "'")));
    }
    for rows in rows.chunks(500) {
        let insert = "INSERT INTO memory_records (address, seq, record_hash, record, key_id, sealed_key) \
            SELECT r.address, v.column1, v.column2, v.column3, r.key_id, r.sealed_key FROM memory_records r, (VALUES ";
        site.gateway.execute(&format!("{insert}{}) v WHERE r.seq = 1", rows.join(", "))).await;
    }
    let head = format!("seq = {records}, head_hash = {}", receipt["recordHash"].to_string().replace('"', "'"));
    site.gateway.execute(&format!("UPDATE memory_heads SET {head}")).await;
}

/// The largest batch, with the longest keys, in one answer.
#[tokio::test]
async fn a_batch_has_up_to_4096_records() {
    const RECORDS: i64 = 4096;
    for site in sites().await {
        let key = "k".repeat(128);
        let first = store(&site.gateway, &owner(), &key, json!(1)).await["record"].clone();
        extend_log(&site, &first, RECORDS + 1).await;
        let batch = built(&site, json!({ "agentId": 1, "limit": 5000 })).await;
        assert_eq!((&batch["count"], &batch["toSeq"]), (&json!(RECORDS), &json!(RECORDS)));
        let records = batch["records"].as_array().unwrap();
        assert_eq!(records.len(), 4096);
        for (index, record) in records.iter().enumerate() {
            let (text, proof) = (record["recordJson"].as_str().unwrap(), record["proof"].as_array().unwrap());
            assert!(verifies(&batch["root"], text.as_bytes(), proof, index, 4096), "{index}");
        }
        assert_eq!((&records[4095]["key"], &records[4095]["seq"]), (&json!(key), &json!(RECORDS)));
        // The next record follows the last one that was there.
        let next = store(&site.gateway, &owner(), &key, json!(2)).await["record"].clone();
        assert_eq!(next["seq"], RECORDS + 2);
        site.close().await;
    }
}

/// The event of an anchor that no gateway prepared, of an agent that is not registered.
#[tokio::test]
async fn an_anchor_is_an_event_of_its_agents_owner() {
    for site in sites().await {
        site.mine(vec![anchored(1, 1, &json!(keccak(b"a")), &json!(ZERO), 4)]).await;
        site.mine(vec![anchored(9, 1, &json!(keccak(b"b")), &json!(ZERO), 4), agent(9, &other())]).await;
        let events = site.gateway.events().await;
        let events: Vec<_> = events.iter().filter(|event| event.kind == "memory.anchored").collect();
        assert_eq!(events.len(), 2);
        assert_eq!(events[0].actor.as_deref(), Some(owner().address()));
        assert_eq!(events[1].actor.as_deref(), Some(owner().address()), "who sent the transaction");
        let mut data = events[0].data.clone();
        assert!(data["tx"].as_str().unwrap().len() == 66 && data["block"].is_u64(), "{data}");
        let members = data.as_object_mut().unwrap();
        members.retain(|name, _| name != "tx" && name != "block");
        let expected = json!({
            "agentId": 1, "agentName": "agent 1", "root": keccak(b"a"), "prevRoot": ZERO, "anchorSeq": 1, "count": 4,
            "totalRecords": 4, "uri": "ipfs://x", "contract": "memoryAnchor", "event": "MemoryAnchored",
        });
        assert_eq!(data, expected);
        assert_eq!(events[1].data["agentName"], Value::Null);
        let subject = events[0].subject.as_ref().unwrap();
        assert_eq!((subject.kind.as_str(), subject.id.as_str()), ("agent", "1"));
        site.close().await;
    }
}
