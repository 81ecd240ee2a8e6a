//! Contributions of the plugin, and what documents for agents say of it.

use super::sites;
use plugin_testing::json;
use std::time::Duration;

#[tokio::test]
async fn the_status_counts_what_is_issued() {
    for site in sites().await {
        site.read("/api/cv/1").await;
        site.gateway.clock().advance(Duration::from_secs(10)).await;
        let service = site.read("/api/status").await["services"]["aicv"].clone();
        assert_eq!((&service["ok"], &service["issued"], &service["documents"]), (&json!(true), &json!(1), &json!(1)));
        site.close().await;
    }
}

#[tokio::test]
async fn the_manifest_and_the_agent_name_the_documents() {
    for site in sites().await {
        let manifest = site.read("/.well-known/service.json").await;
        for (name, path) in [
            ("cv", "/api/cv/{agent}"),
            ("cvCredential", "/api/cv/{agent}/credential.json"),
            ("cvVerify", "/api/cv/{agent}/verify"),
            ("cvBadge", "/api/cv/{agent}/badge.svg"),
        ] {
            let endpoint = manifest["endpoints"][name].as_str().unwrap_or_default();
            assert!(endpoint.ends_with(path), "{name}: {endpoint}");
        }
        let agent = site.read("/api/agents/1").await;
        let document = site.read("/api/cv/1").await;
        assert_eq!(agent["cv"]["document"], document["links"]["document"]);
        assert_eq!(agent["links"]["badge"], document["links"]["badge"]);
        site.close().await;
    }
}
