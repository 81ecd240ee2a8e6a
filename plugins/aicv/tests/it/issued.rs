//! What is issued once, by several gateways, and what makes another issue.

use super::{CONTRACTS, SIGNER, Site, modules, record, script, sites, verifier};
use plugin_testing::{Builder, ScriptedCall, ScriptedChain, ScriptedLog, TestGateway, Value, json};
use script::requested;
use std::time::Duration;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

async fn hash_of(site: &Site) -> Value {
    site.read("/api/cv/1").await["documentHash"].clone()
}

#[tokio::test]
async fn a_content_keeps_its_issue_until_something_changes_or_a_day_passes() {
    for site in sites().await {
        let first = site.read("/api/cv/1").await;
        site.gateway.clock().advance(Duration::from_secs(3600)).await;
        // Blocks without anything about the agent change nothing.
        site.chain.mine_empty(5);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(site.read("/api/cv/1").await, first);
        assert_eq!(site.read("/api/cv/1/verify").await["documentHash"], first["documentHash"]);
        let credential = site.read("/api/cv/1/credential.json").await;
        assert_eq!(credential["documentHash"], first["documentHash"]);

        // Another probe is no other content.
        site.gateway
            .execute("INSERT INTO agents_probe_days (agent_id, day, ok, failed, last_ms) VALUES (1, 1, 1, 0, 5)")
            .await;
        assert_eq!(hash_of(&site).await, first["documentHash"]);

        site.mine(vec![requested(3, 1, 9, "1")]).await;
        let second = site.read("/api/cv/1").await;
        verifier::assert_hashes(&second);
        assert!(record(&second).len() > record(&first).len());
        assert!(second["asOfBlock"].as_i64() > first["asOfBlock"].as_i64());
        assert!(second["issuedAt"].as_i64() > first["issuedAt"].as_i64());

        site.gateway.clock().advance(DAY).await;
        let third = site.read("/api/cv/1").await;
        assert_ne!(third["documentHash"], second["documentHash"]);
        assert_eq!(third["claimsRoot"].as_str().unwrap().len(), 66);
        site.close().await;
    }
}

#[tokio::test]
async fn a_reorganisation_makes_another_issue() {
    for site in sites().await {
        let first = site.read("/api/cv/1").await;
        site.chain.reorg(2);
        site.chain.mine_empty(3);
        site.gateway.indexed(&site.chain).await;
        let second = site.read("/api/cv/1").await;
        assert_ne!(second["documentHash"], first["documentHash"]);
        assert_ne!(second["evidence"][0]["asOfBlockHash"], first["evidence"][0]["asOfBlockHash"]);
        // The job of the second block goes with it.
        let before = record(&second).len();
        site.chain.reorg(6);
        site.chain.mine_empty(7);
        site.gateway.indexed(&site.chain).await;
        let third = site.read("/api/cv/1").await;
        assert!(record(&third).len() < before, "{third}");
        // That nobody asks for long afterwards changes nothing.
        site.chain.reorg(2);
        site.chain.mine_empty(140);
        site.gateway.indexed(&site.chain).await;
        let fourth = site.read("/api/cv/1").await;
        assert_ne!(fourth["evidence"][0]["asOfBlockHash"], third["evidence"][0]["asOfBlockHash"]);
        site.close().await;
    }
}

/// In the states of which blocks the registry was called: their hashes, and how many were named by their numbers.
fn called_blocks(site: &Site) -> (Vec<String>, usize) {
    let (calls, registry) = (site.chain.calls(), ScriptedChain::address_of("registry").to_string());
    let is_of_registry = |call: &&ScriptedCall| {
        let to = call.params[0]["to"].as_str().unwrap_or_default();
        call.method == "eth_call" && to.eq_ignore_ascii_case(&registry)
    };
    let blocks: Vec<_> = calls.iter().filter(is_of_registry).map(|call| call.params[1].clone()).collect();
    let hashes = blocks.iter().filter_map(|block| block["blockHash"].as_str()).map(str::to_owned).collect();
    (hashes, blocks.iter().filter(|block| block.is_string()).count())
}

/// The indexes are read as of a block, and before the registry is asked about it the block goes.
#[tokio::test]
async fn a_reorganisation_before_the_state_is_read_starts_the_build_again() {
    for site in sites().await {
        let chain = site.chain.clone();
        site.chain.keep_removed();
        site.chain.before_call(ScriptedChain::address_of("registry"), move || {
            chain.reorg(6);
            chain.mine_empty(7);
        });
        let removed = site.chain.head_hash();
        // The build waits, in the gateway's time, until all indexes are on the new branch.
        let time = async {
            while site.chain.head_hash() == removed || site.chain.head() < 8 {
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            site.gateway.indexed(&site.chain).await;
            loop {
                site.gateway.clock().advance(Duration::from_millis(100)).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let document = tokio::select! {
            answer = site.get("/api/cv/1") => answer,
            () = time => continue,
        };
        assert_eq!(document.status, 200, "{}", document.text());
        let (document, (asked, by_number)) = (document.json(), called_blocks(&site));
        verifier::assert_hashes(&document);
        let hash = |hash: Option<[u8; 32]>| plugin_api::Hash256(hash.unwrap()).to_string();
        assert_eq!(document["evidence"][0]["asOfBlockHash"], hash(site.chain.head_hash()));
        assert_eq!(asked, [hash(removed), hash(site.chain.head_hash())]);
        assert_eq!(by_number, 0);
        // The jobs of the removed blocks are not in it.
        assert_eq!(super::claims(&document, "EscrowJob"), Vec::<&Value>::new());
        site.close().await;
    }
}

#[tokio::test]
async fn a_server_that_takes_no_hash_is_asked_by_the_number() {
    for site in sites().await {
        site.chain.fail_always(Some(plugin_testing::Fault::TakesNoHash));
        let document = site.read("/api/cv/1").await;
        let (asked, by_number) = called_blocks(&site);
        assert!(!asked.is_empty() && asked.len() == by_number, "{asked:?} {by_number}");
        assert_eq!(document["evidence"][0]["asOfBlockHash"], asked[0]);
        let state = super::claims(&document, "AgentState");
        assert_eq!(state[0]["endpoint"], "https://digger.example");
        site.close().await;
    }
}

/// What is made while the issue is stored is what the stored row says.
#[tokio::test]
async fn the_first_document_of_an_issue_is_that_of_its_row() {
    for mut site in sites().await {
        for path in ["/api/cv/1?limit=3", "/api/cv/1"] {
            site.gateway.execute("DELETE FROM aicv_issues").await;
            let first = site.get(path).await.text();
            // A gateway that has nothing in memory reads the row.
            site = site.restarted().await;
            assert_eq!(site.get(path).await.text(), first);
        }
        site.close().await;
    }
}

#[tokio::test]
async fn two_gateways_name_one_hash() {
    // Two gateways with plugins that seal would have to share their key.
    let modules =
        || vec![agents::plugin_module(), x402::plugin_module(), audit::plugin_module(), aicv::plugin_module()];
    for site in super::sites_with(super::history(), modules, |builder| builder).await {
        if site.gateway.dialect() != "postgres" {
            site.close().await;
            continue;
        }
        let url = site.gateway.gateway().config.database.url.clone();
        let builder = modules().into_iter().fold(TestGateway::builder(), Builder::plugin);
        let builder = builder.config("agents", json!({ "probe_interval_s": 86_400 })).signer("gateway", SIGNER);
        let builder = builder.configure(|config| config.database.url = url).chain(&site.chain, &CONTRACTS);
        let other = builder.start().await;
        other.clock().advance(Duration::from_secs(60)).await;
        let paths = ["/api/cv/1", "/api/cv/1/credential.json", "/api/cv/1/verify", "/api/cv/1?limit=200"];
        let reads = paths.iter().flat_map(|path| [site.gateway.get(path), other.get(path)]);
        let mut hashes = Vec::new();
        for read in reads.collect::<Vec<_>>() {
            hashes.push(read.await.json()["documentHash"].clone());
        }
        assert!(hashes.iter().all(|hash| *hash == hashes[0] && hash.is_string()), "{hashes:?}");
        assert_eq!(site.get("/api/cv/1").await.text(), other.get("/api/cv/1").await.text());
        let badge = "/api/cv/1/badge.svg?style=card";
        assert_eq!(site.get(badge).await.text(), other.get(badge).await.text());
        assert_eq!(other.faults().await, Vec::<String>::new());
        other.stop().await;
        site.close().await;
    }
}

fn metadata(document_hash: &Value) -> ScriptedLog {
    metadata_of("cv", document_hash)
}

fn metadata_of(key: &str, document_hash: &Value) -> ScriptedLog {
    ScriptedLog::new(
        "identity8004",
        "MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue)",
        &[json!(1), json!(key), json!(key), json!(format!("{}{}", document_hash.as_str().unwrap(), "00".repeat(32)))],
    )
}

#[tokio::test]
async fn an_anchored_document_stays() {
    let configure = |builder: Builder| builder.config("aicv", json!({ "kept_documents": 1 }));
    for site in super::sites_with(super::history(), modules, configure).await {
        let anchored = site.read("/api/cv/1").await;
        let path = format!("/api/cv/1?document={}", anchored["documentHash"].as_str().unwrap());
        assert_eq!(site.read(&path).await, anchored);
        site.mine(vec![metadata(&anchored["documentHash"])]).await;
        // Neither another hash nor many other keys behind it make it one that may go.
        site.mine(vec![metadata(&json!(script::hash(7)))]).await;
        site.mine((0..201).map(|_| metadata_of("name", &json!(script::hash(8)))).collect()).await;
        let mut others = Vec::new();
        for job in 10..13 {
            site.gateway.clock().advance(Duration::from_secs(10)).await;
            site.mine(vec![requested(job, 1, 9, "1")]).await;
            others.push(hash_of(&site).await);
        }
        assert_eq!(site.read(&path).await, anchored);
        let credential = path.replace("?", "/credential.json?");
        let credential = site.read(&credential).await;
        assert_eq!(credential["proof"]["eip712"]["message"]["documentHash"], anchored["documentHash"]);
        let (_, signer) = verifier::signer(&credential["proof"]);
        assert!(signer.is_some());
        // The newest is kept beside it, the one before is not.
        let status = |hash: &Value| format!("/api/cv/1?document={}", hash.as_str().unwrap());
        assert_eq!(site.get(&status(&others[2])).await.status, 200);
        assert_eq!(site.get(&status(&others[1])).await.status, 404);
        site.close().await;
    }
}

#[tokio::test]
async fn while_the_chain_cannot_be_read_what_was_issued_stands() {
    for site in sites().await {
        let first = site.read("/api/cv/1").await;
        site.chain.fail_always(Some(plugin_testing::Fault::Status(500)));
        assert_eq!(site.read("/api/cv/1").await, first);
        site.chain.fail_always(None);
        site.close().await;
    }
}

#[tokio::test]
async fn without_the_chain_and_without_an_issue_there_is_no_document() {
    for site in sites().await {
        site.chain.fail_always(Some(plugin_testing::Fault::Status(500)));
        let refused = site.get("/api/cv/1").await;
        assert_eq!(super::refusal(&refused), (503, "unavailable".to_owned()));
        assert_eq!(refused.header("retry-after"), "2");
        site.gateway.stop().await;
    }
}

#[tokio::test]
async fn indexes_that_stay_apart_are_waited_for_and_then_named() {
    for site in sites().await {
        // The index does not look at its row while it hears nothing from the chain.
        site.chain.fail_always(Some(plugin_testing::Fault::Status(500)));
        site.gateway.execute("UPDATE host_chain_index SET next_block = next_block - 1 WHERE plugin = 'audit'").await;
        let time = async {
            loop {
                site.gateway.clock().advance(Duration::from_millis(100)).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let refused = tokio::select! {
            refused = site.get("/api/cv/1") => refused,
            () = time => continue,
        };
        assert_eq!(super::refusal(&refused), (503, "indexing".to_owned()));
        site.gateway.stop().await;
    }
}

/// A proof says what its document says: of another key, or of a block that is gone, there is none.
#[tokio::test]
async fn a_stored_document_is_signed_as_it_was_issued_or_not_at_all() {
    for site in sites().await {
        let with_proof = |hash: &Value| format!("/api/cv/1/credential.json?document={}", hash.as_str().unwrap());
        let first = hash_of(&site).await;
        assert_eq!(site.get(&with_proof(&first)).await.status, 200);
        // The role has no configured key any more: the gateway creates one.
        let Site { gateway, chain } = site;
        let site = Site { gateway: gateway.restart_after(|config| config.signers.clear()).await, chain };
        site.gateway.indexed(&site.chain).await;
        assert_eq!(super::refusal(&site.get(&with_proof(&first)).await), (404, "not_found".to_owned()));
        assert_eq!(
            site.get(&format!("{}&signer=owner", with_proof(&first))).await.status,
            200,
            "the owner's is another's"
        );
        assert_eq!(site.read(&format!("/api/cv/1?document={}", first.as_str().unwrap())).await["documentHash"], first);

        let second = hash_of(&site).await;
        assert_ne!(second, first);
        assert_eq!(site.get(&with_proof(&second)).await.status, 200);
        site.chain.reorg(2);
        site.chain.mine_empty(3);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(super::refusal(&site.get(&with_proof(&second)).await), (404, "not_found".to_owned()));
        site.close().await;
    }
}
