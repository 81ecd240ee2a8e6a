//! An agent about which nothing changed is answered without a build, and one about which something did is not.

use super::{CONTRACTS, SIGNER, Site, claims, history, modules, rogue, script, sites_with};
use plugin_testing::{Builder, TestGateway, Value, json};
use std::time::Duration;

/// Sites on which `rogue` counts how often it is asked for claims.
async fn sites() -> Vec<Site> {
    let with_rogue = || [modules(), vec![rogue::module()]].concat();
    let grant = |builder: Builder| builder.config("aicv", json!({ "kinds": { "rogue": ["Referral"] } }));
    sites_with(history(), with_rogue, grant).await
}

/// How often claims were asked for, and the registry for the agent's state.
fn builds(site: &Site) -> (usize, usize) {
    (rogue::asked(), site.chain.calls().iter().filter(|call| call.method == "eth_call").count())
}

const PATHS: [&str; 5] = [
    "/api/cv/1",
    "/api/cv/1?limit=3",
    "/api/cv/1/credential.json",
    "/api/cv/1/credential.json?signer=owner",
    "/api/cv/1/badge.svg",
];

impl Site {
    /// Asks until nothing is built: the issue was committed by the first request, and the gateway may commit at its start.
    async fn settled(&self) -> (usize, usize) {
        TestGateway::eventually(Duration::from_secs(20), "nothing is built", async || {
            // A client has sixty calls in a minute.
            tokio::time::sleep(Duration::from_millis(50)).await;
            let before = builds(self);
            self.read("/api/cv/1").await;
            builds(self) == before
        })
        .await;
        builds(self)
    }
}

async fn texts(site: &Site) -> Vec<String> {
    let mut texts = Vec::new();
    for path in PATHS {
        texts.push(site.get(path).await.text());
    }
    texts
}

#[tokio::test]
async fn what_is_asked_for_again_is_not_built_again() {
    for site in sites().await {
        let first = texts(&site).await;
        let before = site.settled().await;
        assert_eq!(texts(&site).await, first);
        assert_eq!(builds(&site), before, "nothing was committed since");

        // Any commit may have changed something, so it is looked at what claims are made of; the bytes stay.
        site.gateway.execute("UPDATE rogue_claims SET claim = claim").await;
        assert_eq!(texts(&site).await, first);
        let after = builds(&site);
        assert!(after.0 > before.0 && after.1 > before.1, "{before:?} {after:?}");

        // So do blocks in which the agent does nothing.
        site.chain.mine_empty(3);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(texts(&site).await, first);
        assert!(builds(&site).0 > after.0);
        site.close().await;
    }
}

#[tokio::test]
async fn whatever_changes_is_seen_at_once() {
    for site in sites().await {
        let hash = async || site.read("/api/cv/1").await["documentHash"].clone();
        let mut hashes = vec![hash().await];
        let mut changed = async |what: &str| {
            let now = hash().await;
            assert!(!hashes.contains(&now), "{what}: {now}");
            assert_eq!(hash().await, now, "{what}: again");
            hashes.push(now);
        };
        let referral = json!({
            "kind": "Referral", "id": "referrals", "statedAt": null, "fields": { "referred": 2, "paidOut": 1 }, "logs": [],
            "source": "/x", "note": "y",
        });
        site.gateway.execute(&format!("INSERT INTO rogue_claims (id, claim) VALUES (1, '{referral}')")).await;
        changed("a claim that no event tells").await;
        site.mine(vec![script::requested(3, 1, 9, "1")]).await;
        changed("a job").await;
        super::set_state(&site.chain, "https://moved.example", script::PAUSED);
        site.mine(vec![]).await;
        changed("a state that no event tells").await;
        site.mine(vec![script::validation_requested(1, 1, "ipfs://own", 2), script::validated(1, 1, 2, 100)]).await;
        changed("an event of the owner").await;
        site.close().await;
    }
}

/// What depends on time alone is seen as late as a document may be old in a cache.
#[tokio::test]
async fn memory_stands_for_half_a_minute_without_a_look() {
    for site in sites().await {
        site.read("/api/cv/1").await;
        let before = site.settled().await;
        site.gateway.clock().advance(Duration::from_secs(31)).await;
        site.read("/api/cv/1").await;
        assert!(builds(&site).0 > before.0);
        site.close().await;
    }
}

/// The other gateway's issue is in the database: what this one has in memory is not what is issued any more.
#[tokio::test]
async fn another_gateways_issue_replaces_what_is_in_memory() {
    let modules = || vec![agents::plugin_module(), audit::plugin_module(), aicv::plugin_module()];
    for site in sites_with(history(), modules, |builder| builder).await {
        if site.gateway.dialect() != "postgres" {
            site.close().await;
            continue;
        }
        let url = site.gateway.gateway().config.database.url.clone();
        let builder = modules().into_iter().fold(TestGateway::builder(), Builder::plugin);
        let builder = builder.config("agents", json!({ "probe_interval_s": 86_400 })).signer("gateway", SIGNER);
        let other = builder.configure(|config| config.database.url = url).chain(&site.chain, &CONTRACTS).start().await;
        let first = site.read("/api/cv/1").await;
        assert_eq!(other.get("/api/cv/1").await.json(), first);
        // Both have it in memory. A day later the other one issues it again.
        for gateway in [&site.gateway, &other] {
            gateway.clock().advance(Duration::from_secs(24 * 60 * 60 + 1)).await;
        }
        let second = other.get("/api/cv/1").await.json();
        assert_ne!(second["documentHash"], first["documentHash"]);
        for path in ["/api/cv/1", "/api/cv/1/credential.json"] {
            assert_eq!(site.read(path).await["documentHash"], other.get(path).await.json()["documentHash"], "{path}");
        }
        assert_eq!(claims(&second, "EscrowJob").len(), claims(&first, "EscrowJob").len());
        other.stop().await;
        site.close().await;
    }
}

/// The body is the canonical JSON of the document, with the proof behind it.
#[tokio::test]
async fn a_document_is_answered_as_the_text_that_is_hashed() {
    for site in sites().await {
        let document = site.get("/api/cv/1").await.text();
        let value: Value = serde_json::from_str(&document).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), document);
        let credential = site.get("/api/cv/1/credential.json").await.text();
        let (begin, proof) = credential.split_once(",\"proof\":").unwrap();
        assert_eq!(format!("{begin}}}"), document);
        assert!(proof.starts_with("{\"type\":\"ServiceAgentCVEip712Proof2025\""), "{proof}");
        site.close().await;
    }
}
