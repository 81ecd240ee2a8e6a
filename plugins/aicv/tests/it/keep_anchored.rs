//! The job `keep_anchored`: a document of any limit that the owner anchored is found from then on, although nobody stored it when it was issued.

use super::{Site, history, modules, record, script, sites_with, verifier};
use alloy_primitives::hex;
use plugin_testing::{Builder, ScriptedLog, TestGateway, Value, json};
use script::requested;
use std::time::Duration;

const LIMIT: Duration = Duration::from_secs(30);
const STEP: Duration = Duration::from_secs(11);
const IDLE: &str =
    "SELECT runs FROM host_job_runs WHERE plugin = 'aicv' AND job = 'keep_anchored' AND lease_holder IS NULL";

/// Sites that keep so many documents of an agent, and as many of its earlier issues.
async fn sites_that_keep(kept_documents: u64) -> Vec<Site> {
    let configure = |builder: Builder| builder.config("aicv", json!({ "kept_documents": kept_documents }));
    sites_with(history(), modules, configure).await
}

/// What the owner of agent 1 sends: `abi.encode(documentHash, uri)`.
fn anchor(document_hash: &Value, uri: &str) -> ScriptedLog {
    let (hash, text) = (document_hash.as_str().unwrap(), hex::encode(uri));
    let width = text.len().next_multiple_of(64);
    let value = format!("{hash}{:064x}{:064x}{text:0<width$}", 64, uri.len());
    ScriptedLog::new(
        "identity8004",
        "MetadataSet(uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue)",
        &[json!(1), json!("cv"), json!("cv"), json!(value)],
    )
}

/// Of the document, as it names itself: its limit is in it.
fn own_uri(document: &Value) -> String {
    document["id"].as_str().unwrap().to_owned()
}

fn path_of(document: &Value) -> String {
    format!("/api/cv/1?document={}", document["documentHash"].as_str().unwrap())
}

impl Site {
    /// The document that is issued after something has happened: each call makes another issue.
    async fn reissued(&self, job: u64) -> Value {
        self.gateway.clock().advance(Duration::from_secs(10)).await;
        self.mine(vec![requested(job, 1, 9, "1")]).await;
        self.read("/api/cv/1").await
    }

    async fn count(&self, table: &str) -> usize {
        self.gateway.rows(&format!("SELECT agent_id FROM {table}")).await.len()
    }

    /// Lets the job run until it has looked for so many documents.
    async fn looked_for(&self, documents: usize) {
        TestGateway::eventually(LIMIT, "the job looks for what is anchored", async || {
            // While it runs no time passes, which would end it.
            if self.gateway.rows(IDLE).await.len() == 1 {
                self.gateway.clock().advance(STEP).await;
            }
            self.count("aicv_anchor_lookups").await == documents
        })
        .await;
    }

    async fn assert_unknown(&self, document: &Value) {
        let refused = self.get(&path_of(document)).await;
        assert_eq!(super::refusal(&refused), (404, "not_found".to_owned()));
    }
}

#[tokio::test]
async fn an_anchored_document_of_another_limit_stays() {
    for site in sites_that_keep(2).await {
        let (short, whole) = (site.read("/api/cv/1?limit=2").await, site.read("/api/cv/1").await);
        assert_eq!((record(&short).len(), own_uri(&short).ends_with("?limit=2")), (2, true));
        let path = path_of(&short);
        site.assert_unknown(&short).await;
        // What stands when the event comes is another issue already.
        site.reissued(10).await;
        site.mine(vec![anchor(&short["documentHash"], &own_uri(&short))]).await;
        site.looked_for(1).await;
        assert_eq!(site.read(&path).await, short);
        let credential = site.read(&path.replace('?', "/credential.json?limit=2&")).await;
        assert_eq!(credential["proof"]["eip712"]["message"]["documentHash"], short["documentHash"]);
        assert!(verifier::signer(&credential["proof"]).1.is_some());
        // Neither the issue that it was made of nor the document of the default limit is there after these.
        for job in 11..15 {
            site.reissued(job).await;
        }
        site.assert_unknown(&whole).await;
        assert_eq!(site.read(&path).await, short);
        site.close().await;
    }
}

/// The URI that an owner is told to anchor leads to the document.
#[tokio::test]
async fn the_owner_is_told_which_uri_keeps_the_document() {
    for site in sites_that_keep(1).await {
        let mut anchored = Vec::new();
        for (limit, looked_for) in [("limit=1000&", 1), ("", 1), ("limit=3&", 2)] {
            let document = site.read(&format!("/api/cv/1/credential.json?{limit}signer=owner")).await;
            let sign = document["proof"]["sign"].as_str().unwrap();
            let uri = sign.split_whitespace().last().unwrap().to_owned();
            assert!(uri.ends_with(&format!("document={}", document["documentHash"].as_str().unwrap())), "{sign}");
            site.mine(vec![anchor(&document["documentHash"], &uri)]).await;
            site.looked_for(looked_for).await;
            let path = uri[uri.find("/api/cv/1/").unwrap()..].to_owned();
            anchored.push((path, document["documentHash"].clone()));
        }
        site.reissued(10).await;
        site.reissued(11).await;
        for (path, hash) in anchored {
            assert_eq!(site.read(&path).await["documentHash"], hash, "{path}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn a_document_is_looked_for_once_by_the_limit_that_its_uri_names() {
    for site in sites_that_keep(2).await {
        let short = site.read("/api/cv/1?limit=2").await;
        let (hash, uri) = (&short["documentHash"], own_uri(&short));
        // Without a limit, and with another one.
        site.mine(vec![anchor(hash, uri.trim_end_matches("?limit=2"))]).await;
        site.mine(vec![anchor(hash, &uri.replace("limit=2", "limit=3"))]).await;
        site.looked_for(1).await;
        site.assert_unknown(&short).await;
        // More than a run looks for, of which there are no documents.
        let others = (20..32).map(|number| anchor(&json!(script::hash(number)), &uri));
        site.mine(others.chain([anchor(hash, &uri)]).collect()).await;
        site.looked_for(14).await;
        assert_eq!(site.read(&path_of(&short)).await, short);
        // A reorganisation that removes the event and brings it back changes nothing.
        let logs = site.chain.reorg(4);
        site.chain.mine_empty(5);
        site.gateway.indexed(&site.chain).await;
        site.mine(logs).await;
        site.looked_for(14).await;
        assert_eq!(site.read(&path_of(&short)).await, short);
        site.close().await;
    }
}

/// Anyone may ask for all limits of all agents, and make an agent's record change: neither takes room without a bound.
#[tokio::test]
async fn what_is_kept_for_anchors_is_bounded() {
    for site in sites_that_keep(2).await {
        let first = site.read("/api/cv/1?limit=2").await;
        for limit in 3..30 {
            site.read(&format!("/api/cv/1?limit={limit}")).await;
        }
        let stored = (site.count("aicv_documents").await, site.count("aicv_earlier_issues").await);
        assert_eq!(stored, (1, 0), "one document, of the default limit");
        let mut last = Value::Null;
        for job in 10..15 {
            last = site.reissued(job).await;
        }
        let stored = (site.count("aicv_documents").await, site.count("aicv_earlier_issues").await);
        assert_eq!(stored, (2, 2));
        // It is of an issue that had to make room.
        site.mine(vec![anchor(&first["documentHash"], &own_uri(&first))]).await;
        site.looked_for(1).await;
        site.assert_unknown(&first).await;
        assert_eq!(site.read("/api/cv/1").await, last, "what is anchored makes no other issue");

        // Large contents keep the newest earlier one only.
        site.gateway.execute("UPDATE aicv_earlier_issues SET content_chars = 8388609").await;
        site.reissued(20).await;
        assert_eq!(site.count("aicv_earlier_issues").await, 1);
        site.close().await;
    }
}
