//! `GET /api/activity`

use super::{NAMED, author, finish, gateways, ping, probe, publish, publish_as, read, wait};
use plugin_testing::{TestGateway, Value, Wallet, json};

const LOG: &str = "/api/activity";
/// Owns no agent.
const CHECKSUMMED: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

async fn items(gateway: &TestGateway, query: &str) -> Vec<Value> {
    read(gateway, &format!("{LOG}{query}")).await["items"].as_array().expect("items").clone()
}

async fn kinds(gateway: &TestGateway, query: &str) -> Vec<String> {
    let kind = |event: &Value| event["type"].as_str().expect("type").to_owned();
    items(gateway, query).await.iter().map(kind).collect()
}

async fn ids(gateway: &TestGateway, query: &str) -> Vec<i64> {
    items(gateway, query).await.iter().map(|event| event["id"].as_i64().expect("id")).collect()
}

#[tokio::test]
async fn an_empty_log() {
    for gateway in gateways().await {
        let now = gateway.now_s();
        assert_eq!(read(&gateway, LOG).await, json!({ "items": [], "since": 0, "sinceId": 0, "now": now }));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn accounts_are_resolved_and_other_members_unchanged() {
    for gateway in gateways().await {
        let now = gateway.now_s();
        let data = json!({
            "z": 1, "client": CHECKSUMMED.to_lowercase(), "owner": NAMED, "to": "nobody", "a": { "owner": NAMED },
            "winner": null, "payer": 5, "author": NAMED, "ü": "ü"
        });
        publish_as(&gateway, json!({ "type": "job.requested", "actor": NAMED, "about": ["job", "3"], "data": data }))
            .await;
        publish_as(&gateway, json!({ "type": "case.closed", "data": {} })).await;
        let events = items(&gateway, "").await;
        let mut expected = data;
        expected["client"] = author(CHECKSUMMED);
        expected["owner"] = json!({ "address": NAMED, "name": "agent 02", "agentId": 2 });
        assert_eq!(
            events[1],
            json!({
                "id": events[1]["id"], "type": "job.requested", "ts": now, "at": now, "actor": author(NAMED),
                "ref": { "kind": "job", "id": "3" }, "data": expected
            })
        );
        let names: Vec<&String> = events[1]["data"].as_object().unwrap().keys().collect();
        let order = ["z", "client", "owner", "to", "a", "winner", "payer", "author", "ü"];
        assert_eq!(names, order, "members keep their order");
        assert_eq!((&events[0]["actor"], &events[0]["ref"]), (&Value::Null, &Value::Null));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_newest_comes_first_and_positions_cut() {
    for gateway in gateways().await {
        let start = gateway.now_s();
        publish(&gateway, "a.b").await;
        wait(&gateway, 2).await;
        publish(&gateway, "a.b").await;
        publish(&gateway, "a.b").await;
        let all = ids(&gateway, "").await;
        assert!(all.len() == 3 && all.is_sorted_by(|left, right| left > right), "{all:?}");
        for (query, expected) in [
            (format!("?sinceId={}", all[1]), &all[..1]),
            (format!("?sinceId={}", all[0]), &[]),
            (format!("?since={start}"), &all[..2]),
            (format!("?since={}", start - 1), &all[..]),
            (format!("?since={start}&sinceId={}", all[1]), &all[..1]),
            ("?since=0&sinceId=0".to_owned(), &all[..]),
            ("?since=abc&sinceId=x&limit=x".to_owned(), &all[..]),
            ("?limit=1".to_owned(), &all[..1]),
            ("?limit=0".to_owned(), &all[..]),
            ("?limit=-1".to_owned(), &all[..1]),
        ] {
            assert_eq!(ids(&gateway, &query).await, expected, "{query}");
        }
        let echoed = read(&gateway, &format!("{LOG}?since={start}&sinceId=1")).await;
        let positions = (&echoed["since"], &echoed["sinceId"], &echoed["now"]);
        assert_eq!(positions, (&json!(start), &json!(1), &json!(start + 2)));
        finish(gateway).await;
    }
}

#[tokio::test]
async fn pages_have_50_events_and_at_most_200() {
    for gateway in gateways().await {
        for _ in 0..201 {
            publish(&gateway, "a.b").await;
        }
        assert_eq!(ids(&gateway, "").await.len(), 50);
        assert_eq!(ids(&gateway, "?limit=9999").await.len(), 200);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_type_is_exact_and_a_prefix_ends_in_a_dot() {
    for gateway in gateways().await {
        for kind in ["job.a", "job.b", "job", "jobs.a", "kb.write"] {
            publish(&gateway, kind).await;
        }
        assert_eq!(kinds(&gateway, "?type=job.").await, ["job.b", "job.a"]);
        assert_eq!(kinds(&gateway, "?type=job").await, ["job"]);
        assert_eq!(kinds(&gateway, "?type=%20job.a%20").await, ["job.a"]);
        assert_eq!(kinds(&gateway, "?type=").await.len(), 5);
        for nothing in ["jo", "a", "Job.a", "Job.", "j.", ".", "%25", "job._", "job.a.", "_ob."] {
            assert_eq!(kinds(&gateway, &format!("?type={nothing}")).await, Vec::<String>::new(), "{nothing}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_actor_is_found_in_any_case() {
    for gateway in gateways().await {
        let wallet = Wallet::new(1);
        let address = wallet.address();
        publish_as(&gateway, json!({ "type": "its.own", "actor": address, "data": {} })).await;
        publish(&gateway, "an.others").await;
        publish_as(&gateway, json!({ "type": "no.ones", "data": {} })).await;
        for actor in [address.to_owned(), address.to_lowercase(), format!("0x{}", address[2..].to_uppercase())] {
            assert_eq!(kinds(&gateway, &format!("?actor={actor}")).await, ["its.own"], "{actor}");
        }
        assert_eq!(kinds(&gateway, &format!("?actor={address}&type=an.")).await, Vec::<String>::new());
        assert_eq!(kinds(&gateway, &format!("?actor={NAMED}")).await, Vec::<String>::new());
        assert_eq!(kinds(&gateway, "?actor=").await.len(), 3);
        for bad in ["alice", "0x12", "0x", "%25"] {
            let response = gateway.get(&format!("{LOG}?actor={bad}")).await;
            assert_eq!((response.status, response.code()), (400, "bad_request".to_owned()), "{bad}");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn an_event_exists_only_with_its_write() {
    for gateway in gateways().await {
        let event = json!({ "type": "a.b", "data": {}, "fail": true });
        let response = gateway.send("POST", probe::PUBLISH, &[], event.to_string()).await;
        assert_eq!(response.status, 409);
        assert_eq!(items(&gateway, "").await, Vec::<Value>::new());
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_ping_leaves_no_event() {
    for gateway in gateways().await {
        ping(&gateway, &Wallet::new(1), json!({ "status": "here" })).await;
        assert_eq!(items(&gateway, "").await, Vec::<Value>::new());
        finish(gateway).await;
    }
}
