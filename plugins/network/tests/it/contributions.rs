//! What the documents for agents say.

use super::{agent, each};

#[tokio::test]
async fn agents_learn_of_it() {
    each(agent(1, 11), async |site| {
        let manifest = site.read("/.well-known/service.json").await;
        for (name, path) in [
            ("network", "/api/network"),
            ("networkGraph", "/api/network/graph.svg"),
            ("networkSimilar", "/api/network/similar/{agent}"),
        ] {
            let url = manifest["endpoints"][name].as_str().unwrap();
            assert!(url.ends_with(path), "{name}: {url}");
        }
        let card = site.read("/.well-known/agent.json").await;
        let skills = card["skills"].as_array().unwrap();
        assert!(skills.iter().any(|skill| skill["id"] == "hiring-graph"), "{skills:?}");
        assert_eq!(card["endpoints"]["networkGraph"], manifest["endpoints"]["networkGraph"]);
        let briefing = site.gateway.get("/llms.txt").await.text();
        assert!(
            briefing.contains("/api/network/graph.svg") && briefing.contains("/api/network/similar/"),
            "{briefing}"
        );
    })
    .await;
}
