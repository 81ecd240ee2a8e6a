//! Plugins whose claims are missing for now: nobody is told that there are none.

use super::{Site, claims, record, refusal, sites};
use plugin_testing::{Value, json};
use std::time::Duration;

impl Site {
    /// As `read` and `get`, while time passes: it waits for plugins that are missing.
    async fn get_with_patience(&self, path: &str) -> plugin_testing::TestResponse {
        let time = async {
            loop {
                self.gateway.clock().advance(Duration::from_millis(100)).await;
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::select! {
            response = self.get(path) => response,
            () = time => unreachable!("time passes on"),
        }
    }

    async fn execute(&self, statement: &str) {
        self.gateway.execute(statement).await;
    }
}

fn omitted(document: &Value) -> Vec<(&str, &str)> {
    let omitted = document["credentialSubject"]["recordMeta"]["omitted"].as_array().unwrap();
    omitted.iter().map(|one| (one["type"].as_str().unwrap(), one["reason"].as_str().unwrap())).collect()
}

fn why<'d>(document: &'d Value, what: &str) -> Option<&'d str> {
    let excludes = document["credentialSubject"]["recordMeta"]["scope"]["excludes"].as_array().unwrap();
    excludes.iter().find(|exclusion| exclusion["what"] == what).and_then(|found| found["why"].as_str())
}

fn covers(document: &Value, kind: &str) -> bool {
    document["credentialSubject"]["recordMeta"]["scope"]["covers"].as_array().unwrap().contains(&json!(kind))
}

#[tokio::test]
async fn a_plugin_that_fails_is_named_and_not_called_off() {
    for site in sites().await {
        site.execute("ALTER TABLE memory_anchors RENAME TO memory_anchors_away").await;
        let document = site.get_with_patience("/api/cv/1").await.json();
        assert_eq!(omitted(&document), [("MemoryAnchor", "unavailable")]);
        assert!(covers(&document, "MemoryAnchor"));
        assert_eq!(
            (why(&document, "MemoryAnchor"), why(&document, "Stream")),
            (None, Some("the plugin economy is off"))
        );
        assert_eq!(document["credentialSubject"]["recordMeta"]["complete"], false);
        // Once it answers again the record is whole.
        site.execute("ALTER TABLE memory_anchors_away RENAME TO memory_anchors").await;
        let whole = site.read("/api/cv/1").await;
        assert_eq!(omitted(&whole), []);
        // A whole one stands for ten minutes before one without the plugin is issued.
        site.execute("ALTER TABLE memory_anchors RENAME TO memory_anchors_away").await;
        assert_eq!(site.get_with_patience("/api/cv/1").await.json(), whole);
        site.gateway.clock().advance(Duration::from_secs(600)).await;
        assert_eq!(omitted(&site.get_with_patience("/api/cv/1").await.json()), [("MemoryAnchor", "unavailable")]);
        site.gateway.stop().await;
    }
}

#[tokio::test]
async fn without_the_facts_of_agents_there_is_no_document() {
    for site in sites().await {
        site.execute("ALTER TABLE agents_feedback RENAME TO agents_feedback_away").await;
        let refused = site.get_with_patience("/api/cv/1").await;
        assert_eq!(refusal(&refused), (503, "unavailable".to_owned()));
        assert!(refused.text().contains("agents"), "{}", refused.text());
        // The operator's configuration switches it off; this plugin stays.
        let mut config = (*site.gateway.gateway().config).clone();
        config.plugins.sections.entry("agents".to_owned()).or_default().enabled = Some(false);
        site.gateway.gateway().plugins.reconcile(&config).await;
        let refused = site.get("/api/cv/1").await;
        assert_eq!(refusal(&refused), (503, "disabled".to_owned()), "{}", refused.text());
        site.gateway.stop().await;
    }
}

#[tokio::test]
async fn an_index_that_stays_behind_is_named() {
    for site in sites().await {
        let stop =
            "UPDATE host_chain_index SET next_block = next_block - 1, stopped = 'by the test' WHERE plugin = 'x402'";
        site.execute(stop).await;
        let document = site.get_with_patience("/api/cv/1").await.json();
        assert_eq!(omitted(&document), [("X402Payment", "indexing"), ("X402Receipt", "indexing")]);
        assert!(covers(&document, "X402Receipt") && why(&document, "X402Receipt").is_none());
        assert_eq!(claims(&document, "EscrowJob").len(), 2);
        // An index that has no block yet is not the same as none.
        site.execute("UPDATE host_chain_index SET hash = '' WHERE plugin = 'x402'").await;
        site.gateway.clock().advance(Duration::from_secs(24 * 60 * 60)).await;
        let document = site.get_with_patience("/api/cv/1").await.json();
        assert_eq!(omitted(&document), [("X402Payment", "indexing"), ("X402Receipt", "indexing")]);
        site.gateway.stop().await;
    }
}

#[tokio::test]
async fn a_claim_of_this_plugin_that_is_refused_is_missing() {
    for site in sites().await {
        // No reader of JSON has this number exactly.
        let large = super::forged::endorsed((1 << 53) + 1, 1, "sorting");
        site.mine(vec![super::forged::endorsed(1, 1, "digging"), large]).await;
        let document = site.read("/api/cv/1").await;
        assert_eq!(
            (claims(&document, "Endorsement").len(), omitted(&document)),
            (1, vec![("Endorsement", "unproven")])
        );
        site.close().await;
    }
}

/// Fifty times two texts of 90 kB are more than a contribution may have.
#[tokio::test]
async fn a_text_without_bound_costs_its_own_claim() {
    for site in sites().await {
        let large = |client: u64| super::script::feedback_tagged(1, 40 + client, 1, "7", &"x".repeat(90_000));
        site.mine((0..50).map(large).collect()).await;
        let document = site.read("/api/cv/1").await;
        assert_eq!(omitted(&document), [("Feedback", "cap"), ("Feedback", "size")]);
        let meta = &document["credentialSubject"]["recordMeta"];
        assert_eq!((&meta["omitted"][0]["count"], &meta["omitted"][1]["count"]), (&json!(1), &json!(50)));
        assert!(claims(&document, "EscrowJob").len() == 2 && record(&document).len() < 10);
        site.close().await;
    }
}
