//! `GET /a/{slug}/.well-known/agent.json`

use super::{is, refusal, script::registered, sites};

#[tokio::test]
async fn it_is_the_same_card() {
    for site in sites(registered(1, 7, "Data Miner", "https://a.example")).await {
        for headers in [&[][..], &[("a2a-version", "1.0")], &[("a2a-version", "0.3")]] {
            let get =
                async |name: &str| site.gateway.send("GET", &format!("/a/1/.well-known/{name}"), headers, "").await;
            let (old, new) = (get("agent.json").await, get("agent-card.json").await);
            assert_eq!((old.status, old.json()), (200, new.json()));
            for header in ["etag", "cache-control", "vary"] {
                assert_eq!(old.headers[header], new.headers[header], "{header}");
            }
        }
        site.close().await;
    }
}

#[tokio::test]
async fn an_unknown_agent_has_no_card() {
    for site in sites(registered(1, 7, "Data Miner", "")).await {
        let response = site.gateway.get("/a/nobody/.well-known/agent.json").await;
        assert_eq!(refusal(&response), is(404, "not_found"));
        site.close().await;
    }
}
