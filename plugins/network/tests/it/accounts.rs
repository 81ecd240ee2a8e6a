//! AgentAccounts count as their owners, whenever they are created.

use super::{account_created, agent, each, job, settled};
use crate::script::{account, registered_by};
use plugin_testing::json;

#[tokio::test]
async fn an_account_counts_as_its_owner() {
    let logs = [
        agent(1, 11),
        agent(2, 12),
        vec![account_created(12, 60), account_created(11, 61)],
        job(1, 1, 12, "5", 5),
        job(2, 1, 60, "6", 3),
        job(3, 1, 60, "1", 0),
        // To the account of agent 1's owner, from both.
        vec![settled(12, 61, "2", 1), settled(60, 11, "3", 2), settled(60, 61, "4", 3)],
    ];
    each(logs.concat(), async |site| {
        assert_eq!(site.edges("").await, ["hire 12>1 3 12", "x402 12>1 3 9"]);
        let graph = site.graph("").await;
        let hire = &graph["edges"][0];
        let members = ["from", "fromAgentId", "ratedJobs", "avgRating", "jobIds"].map(|name| hire[name].clone());
        assert_eq!(members, [json!(account(12)), json!(2), json!(2), json!(4.0), json!([3, 2, 1])]);
        assert_eq!(graph["total"], 2);
        assert_eq!(site.edges("minJobs=3").await.len(), 2);
        assert_eq!(site.edges("minJobs=4").await.len(), 0);
    })
    .await;
}

#[tokio::test]
async fn what_an_account_did_before_it_was_created_is_folded_then() {
    let before = [
        agent(1, 11),
        job(1, 1, 60, "5", 0),
        job(2, 1, 12, "6", 0),
        job(3, 1, 61, "7", 0),
        vec![settled(50, 62, "1", 1), settled(50, 63, "2", 2), settled(50, 11, "4", 3), settled(62, 62, "8", 4)],
    ];
    each(before.concat(), async |site| {
        assert_eq!(site.edges("").await, ["hire 61>1 1 7", "hire 12>1 1 6", "hire 60>1 1 5", "x402 50>1 1 4"]);
        site.mine(vec![account_created(12, 60), account_created(12, 61)]).await;
        assert_eq!(site.edges("").await, ["hire 12>1 3 18", "x402 50>1 1 4"]);
        site.mine(vec![account_created(11, 62), account_created(11, 63)]).await;
        assert_eq!(site.edges("").await, ["hire 12>1 3 18", "x402 11>1 1 8", "x402 50>1 3 7"]);
        assert_eq!(site.graph("").await["total"], 3);
        // Sums go on by the address that pays.
        site.mine([job(4, 1, 61, "1", 0), vec![settled(50, 63, "1", 5)]].concat()).await;
        assert_eq!(site.edges("").await, ["hire 12>1 4 19", "x402 50>1 4 8", "x402 11>1 1 8"]);
        // Neither another owner nor a circle changes anything.
        site.mine(vec![account_created(13, 60), account_created(60, 12), account_created(70, 70)]).await;
        assert_eq!(site.edges("").await, ["hire 12>1 4 19", "x402 50>1 4 8", "x402 11>1 1 8"]);
    })
    .await;
}

#[tokio::test]
async fn an_account_of_an_account_counts_as_the_last_owner() {
    let logs = [agent(1, 11), job(1, 1, 62, "5", 0), vec![account_created(61, 62), account_created(60, 61)]];
    each(logs.concat(), async |site| {
        assert_eq!(site.edges("").await, ["hire 60>1 1 5"]);
        site.mine(vec![account_created(12, 60), account_created(62, 63)]).await;
        assert_eq!(site.edges("").await, ["hire 12>1 1 5"]);
        site.mine(job(2, 1, 63, "1", 0)).await;
        assert_eq!(site.edges("").await, ["hire 12>1 2 6"]);
    })
    .await;
}

#[tokio::test]
async fn an_agent_that_an_account_registered_stands_for_the_owner() {
    let logs = [
        agent(1, 11),
        vec![account_created(12, 60)],
        registered_by(2, &account(60), "Two", ""),
        registered_by(3, &account(61), "Three", ""),
        job(1, 1, 12, "5", 0),
        job(2, 2, 11, "4", 0),
        job(3, 3, 11, "3", 0),
        vec![settled(11, 60, "2", 1), settled(11, 61, "1", 2)],
    ];
    each(logs.concat(), async |site| {
        let graph = site.graph("limit=2").await;
        assert_eq!((&graph["edges"][0]["fromAgentId"], &graph["edges"][1]["to"]), (&json!(2), &json!(account(12))));
        assert_eq!(site.edges("kind=x402").await, ["x402 11>2 1 2", "x402 11>3 1 1"]);
        // Agent 3 is his, too, so he is paid as agent 2.
        site.mine(vec![account_created(12, 61)]).await;
        assert_eq!(site.edges("").await, ["hire 12>1 1 5", "hire 11>2 1 4", "x402 11>2 2 3", "hire 11>3 1 3"]);
        assert_eq!(site.graph("").await["total"], 4);
    })
    .await;
}
