//! `GET /api/disputes`

use super::{address, assert_begins_empty, assert_refused, author, finish, fixture, gateways, ids, read, time_of};
use plugin_testing::{ScriptedChain, json};

const DISPUTES: &str = "/api/disputes";

#[tokio::test]
async fn without_events_the_list_is_empty() {
    assert_begins_empty(DISPUTES, &[("contract", "arbiterPool")]).await;
}

#[tokio::test]
async fn a_case_shows_its_job_its_votes_and_its_evidence_in_order() {
    let chain = ScriptedChain::start().await;
    let opening = fixture::case_opened(1, 9, 30).in_transaction("opening");
    let tx = opening.tx.to_string();
    chain.mine(vec![fixture::job(9, 4, 31)]);
    chain.mine(vec![opening, fixture::case_opened(2, 10, 32)]);
    let proofs =
        [fixture::evidence(1, 30, "fmx://b"), fixture::evidence(2, 32, "ä😀"), fixture::evidence(1, 31, "fmx://a")];
    let proofs = proofs.map(|log| log.in_transaction("proofs"));
    let proof_tx = proofs[0].tx.to_string();
    chain.mine(proofs.to_vec());
    chain.mine(vec![fixture::voted(1, 50), fixture::voted(1, 51), fixture::voted(2, 50)]);
    chain.mine(vec![fixture::case_closed(1, 9, 8500)]);
    for gateway in gateways(&chain).await {
        let list = read(&gateway, DISPUTES).await;
        let proof = |id: i64, by: u64, uri: &str| json!({ "id": id, "caseId": 1, "by": address(by), "uri": uri, "ts": time_of(3), "txHash": proof_tx });
        assert_eq!(
            list["items"][1],
            json!({
                "id": 1, "jobId": 9, "opener": author(30), "evidenceURI": "fmx://case/1 \u{fffd} ä😀'\"",
                "openedAt": time_of(2), "votes": 2, "closed": true, "status": "closed", "result": 8500,
                "closedAt": time_of(5), "txOpened": tx, "updatedAtBlock": 5, "agentId": 4, "client": address(31),
                "evidence": [proof(1, 30, "fmx://b"), proof(3, 31, "fmx://a")]
            })
        );
        let open = &list["items"][0];
        assert_eq!([&open["status"], &open["result"], &open["closedAt"]], [&json!("open"), &json!(null), &json!(null)]);
        assert_eq!([&open["agentId"], &open["client"]], [&json!(null), &json!(null)], "its job is not known");
        assert_eq!(open["evidence"][0]["uri"], "ä😀");
        finish(gateway).await;
    }
}

#[tokio::test]
async fn filters_and_pages() {
    let chain = ScriptedChain::start().await;
    chain.mine((1..=4).map(|id| fixture::case_opened(id, 10 + id, 30 + id % 2)).collect());
    chain.mine(vec![fixture::case_closed(2, 12, 0)]);
    for gateway in gateways(&chain).await {
        let odd = address(31).to_lowercase();
        for (query, found) in [
            (String::new(), (vec![4, 3, 2, 1], 4)),
            ("?status=open".to_owned(), (vec![4, 3, 1], 3)),
            ("?status=closed".to_owned(), (vec![2], 1)),
            ("?open=1".to_owned(), (vec![4, 3, 1], 3)),
            ("?open=0".to_owned(), (vec![2], 1)),
            ("?open=0&status=open".to_owned(), (vec![], 0)),
            ("?open=maybe".to_owned(), (vec![4, 3, 2, 1], 4)),
            ("?jobId=13".to_owned(), (vec![3], 1)),
            (format!("?opener={odd}&limit=1&offset=1"), (vec![1], 2)),
        ] {
            assert_eq!(ids(&gateway, &format!("{DISPUTES}{query}")).await, found, "{query}");
        }
        for query in ["?status=Closed", "?jobId=x", "?jobId=0", "?opener=0x"] {
            assert_refused(&gateway, &format!("{DISPUTES}{query}")).await;
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_cached_response_is_dropped_by_the_next_event() {
    let chain = ScriptedChain::start().await;
    chain.mine(vec![fixture::case_opened(1, 9, 30)]);
    let gateways = gateways(&chain).await;
    let mut tags = Vec::new();
    for gateway in &gateways {
        let first = gateway.get(DISPUTES).await;
        assert_eq!(first.json()["items"][0]["votes"], 0);
        let tag = first.headers["etag"].to_str().unwrap().to_owned();
        assert_eq!(gateway.send("GET", DISPUTES, &[("if-none-match", &tag)], "").await.status, 304);
        tags.push(tag);
    }
    // All gateways share the chain: an earlier event would be new to the gateway that is checked later.
    chain.mine(vec![fixture::voted(1, 50)]);
    for (gateway, tag) in gateways.into_iter().zip(tags) {
        gateway.indexed(&chain).await;
        let later = gateway.send("GET", DISPUTES, &[("if-none-match", &tag)], "").await;
        assert_eq!((later.status, &later.json()["items"][0]["votes"]), (200, &json!(1)));
        finish(gateway).await;
    }
}
