//! `GET /api/agents/{id}`

use super::{
    records,
    script::{
        PAUSED, RETIRED, account, agent, bond, done, hash, outcome, registered, slashed, status, transferred, updated,
        validated, validation_requested,
    },
    sites, sites_with,
};
use plugin_testing::{Builder, json};

/// The other documents are other plugins'.
#[tokio::test]
async fn an_agent_names_no_document_that_nobody_serves() {
    for site in sites(vec![agent(1)]).await {
        let agent = site.read("/api/agents/1").await;
        let own = "http://127.0.0.1:8080/api/agents/1/erc8004.json";
        assert_eq!(
            agent["links"],
            json!({
                "a2a": null, "invoke": null, "x402": null, "erc8004": own, "audit": null, "cv": null, "credential": null,
                "badge": null,
            })
        );
        assert_eq!(agent["cv"], json!(null));
        site.close().await;
    }
}

#[tokio::test]
async fn an_agent_names_its_other_documents() {
    let with_records = |builder: Builder| builder.plugin(records::plugin_module());
    for site in sites_with(vec![registered(1, 7, "Data Miner é", "")], with_records).await {
        let base = "http://127.0.0.1:8080";
        let agent = site.read("/api/agents/1").await;
        assert_eq!(
            agent["links"],
            json!({
                "a2a": format!("{base}/a/1/.well-known/agent.json"),
                "invoke": format!("{base}/a/1/invoke"), "x402": format!("{base}/api/x402/supported"),
                "erc8004": format!("{base}/api/agents/1/erc8004.json"),
                "audit": format!("{base}/api/agents/1/audit.jsonl"),
                "cv": format!("{base}/api/cv/1"),
                "credential": format!("{base}/api/cv/1/credential.json"),
                "badge": format!("{base}/api/cv/1/badge.svg"),
            })
        );
        let mut cv = agent["cv"].clone();
        assert!(cv["description"].as_str().is_some_and(|text| !text.is_empty()));
        cv.as_object_mut().unwrap().remove("description");
        assert_eq!(
            cv,
            json!({
                "document": format!("{base}/api/cv/1"), "credential": format!("{base}/api/cv/1/credential.json"),
                "verify": format!("{base}/api/cv/1/verify"), "badge": format!("{base}/api/cv/1/badge.svg"),
                "bySlug": format!("{base}/api/cv/data-miner-e"), "audit": format!("{base}/api/agents/1/audit.jsonl"),
                "memoryAnchors": format!("{base}/api/memory/anchors?agentId=1"),
                "network": format!("{base}/api/network?agentId=1"),
                "similar": format!("{base}/api/network/similar/1"),
            })
        );
        assert_eq!(agent["validation"], json!({ "count": 0, "avgResponse": null, "latest": null }));
        // The list shows a part of the record.
        let listed = site.read("/api/agents").await["items"][0].clone();
        for (member, value) in listed.as_object().unwrap() {
            assert_eq!(agent[member], *value, "{member}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn an_unknown_agent_is_not_found() {
    for site in sites(vec![agent(1)]).await {
        for unknown in ["2", "0", "-1", "abc", "1.5", "99999999999999999999", "%00"] {
            let response = site.gateway.get(&format!("/api/agents/{unknown}")).await;
            assert_eq!((response.status, response.json()["code"].as_str()), (404, Some("not_found")), "{unknown}");
        }
        site.close().await;
    }
}

#[tokio::test]
async fn each_event_of_the_registry_changes_what_it_says() {
    for site in sites(vec![agent(1)]).await {
        let steps = [
            (
                updated(1, "https://new", "ipfs://n", "77"),
                json!({ "endpoint": "https://new", "metadataURI": "ipfs://n", "pricePerJob": "77" }),
            ),
            (status(1, PAUSED), json!({ "status": "Paused" })),
            (status(1, 1), json!({ "status": "Active" })),
            (bond(1, "250"), json!({ "bond": "250" })),
            (slashed(1, "50"), json!({ "bond": "250" })),
            (bond(1, "200"), json!({ "bond": "200" })),
            (outcome(1, true, 4), json!({ "jobsCompleted": 1, "ratingCount": 1, "ratingSum": 4, "ratingAvg": 4.0 })),
            (outcome(1, true, 5), json!({ "jobsCompleted": 2, "ratingCount": 2, "ratingSum": 9, "ratingAvg": 4.5 })),
            (outcome(1, true, 0), json!({ "jobsCompleted": 3, "ratingCount": 2, "ratingSum": 9 })),
            (outcome(1, false, 0), json!({ "jobsFailed": 1, "jobsCompleted": 3 })),
            (transferred(1, 1, 9), json!({ "owner": account(9) })),
            (status(1, RETIRED), json!({ "status": "Retired" })),
            (bond(1, "0"), json!({ "bond": "0" })),
        ];
        for (log, expected) in steps {
            site.mine(vec![log.clone()]).await;
            let agent = site.read("/api/agents/1").await;
            for (member, value) in expected.as_object().unwrap() {
                assert_eq!(agent[member], *value, "{member} after {log:?}");
            }
        }
        assert_eq!(site.read("/api/agents").await["total"], 1);
        site.close().await;
    }
}

#[tokio::test]
async fn events_of_agents_that_never_registered_change_nothing() {
    for site in sites(vec![agent(1)]).await {
        let strange =
            [updated(5, "e", "m", "1"), status(5, PAUSED), bond(5, "1"), slashed(5, "1"), outcome(5, true, 5)];
        site.mine([strange.into(), vec![transferred(5, 1, 2)], done(1, 5, 50, "10", 5)].concat()).await;
        assert_eq!(site.gateway.get("/api/agents/5").await.status, 404);
        assert_eq!(site.read("/api/agents").await["total"], 1);
        // A job of an agent that is not indexed is indexed as well.
        let job = site.read("/api/jobs/1").await;
        assert_eq!(
            (&job["agentId"], &job["agentName"], &job["status"]),
            (&json!(5), &json!(null), &json!("Completed"))
        );
        site.close().await;
    }
}

#[tokio::test]
async fn validations_are_summed_up_and_the_newest_is_shown() {
    let blocks = vec![
        [agent(1), agent(2)].concat(),
        vec![validation_requested(8, 1, "ipfs://work", 1), validation_requested(8, 2, "ipfs://other", 2)],
        vec![validated(8, 1, 1, 80), validated(8, 2, 2, 1)],
        vec![validation_requested(9, 1, "ipfs://more", 3)],
    ];
    for site in sites(blocks).await {
        let validation = site.read("/api/agents/1").await["validation"].clone();
        assert_eq!((&validation["count"], &validation["avgResponse"]), (&json!(1), &json!(80)));
        let latest = validation["latest"].as_object().unwrap();
        assert_eq!(latest["requestHash"], hash(3));
        assert_eq!(
            (&latest["response"], &latest["tag"], &latest["txResponse"]),
            (&json!(null), &json!(null), &json!(null))
        );
        // The latest response to a request counts.
        site.mine(vec![validated(9, 1, 3, 91), validated(8, 1, 1, 60)]).await;
        let validation = site.read("/api/agents/1").await["validation"].clone();
        assert_eq!((&validation["count"], &validation["avgResponse"]), (&json!(2), &json!(76)));
        assert_eq!((&validation["latest"]["response"], &validation["latest"]["tag"]), (&json!(91), &json!("quality")));
        assert_eq!(validation["latest"]["validator"], account(9));
        site.close().await;
    }
}

#[tokio::test]
async fn only_the_20_newest_validations_are_summed_up() {
    let mut blocks = vec![agent(1), vec![validation_requested(8, 1, "", 1), validated(8, 1, 1, 100)]];
    blocks.push((2..=21).flat_map(|n| [validation_requested(8, 1, "", n), validated(8, 1, n, 50)]).collect());
    for site in sites(blocks).await {
        let validation = site.read("/api/agents/1").await["validation"].clone();
        assert_eq!((&validation["count"], &validation["avgResponse"]), (&json!(20), &json!(50)));
        assert_eq!(validation["latest"]["requestHash"], hash(21));
        site.close().await;
    }
}
