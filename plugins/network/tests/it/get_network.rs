//! `GET /api/network`.

use super::{MAX, NETWORK, agent, each, job, named, priced, settled};
use crate::script::{account, completed, disputed, refunded, requested_by, resolved, transferred};
use plugin_testing::json;

#[tokio::test]
async fn an_empty_graph_has_every_member() {
    each(agent(1, 11), async |site| {
        let graph = site.graph("").await;
        let counts = json!({
            "nodes": 0, "edges": 0, "hireEdges": 0, "x402Edges": 0, "externalClients": 0, "agentToAgentEdges": 0,
        });
        let members = ["nodes", "edges", "total", "counts", "chainId", "provenance"].map(|name| graph[name].clone());
        assert_eq!(members, [json!([]), json!([]), json!(0), counts, json!(3961), json!("chain")]);
        assert!(graph["note"].is_string() && graph["caution"].is_string());
        for query in ["agentId=1", "agentId=99", "minJobs=2", "capability=x", "kind=x402", "unknown=1&limit=x"] {
            assert_eq!(site.graph(query).await["edges"], json!([]), "{query}");
        }
    })
    .await;
}

#[tokio::test]
async fn jobs_and_vouchers_are_summed_by_their_parties() {
    let logs = [
        agent(1, 11),
        agent(2, 12),
        job(1, 1, 12, "5", 4),
        job(2, 1, 12, "7", 5),
        job(3, 1, 50, "1", 0),
        vec![settled(50, 12, "20", 1), settled(50, 12, "1", 2), settled(50, 99, "1000", 3)],
        // Not settled: open, refunded, disputed; and a job of nobody.
        vec![requested_by(4, 2, &account(50), "900", "")],
        vec![requested_by(5, 2, &account(50), "900", ""), refunded(5, "900", false)],
        vec![requested_by(6, 2, &account(50), "900", ""), disputed(6)],
        vec![requested_by(7, 77, &account(50), "900", ""), completed(7, "900", 5)],
        vec![requested_by(8, 2, &account(11), "3", ""), disputed(8), resolved(8, "1", "2")],
    ];
    each(logs.concat(), async |site| {
        assert_eq!(site.edges("").await, ["x402 50>2 2 21", "hire 12>1 2 12", "hire 11>2 1 3", "hire 50>1 1 1"]);
        let graph = site.graph("").await;
        let counts = json!({
            "nodes": 2, "edges": 4, "hireEdges": 3, "x402Edges": 1, "externalClients": 1, "agentToAgentEdges": 2,
        });
        assert_eq!((&graph["total"], &graph["counts"]), (&json!(4), &counts));
        let mut hire = graph["edges"][1].clone();
        let (first, last) = (hire["firstAt"].as_i64().unwrap(), hire["lastAt"].as_i64().unwrap());
        assert!(first > 0 && first <= last, "{first} {last}");
        hire.as_object_mut().unwrap().retain(|name, _| !matches!(name.as_str(), "firstAt" | "lastAt"));
        let expected = json!({
            "kind": "hire", "from": account(12), "fromAgentId": 2, "fromName": "Agent 2", "to": account(11), "toAgentId": 1,
            "toName": "Agent 1", "jobs": 2, "volumeWei": "12", "ratedJobs": 2, "avgRating": 4.5, "jobIds": [2, 1],
            "provenance": "chain", "proven": true, "source": "escrow: JobCompleted, JobResolved",
        });
        assert_eq!(hire, expected);
        let voucher = &graph["edges"][0];
        let members = ["fromAgentId", "fromName", "avgRating", "ratedJobs", "jobIds"].map(|name| voucher[name].clone());
        assert_eq!(members, [json!(null), json!(null), json!(null), json!(0), json!([])]);
        let nodes: Vec<_> = graph["nodes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|node| ["agentId", "hired", "hiredBy", "jobsCompleted"].map(|name| node[name].as_i64().unwrap()))
            .collect();
        assert_eq!(nodes, [[1, 1, 2, 0], [2, 1, 2, 0]]);
        let mut node = graph["nodes"][0].clone();
        node.as_object_mut().unwrap().retain(|name, _| name != "hired" && name != "hiredBy" && name != "jobsCompleted");
        let expected = json!({
            "agentId": 1, "name": "Agent 1", "slug": "agent-1", "owner": account(11), "status": "Active", "capabilities": [],
            "pricePerJobWei": "5", "ratingAvg": null, "cv": null,
        });
        assert_eq!(node, expected);
    })
    .await;
}

#[tokio::test]
async fn filters_are_joined_by_and() {
    let logs = [
        agent(1, 11),
        agent(2, 12),
        agent(3, 12),
        job(1, 1, 12, "5", 0),
        job(2, 1, 12, "5", 0),
        job(3, 3, 11, "4", 0),
        job(4, 2, 50, "3", 0),
        vec![settled(11, 12, "2", 1), settled(50, 11, "1", 2)],
    ];
    each(logs.concat(), async |site| {
        site.declare(1, &["Translate_DE", "ünïcode"]).await;
        site.declare(3, &["transcribe"]).await;
        site.knows_capabilities(3).await;
        let all = ["hire 12>1 2 10", "hire 11>3 1 4", "hire 50>2 1 3", "x402 11>2 1 2", "x402 50>1 1 1"];
        for (query, expected) in [
            ("", vec![0, 1, 2, 3, 4]),
            ("kind=all&limit=x", vec![0, 1, 2, 3, 4]),
            ("limit=2", vec![0, 1]),
            ("limit=-1", vec![0]),
            ("kind=hire", vec![0, 1, 2]),
            ("kind=x402", vec![3, 4]),
            ("minJobs=2", vec![0]),
            ("minJobs=99999999999999999999", vec![]),
            ("agentId=1", vec![0, 1, 3, 4]),
            // The owner's first agent stands for what he pays; the other one for its own jobs alone.
            ("agentId=2", vec![0, 2, 3]),
            ("agentId=3", vec![1]),
            ("agentId=3&kind=x402", vec![]),
            ("agentId=99999999999999999999", vec![]),
            ("capability=TRANS", vec![0, 1, 4]),
            ("capability=trans&kind=x402", vec![4]),
            ("capability=e_d", vec![0, 4]),
            ("capability=%25", vec![]),
            ("capability=a%5C", vec![]),
            ("capability=%C3%9CN%C3%8F", vec![0, 4]),
            ("capability=trans&minJobs=2&agentId=2&other=1", vec![0]),
        ] {
            let expected: Vec<&str> = expected.into_iter().map(|number: usize| all[number]).collect();
            assert_eq!(site.edges(query).await, expected, "{query}");
            let total = site.graph(query).await["total"].clone();
            assert!(total == expected.len() || query.contains("limit") && total == all.len(), "{query}: {total}");
        }
        let node = &site.graph("agentId=3").await["nodes"][0];
        assert_eq!((&node["agentId"], &node["capabilities"]), (&json!(3), &json!(["transcribe"])));
        // A card that changes.
        site.declare(1, &[]).await;
        site.declare(3, &["transcribe", &"x".repeat(201), &"y".repeat(200)]).await;
        site.knows_capabilities(2).await;
        assert_eq!(site.edges("capability=translate").await, Vec::<String>::new());
        assert_eq!(site.edges(&format!("capability={}", "y".repeat(200))).await, [all[1]]);
    })
    .await;
}

#[tokio::test]
async fn a_malformed_filter_is_refused() {
    each(Vec::new(), async |site| {
        for query in ["kind=jobs", "kind=HIRE", "agentId=x", "agentId=0", "agentId=-1", "minJobs=0", "minJobs=1.5"] {
            let response = site.gateway.get(&format!("{NETWORK}?{query}")).await;
            let name = query.split('=').next().unwrap();
            let error = response.json()["error"].as_str().unwrap().to_owned();
            assert_eq!((response.status, response.code().as_str()), (400, "bad_request"), "{query}");
            assert!(error.starts_with(&format!("{name}:")), "{query}: {error}");
        }
    })
    .await;
}

#[tokio::test]
async fn an_edge_follows_the_agent_to_its_new_owner() {
    let logs = [agent(1, 11), agent(2, 12), agent(3, 12), job(1, 2, 50, "5", 0), vec![settled(50, 12, "1", 1)]];
    each(logs.concat(), async |site| {
        assert_eq!(site.edges("").await, ["hire 50>2 1 5", "x402 50>2 1 1"]);
        site.mine(vec![transferred(2, 12, 11)]).await;
        // The job was that of agent 2; what was paid to 12 is now that of his agent 3.
        assert_eq!(site.edges("").await, ["hire 50>2 1 5", "x402 50>3 1 1"]);
        assert_eq!(site.graph("").await["edges"][0]["to"], account(11));
        site.mine(vec![transferred(3, 12, 11)]).await;
        assert_eq!(site.edges("").await, ["hire 50>2 1 5"]);
        assert_eq!(site.graph("").await["total"], 1, "nobody's agent was paid");
    })
    .await;
}

#[tokio::test]
async fn volumes_are_exact_and_sorted_up_to_the_largest_number() {
    let half = "57896044618658097711785492504343953926634992332820282019728792003956564819968";
    let below = "57896044618658097711785492504343953926634992332820282019728792003956564819967";
    let logs = [
        agent(1, 11),
        job(1, 1, 50, half, 0),
        job(2, 1, 51, below, 0),
        job(3, 1, 52, "9", 0),
        job(4, 1, 53, "10", 0),
        job(5, 1, 54, MAX, 0),
        job(6, 1, 54, MAX, 0),
        job(7, 1, 55, below, 0),
        job(8, 1, 55, half, 0),
        job(9, 1, 56, "0", 0),
        vec![settled(50, 11, half, 1), priced(1, MAX)],
    ];
    each(logs.concat(), async |site| {
        let expected = [
            format!("hire 54>1 2 {MAX}"),
            format!("hire 55>1 2 {MAX}"),
            format!("hire 50>1 1 {half}"),
            format!("x402 50>1 1 {half}"),
            format!("hire 51>1 1 {below}"),
            "hire 53>1 1 10".to_owned(),
            "hire 52>1 1 9".to_owned(),
            "hire 56>1 1 0".to_owned(),
        ];
        assert_eq!(site.edges("").await, expected);
        assert_eq!(site.edges("limit=3").await, expected[..3]);
        assert_eq!(site.graph("").await["nodes"][0]["pricePerJobWei"], MAX);
    })
    .await;
}

#[tokio::test]
async fn an_edge_names_its_newest_fifty_jobs() {
    let jobs = (1..=60).flat_map(|id| job(id, 1, 50, "1", 3)).collect();
    each([agent(1, 11), jobs].concat(), async |site| {
        let edge = &site.graph("").await["edges"][0];
        let ids: Vec<i64> = edge["jobIds"].as_array().unwrap().iter().map(|id| id.as_i64().unwrap()).collect();
        assert_eq!(ids, (11..=60).rev().collect::<Vec<_>>());
        assert_eq!((&edge["jobs"], &edge["ratedJobs"], &edge["avgRating"]), (&json!(60), &json!(60), &json!(3.0)));
    })
    .await;
}

#[tokio::test]
async fn names_are_returned_as_they_are() {
    let name = "</title><script>alert(1)</script> \u{202e}evil\u{0} ä😀'\"&";
    each([named(1, 11, name), job(1, 1, 50, "1", 0)].concat(), async |site| {
        let graph = site.graph("").await;
        let shown = graph["edges"][0]["toName"].as_str().unwrap();
        assert_eq!(shown.replace('\u{fffd}', "\u{0}"), name);
        assert_eq!(graph["nodes"][0]["name"], shown);
    })
    .await;
}

#[tokio::test]
async fn an_unchanged_graph_is_not_sent_again() {
    each([agent(1, 11), job(1, 1, 50, "1", 0)].concat(), async |site| {
        let first = site.gateway.get(NETWORK).await;
        assert_eq!(first.header("cache-control"), "public, max-age=30");
        let tag = first.header("etag").to_owned();
        let again = site.gateway.send("GET", NETWORK, &[("if-none-match", &tag)], Vec::<u8>::new()).await;
        assert_eq!(again.status, 304);
        site.mine(job(2, 1, 50, "1", 0)).await;
        let changed = site.gateway.send("GET", NETWORK, &[("if-none-match", &tag)], Vec::<u8>::new()).await;
        assert_eq!((changed.status, changed.json()["edges"][0]["jobs"].clone()), (200, json!(2)));
    })
    .await;
}

/// Few edges that match are sorted, of many the largest are read from the index of all: both must find the same.
#[tokio::test]
async fn filters_find_the_same_edges_whether_few_match_or_many() {
    let mut logs = [agent(1, 11), agent(2, 12)].concat();
    for client in 0..60 {
        let amount = (7 * client % 61 + 1).to_string();
        for round in 0..2 {
            logs.extend(job(1 + 2 * client + round, 1, 100 + client, &amount, 5));
        }
        logs.extend(job(1000 + client, 2, 100 + client, "1", 5));
        logs.extend([
            settled(100 + client, 12, &amount, 2 * client),
            settled(100 + client, 12, &amount, 2 * client + 1),
        ]);
    }
    // Nobody's agent: no edge.
    logs.extend([settled(100, 99, "500", 900), settled(100, 99, "500", 901)]);
    each(logs, async |site| {
        site.declare(1, &["Translate"]).await;
        site.declare(2, &["other", "transcribe"]).await;
        site.knows_capabilities(3).await;
        for (query, total) in [
            ("minJobs=2", 120),
            ("minJobs=2&kind=x402", 60),
            ("minJobs=2&kind=hire", 60),
            ("capability=trans", 180),
            ("capability=translate&minJobs=2", 60),
            ("capability=transcribe", 120),
            ("capability=transcribe&kind=x402&minJobs=2", 60),
        ] {
            let (all, few) =
                (site.graph(&format!("{query}&limit=1000")).await, site.graph(&format!("{query}&limit=1")).await);
            assert_eq!((&all["total"], &few["total"]), (&json!(total), &json!(total)), "{query}");
            let edges = all["edges"].as_array().unwrap();
            assert_eq!((edges.len(), few["edges"].as_array().map(Vec::len)), (total, Some(1)), "{query}");
            assert_eq!(few["edges"][0], edges[0], "{query}");
            let volume = |edge: &plugin_testing::Value| edge["volumeWei"].as_str().unwrap().parse::<u64>().unwrap();
            assert!(edges.windows(2).all(|pair| volume(&pair[0]) >= volume(&pair[1])), "{query}");
        }
        for query in ["minJobs=3", "capability=transcribe&kind=hire&minJobs=2", "capability=nothing"] {
            let graph = site.graph(query).await;
            assert_eq!((&graph["total"], &graph["edges"]), (&json!(0), &json!([])), "{query}");
        }
    })
    .await;
}
