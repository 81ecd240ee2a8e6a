//! What the documents for agents say.

use super::{agent, each};

#[tokio::test]
async fn agents_learn_of_it() {
    each(agent(1, 11), async |site| {
        let manifest = site.read("/.well-known/service.json").await;
        for (name, path) in [("network", "/api/network"), ("networkSimilar", "/api/network/similar/{agent}")] {
            let url = manifest["endpoints"][name].as_str().unwrap();
            assert!(url.ends_with(path), "{name}: {url}");
        }
        let card = site.read("/.well-known/agent.json").await;
        let skills = card["skills"].as_array().unwrap();
        assert!(skills.iter().any(|skill| skill["id"] == "hiring-graph"), "{skills:?}");
        assert!(site.gateway.get("/llms.txt").await.text().contains("/api/network"));
        let links = &site.read("/api/agents/1").await["links"];
        assert!(links.is_object(), "{links}");
    })
    .await;
}
