//! Contributions of bounties.

use super::{BOUNTIES, Site, citing, owner, sites};
use plugin_api::{Hash256, point};
use plugin_testing::{TestGateway, json};

const MANIFEST: &str = "/.well-known/service.json";

async fn counts(site: &Site) -> (i64, i64) {
    // The gateway caches these documents for a while.
    site.wait(600).await;
    let stats = site.read(MANIFEST).await["live"]["stats"].clone();
    (stats["bounties"].as_i64().unwrap(), stats["openBounties"].as_i64().unwrap())
}

#[tokio::test]
async fn the_manifest_counts_bounties_and_open_ones() {
    for site in sites().await {
        assert_eq!(counts(&site).await, (0, 0));
        let bounty = site.post("a", json!({})).await;
        site.post("b", json!({})).await;
        assert_eq!(counts(&site).await, (2, 2));
        site.mine(vec![citing(1, 1, bounty)]).await;
        assert_eq!(counts(&site).await, (2, 1));
        let manifest = site.read(MANIFEST).await;
        assert!(manifest["endpoints"]["bounties"].as_str().unwrap().ends_with(BOUNTIES));
        site.close().await;
    }
}

#[tokio::test]
async fn bounties_do_not_start_without_agents() {
    let gateway = TestGateway::builder().plugin(bounties::plugin_module()).open().await;
    assert_eq!(gateway.get(BOUNTIES).await.status, 404);
    assert!(gateway.reports().await.iter().any(|report| report.name == "bounties" && report.reason.contains("agents")));
    gateway.stop().await;
}

#[tokio::test]
async fn the_status_shows_waiting_outcomes() {
    for site in sites().await {
        let service = || async { site.read("/api/status").await["services"]["bountyOutcomes"].clone() };
        assert_eq!(service().await, json!({ "ok": true, "oldestWaitingAgeS": null }));
        site.close().await;
    }
}

#[tokio::test]
async fn payloads_in_texts_stay() {
    for site in sites().await {
        let [in_title, in_brief, in_pitch, nowhere] = [1, 2, 3, 4].map(|byte| Hash256([byte; 32]));
        let bounty = site.post(&in_title.to_string(), json!({ "brief": format!("see {in_brief}") })).await;
        let pitch = format!("fmx://payload/{in_pitch}");
        assert_eq!(site.claim(bounty, &owner(1), json!({ "agentId": 1, "pitch": pitch })).await.status, 201);
        let asked = json!({ "hashes": [nowhere, in_pitch, in_brief, in_title] });
        let responses = site.gateway.collect(point::PAYLOAD_REFERENCES.name(), &asked).await;
        assert_eq!(responses["bounties"], json!([in_title, in_brief, in_pitch]));
        site.close().await;
    }
}
