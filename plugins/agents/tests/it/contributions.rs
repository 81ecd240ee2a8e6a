//! Contributions to extension points: names of authors, counters, status, discovery.

use super::{
    Site,
    script::{
        PAUSED, RETIRED, account, agent, delivered, disputed, done, many_agents, outcome, registered, requested,
        resolved, status, transferred, validated, validation_requested,
    },
};
use plugin_testing::{ScriptedLog, Value, json};
use std::time::Duration;

async fn later(site: &Site, path: &str) -> Value {
    // The gateway caches these documents for a while.
    site.gateway.clock().advance(Duration::from_secs(600)).await;
    site.read(path).await
}

/// What an agent's record says of jobs that others paid for: with an amount, without one, by how many payers, and rated.
async fn arms_length(site: &Site, agent: u64) -> [i64; 4] {
    let input = json!({ "agentId": agent, "owner": account(agent), "claimsMax": 100 });
    let response = site.gateway.send("POST", "/api/probe/record", &[], input.to_string()).await;
    let record = response.json();
    let names = ["paidJobsCompleted", "zeroValueJobs", "distinctPayers", "ratedPaidJobs"];
    names.map(|name| record["armsLength"][name].as_i64().unwrap_or_else(|| panic!("{record}")))
}

/// The author records of these accounts.
async fn authors(site: &Site, accounts: impl IntoIterator<Item = u64>) -> Vec<Value> {
    let asked: Vec<String> = accounts.into_iter().map(account).collect();
    let response = site.gateway.send("POST", "/api/probe", &[], json!({ "addresses": asked }).to_string()).await;
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(site.gateway.faults().await, Vec::<String>::new());
    response.json().as_array().unwrap().clone()
}

async fn author(site: &Site, owner: u64) -> Value {
    let mut authors = authors(site, [owner, 999]).await;
    assert_eq!(authors[1], json!({ "address": account(999), "name": null, "agentId": null }));
    authors.swap_remove(0)
}

fn named(owner: u64, name: &str, id: u64) -> Value {
    json!({ "address": account(owner), "name": name, "agentId": id })
}

async fn sites(blocks: Vec<Vec<ScriptedLog>>) -> Vec<Site> {
    super::sites_with(blocks, |builder| builder.plugin(super::probe::module())).await
}

#[tokio::test]
async fn an_address_is_named_after_its_first_active_agent() {
    let blocks =
        vec![[registered(1, 7, "first", ""), registered(2, 7, "second", ""), registered(3, 7, "third", "")].concat()];
    for site in sites(blocks).await {
        assert_eq!(author(&site, 7).await, named(7, "first", 1));
        site.mine(vec![status(1, PAUSED)]).await;
        assert_eq!(author(&site, 7).await, named(7, "second", 2));
        site.mine(vec![transferred(2, 7, 8)]).await;
        assert_eq!(author(&site, 7).await, named(7, "third", 3));
        assert_eq!(author(&site, 8).await, named(8, "second", 2));
        // Without an active agent, the lowest id.
        site.mine(vec![status(3, RETIRED)]).await;
        assert_eq!(author(&site, 7).await, named(7, "first", 1));
        site.close().await;
    }
}

#[tokio::test]
async fn many_authors_are_named_at_once() {
    for site in sites(many_agents(41)).await {
        for count in [1u64, 2, 8, 9, 40, 41] {
            let names = authors(&site, 1..=count).await;
            assert_eq!(names.len() as u64, count);
            assert!((1..=count).zip(&names).all(|(id, author)| author["agentId"] == id), "{names:?}");
        }
        site.close().await;
    }
}

async fn metrics(site: &Site, period: Value) -> Value {
    let response = site.gateway.send("POST", "/api/probe/leaderboard", &[], period.to_string()).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()
}

#[tokio::test]
async fn owners_are_ranked_by_completed_jobs_and_ratings() {
    let blocks = vec![
        [agent(1), registered(2, 1, "second of 1", ""), agent(3)].concat(),
        [done(1, 1, 50, "0", 4), done(2, 2, 50, "1", 0), done(3, 3, 50, "1", 5)].concat(),
        vec![requested(4, 3, 50, "1"), delivered(4, 4, ""), disputed(4), resolved(4, "0", "1"), outcome(3, true, 0)],
        [done(5, 3, 50, "1", 3), vec![requested(6, 1, 50, "1")]].concat(),
    ];
    for site in sites(blocks).await {
        let (one, three) = (account(1), account(3));
        let all = json!({
            one.clone(): { "completedJobs": 2, "ratingSum": 4, "ratingCount": 1 },
            three.clone(): { "completedJobs": 2, "ratingSum": 8, "ratingCount": 2 },
        });
        assert_eq!(metrics(&site, json!({})).await, all);
        assert_eq!(metrics(&site, json!({ "sinceS": 1_767_225_614 })).await, all);
        // The last block.
        let last = json!({ three: { "completedJobs": 1, "ratingSum": 3, "ratingCount": 1 } });
        assert_eq!(metrics(&site, json!({ "sinceS": 1_767_225_628 })).await, last);
        assert_eq!(metrics(&site, json!({ "sinceS": 1_767_225_629 })).await, json!({}));
        // Completed work belongs to the agent's new owner.
        site.mine(vec![transferred(2, 1, 9)]).await;
        assert_eq!(metrics(&site, json!({})).await[account(9)], json!({ "completedJobs": 1 }));
        site.close().await;
    }
}

#[tokio::test]
async fn a_job_that_a_reorganisation_undoes_counts_for_nobody() {
    for site in sites(vec![agent(1)]).await {
        let counted = async || later(&site, "/api/stats").await["jobsCompleted"].clone();
        site.mine(done(1, 1, 50, "10", 5)).await;
        site.chain.mine_empty(5);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(metrics(&site, json!({})).await[account(1)]["completedJobs"], 1);
        assert_eq!(counted().await, 1);
        site.chain.reorg(6);
        site.chain.mine_empty(7);
        site.gateway.indexed(&site.chain).await;
        assert_eq!(metrics(&site, json!({})).await, json!({}));
        assert_eq!(counted().await, 0);
        site.close().await;
    }
}

#[tokio::test]
async fn what_labelled_addresses_own_and_pay_is_not_counted() {
    for site in sites(Vec::new()).await {
        let open = vec![requested(3, 2, 50, "99")];
        let jobs = [done(1, 1, 50, "10", 5), done(2, 2, 51, "30", 5), open, done(4, 2, 51, "0", 5)].concat();
        site.mine([agent(1), agent(2), jobs].concat()).await;
        let label = async |number: u64| {
            let insert = format!("INSERT INTO probe_labelled (address) VALUES ('{}')", account(number));
            site.gateway.execute(&insert).await;
        };
        let counts = async |expected: [i64; 4], volume: &str| {
            let what = format!("{expected:?} are counted");
            plugin_testing::TestGateway::eventually(Duration::from_secs(60), &what, async || {
                let stats = later(&site, "/api/stats").await;
                let names = ["agents", "activeAgents", "jobs", "jobsCompleted"];
                names.map(|name| stats[name].as_i64().unwrap()) == expected && stats["volumeWei"] == volume
            })
            .await;
        };
        counts([2, 2, 4, 3], "40").await;
        assert_eq!(arms_length(&site, 2).await, [1, 1, 1, 1]);
        // Somebody who paid for a job.
        label(51).await;
        counts([2, 2, 2, 1], "10").await;
        assert_eq!(metrics(&site, json!({})).await[account(2)]["completedJobs"], 2, "the owner did the work");
        assert_eq!(arms_length(&site, 2).await, [0, 0, 0, 0]);
        assert_eq!(arms_length(&site, 1).await, [1, 0, 1, 1], "another client");
        // An owner.
        label(1).await;
        counts([1, 1, 1, 0], "0").await;
        assert_eq!(metrics(&site, json!({})).await[account(1)], Value::Null);
        site.close().await;
    }
}

#[tokio::test]
async fn the_network_is_counted() {
    for site in sites(Vec::new()).await {
        let stats = later(&site, "/api/stats").await;
        for name in ["agents", "activeAgents", "jobs", "jobsCompleted", "validations"] {
            assert_eq!(stats[name], 0, "{name}");
        }
        assert_eq!((&stats["volumeWei"], &stats["feesWei"]), (&json!("0"), &json!("0")));
        site.mine(
            [agent(1), agent(2), vec![status(2, PAUSED)], done(1, 1, 50, "10", 5), done(2, 1, 50, "0", 5)].concat(),
        )
        .await;
        site.mine(vec![
            requested(3, 1, 50, "99"),
            validation_requested(8, 1, "", 1),
            validation_requested(8, 1, "", 2),
        ])
        .await;
        site.mine(vec![validated(8, 1, 1, 3), validated(8, 1, 1, 4)]).await;
        let stats = later(&site, "/api/stats").await;
        let counts = ["agents", "activeAgents", "jobs", "jobsCompleted", "validations"]
            .map(|name| stats[name].as_i64().unwrap());
        assert_eq!(counts, [2, 1, 3, 2, 1]);
        assert_eq!((&stats["volumeWei"], &stats["feesWei"]), (&json!("10"), &json!("2")));
        site.close().await;
    }
}

#[tokio::test]
async fn the_manifest_names_endpoints_and_the_top_agents() {
    let blocks = vec![
        many_agents(13).concat(),
        [
            done(1, 3, 50, "1", 4),
            done(2, 3, 50, "1", 5),
            // As many jobs, but from two clients.
            done(3, 5, 50, "1", 0),
            done(4, 5, 51, "1", 0),
            done(5, 9, 50, "1", 5),
            done(6, 9, 50, "1", 5),
            vec![status(9, PAUSED)],
        ]
        .concat(),
    ];
    for site in sites(blocks).await {
        let manifest = later(&site, "/.well-known/service.json").await;
        for (name, path) in
            [("agents", "/api/agents"), ("jobs", "/api/jobs"), ("erc8004", "/api/agents/{id}/erc8004.json")]
        {
            assert!(manifest["endpoints"][name].as_str().is_some_and(|url| url.ends_with(path)), "{name}");
        }
        let top = manifest["live"]["topAgents"].as_array().unwrap();
        let ids: Vec<i64> = top.iter().map(|agent| agent["id"].as_i64().unwrap()).collect();
        assert_eq!(
            ids,
            [3, 5, 1, 2, 4, 6, 7, 8, 10, 11],
            "active ones, at most ten; of equal ones the better rated first"
        );
        let expected = json!({
            "id": 3, "name": "agent 3", "endpoint": "", "pricePerJob": "5", "jobsCompleted": 2, "ratingAvg": 4.5,
            "online": false,
        });
        assert_eq!(top[0], expected);
        assert_eq!(top[1]["ratingAvg"], Value::Null);
        let card = site.read("/.well-known/agent.json").await;
        assert_eq!(card["topAgents"], manifest["live"]["topAgents"]);
        let skills: Vec<&Value> = card["skills"].as_array().unwrap().iter().map(|skill| &skill["id"]).collect();
        assert!(skills.contains(&&json!("hire-agent")) && skills.contains(&&json!("register-agent")), "{skills:?}");
        assert!(site.gateway.get("/llms.txt").await.text().contains("Agents and jobs"));
        site.close().await;
    }
}

#[tokio::test]
async fn the_status_shows_the_progress_of_probes() {
    for site in sites(vec![registered(1, 1, "a", "https://nowhere.invalid")]).await {
        let cards = later(&site, "/api/status").await["services"]["agentCards"].clone();
        assert_eq!((&cards["agents"], &cards["intervalS"]), (&json!(1), &json!(300)), "{cards}");
        site.gateway.stop().await;
    }
}
