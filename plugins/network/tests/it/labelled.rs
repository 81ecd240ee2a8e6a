//! Labelled addresses, which another plugin names: the operator's own traffic is nobody's hiring.

use super::{LIMIT, NETWORK, Site, account, agent, each_with, job, probe, settled};
use plugin_testing::{TestGateway, Value, json};
use std::time::Duration;

impl Site {
    async fn label(&self, number: u64) {
        let insert = format!("INSERT INTO probe_labelled (address) VALUES ('{}')", account(number));
        self.gateway.execute(&insert).await;
    }

    /// Lets time pass until the number of all edges leaves out those with a label.
    async fn counts(&self, total: i64) {
        let what = format!("{total} edges are counted");
        TestGateway::eventually(LIMIT, &what, async || {
            self.gateway.clock().advance(Duration::from_secs(60)).await;
            self.graph("").await["total"] == total
        })
        .await;
    }

    /// With a limit that no request had before: a cached response knows nothing of a label that was not written by the gateway.
    async fn totals(&self, queries: &[&str], limit: usize) -> Vec<Value> {
        let mut totals = Vec::new();
        for query in queries {
            totals.push(self.graph(&format!("{query}&limit={limit}")).await["total"].clone());
        }
        totals
    }

    /// Agents that are like the first one, with the number of clients in common.
    async fn similar(&self) -> Vec<(i64, i64)> {
        let list = self.read(&format!("{NETWORK}/similar/1?limit=25")).await;
        let items = list["items"].as_array().unwrap().iter();
        items.map(|item| (item["agentId"].as_i64().unwrap(), item["clientsInCommon"].as_i64().unwrap())).collect()
    }
}

#[tokio::test]
async fn what_labelled_addresses_pay_and_own_is_left_out() {
    let logs = [
        agent(1, 11),
        agent(2, 12),
        agent(3, 13),
        job(1, 1, 50, "9", 5),
        job(2, 1, 51, "8", 5),
        job(3, 2, 50, "7", 5),
        job(4, 2, 51, "6", 5),
        job(5, 2, 51, "0", 5),
        job(6, 3, 50, "5", 5),
        vec![settled(50, 12, "4", 1), settled(51, 12, "3", 2), settled(13, 12, "2", 3)],
    ];
    let configure = |builder: plugin_testing::Builder| builder.plugin(probe::module());
    each_with(logs.concat(), configure, async |site| {
        let queries = ["", "kind=hire", "kind=x402", "agentId=2", "minJobs=2"];
        let hires = ["hire 50>1 1 9", "hire 51>1 1 8", "hire 50>2 1 7", "hire 51>2 2 6", "hire 50>3 1 5"];
        let paid = ["x402 50>2 1 4", "x402 51>2 1 3", "x402 13>2 1 2"];
        assert_eq!(site.edges("").await, [&hires[..], &paid[..]].concat());
        assert_eq!(site.totals(&queries, 80).await, [8, 5, 3, 5, 1]);
        for id in 1..=3 {
            site.declare(id, &["dig"]).await;
        }
        site.knows_capabilities(3).await;
        assert_eq!(site.similar().await, [(2, 2), (3, 1)]);

        // A client.
        site.label(51).await;
        site.counts(5).await;
        assert_eq!(site.edges("").await, [hires[0], hires[2], hires[4], paid[0], paid[2]]);
        assert_eq!(site.totals(&queries, 81).await, [5, 3, 2, 3, 0]);
        assert_eq!(site.totals(&["capability=dig", "capability=dig&kind=x402"], 81).await, [5, 2]);
        assert_eq!(site.similar().await, [(2, 1), (3, 1)]);

        // An owner, who pays as well.
        site.label(13).await;
        site.counts(3).await;
        assert_eq!(site.edges("").await, [hires[0], hires[2], paid[0]]);
        assert_eq!(site.totals(&queries, 82).await, [3, 2, 1, 2, 0]);
        assert_eq!(site.edges("agentId=3").await, Vec::<String>::new());
        assert_eq!(site.similar().await, [(2, 1)]);
        let nodes = site.graph("").await["counts"]["nodes"].clone();
        assert_eq!(nodes, 2);
        TestGateway::eventually(LIMIT, "the picture is drawn", async || {
            site.gateway.clock().advance(Duration::from_secs(60)).await;
            let picture = site.gateway.get(&format!("{NETWORK}/graph.svg")).await.text();
            picture.contains("Agent 2") && !picture.contains("Agent 3")
        })
        .await;
    })
    .await;
}

/// Those with a label are taken off what an index counts.
#[tokio::test]
async fn filters_count_no_labelled_edge() {
    let logs = [
        agent(1, 11),
        agent(2, 12),
        job(1, 1, 50, "9", 5),
        job(2, 1, 50, "9", 5),
        job(3, 1, 51, "8", 5),
        job(4, 1, 51, "8", 5),
        job(5, 2, 50, "7", 5),
        job(6, 2, 12, "7", 5),
        vec![settled(50, 12, "4", 1), settled(50, 12, "4", 2), settled(51, 12, "3", 3)],
    ];
    let configure = |builder: plugin_testing::Builder| builder.plugin(probe::module());
    each_with(logs.concat(), configure, async |site| {
        site.declare(1, &["dig"]).await;
        site.declare(2, &["dig deep"]).await;
        site.knows_capabilities(2).await;
        let queries =
            ["minJobs=2", "capability=dig", "capability=deep", "capability=dig&minJobs=2", "capability=deep&kind=x402"];
        assert_eq!(site.totals(&queries, 90).await, [3, 6, 4, 3, 2]);
        site.label(50).await;
        assert_eq!(site.totals(&queries, 91).await, [1, 3, 2, 1, 1]);
        // An edge whose both ends have one is taken off once.
        site.label(12).await;
        assert_eq!(site.totals(&queries, 92).await, [1, 1, 0, 1, 0]);
        for query in queries {
            let graph = site.graph(query).await;
            assert_eq!(json!(graph["edges"].as_array().unwrap().len()), graph["total"], "{query}");
        }
    })
    .await;
}
