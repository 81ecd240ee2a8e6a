//! `GET /api/bounties/{id}`

use super::{BOUNTIES, citing, id, owner, poster, sites, sites_with};
use plugin_testing::json;

#[tokio::test]
async fn claims_stand_in_their_order_with_names_of_today() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        for agent in [2, 1, 3] {
            assert_eq!(site.claim(bounty, &owner(agent), json!({ "agentId": agent, "pitch": "p" })).await.status, 201);
        }
        let read = site.read(&format!("{BOUNTIES}/{bounty}")).await;
        let claims = read["claims"].as_array().unwrap();
        let agents: Vec<i64> = claims.iter().map(|claim| claim["agentId"].as_i64().unwrap()).collect();
        assert_eq!((agents, &read["claimCount"]), (vec![2, 1, 3], &json!(3)));
        assert!(id(&claims[0]) < id(&claims[1]));
        // Agent 3 belongs to the owner of agent 1, whose author record names the lower id.
        let author = json!({ "address": owner(3).address(), "name": "agent 1", "agentId": 1 });
        assert_eq!((&claims[2]["claimer"], &claims[2]["agentName"]), (&author, &json!("agent 3")));
        assert_eq!(claims[2]["agent"], json!({ "agentId": 3, "name": "agent 3" }));
        site.close().await;
    }
}

#[tokio::test]
async fn claims_of_the_operators_agents_are_counted_apart() {
    let gateway = |builder: plugin_testing::Builder| builder.config("bounties", json!({ "house_agents": [2, 9] }));
    for site in sites_with(gateway).await {
        let bounty = site.post("T", json!({})).await;
        for agent in [1, 2, 3] {
            site.claim(bounty, &owner(agent), json!({ "agentId": agent, "pitch": "p" })).await;
        }
        let read = site.read(&format!("{BOUNTIES}/{bounty}")).await;
        assert_eq!((&read["claimCount"], &read["houseClaimCount"]), (&json!(2), &json!(1)));
        let gateway: Vec<&serde_json::Value> =
            read["claims"].as_array().unwrap().iter().map(|claim| &claim["house"]).collect();
        assert_eq!(gateway, [&json!(false), &json!(true), &json!(false)]);
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_is_shown_with_its_status() {
    for site in sites().await {
        let bounty = site.post("T", json!({})).await;
        site.mine(vec![citing(7, 2, bounty)]).await;
        let read = site.read(&format!("{BOUNTIES}/{bounty}")).await;
        assert_eq!(
            (&read["status"], &read["jobId"], &read["jobStatus"]),
            (&json!("awarded"), &json!(7), &json!("Open"))
        );
        assert_eq!((&read["awardedAgentId"], &read["awardedAgentName"]), (&json!(2), &json!("agent 2")));
        assert_eq!(read["poster"]["address"], poster().address());
        assert!(read["awardedAt"].as_i64().is_some() && read["completedAt"].is_null());
        site.close().await;
    }
}

#[tokio::test]
async fn a_bounty_that_is_not_there_is_404() {
    for site in sites().await {
        for id in ["1", "0", "-1", "abc", "1.5", "99999999999999999999"] {
            let response = site.gateway.get(&format!("{BOUNTIES}/{id}")).await;
            assert_eq!((response.status, response.code().as_str()), (404, "not_found"), "{id}");
        }
        site.close().await;
    }
}
