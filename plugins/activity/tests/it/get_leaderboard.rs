//! `GET /api/leaderboard`

use super::{NAMED, NAMELESS, finish, gateways, probe, read, wait};
use futures_util::future::join_all;
use plugin_testing::{TestGateway, Value, json};

const LEADERBOARD: &str = "/api/leaderboard";
const MONTH_S: i64 = 2_592_000;

async fn did(gateway: &TestGateway, by_period: Value) {
    let response = gateway.send("POST", probe::DID, &[], by_period.to_string()).await;
    assert_eq!(response.status, 204, "{}", response.text());
}

fn ranks(period: &Value) -> Vec<(&str, i64)> {
    let entries = period.as_array().unwrap().iter();
    entries.map(|entry| (entry["address"].as_str().unwrap(), entry["rank"].as_i64().unwrap())).collect()
}

#[tokio::test]
async fn without_anything_done_the_board_is_empty_and_tells_its_rules() {
    for gateway in gateways().await {
        let now = gateway.now_s();
        assert_eq!(
            read(&gateway, LEADERBOARD).await,
            json!({
                "periods": { "30d": [], "all": [] },
                "weights": {
                    "completedJobs": 10, "forumPosts": 1, "kbEdits": 3, "artifacts": 5, "starsReceived": 2,
                    "arenaWins": 20, "ratingBonus": 4
                },
                "since30d": now - MONTH_S,
                "generatedAt": now
            })
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn each_period_is_collected_and_ranked_separately() {
    for gateway in gateways().await {
        let month = (gateway.now_s() - MONTH_S).to_string();
        let all =
            json!({ NAMED: { "completedJobs": 3, "ratingSum": 9, "ratingCount": 2 }, NAMELESS: { "arenaWins": 1 } });
        did(&gateway, json!({ month: { NAMELESS: { "forumPosts": 7 } }, "all": all })).await;
        let board = read(&gateway, LEADERBOARD).await;
        assert_eq!(ranks(&board["periods"]["30d"]), [(NAMELESS, 1)]);
        assert_eq!(ranks(&board["periods"]["all"]), [(NAMED, 1), (NAMELESS, 2)]);
        assert_eq!(
            board["periods"]["all"][0],
            json!({
                "address": NAMED, "name": "agent 02", "agentId": 2, "completedJobs": 3, "ratingAvg": 4.5,
                "ratingCount": 2, "forumPosts": 0, "kbEdits": 0, "artifacts": 0, "starsReceived": 0, "arenaWins": 0,
                "score": 48, "rank": 1
            })
        );
        finish(gateway).await;
    }
}

#[tokio::test]
async fn the_limit_is_per_period_50_unless_said_and_200_at_most() {
    for gateway in gateways().await {
        let many: Value = (1..=230_u32)
            .map(|number| (format!("0x{number:040x}"), json!({ "forumPosts": 1 })))
            .collect::<serde_json::Map<_, _>>()
            .into();
        did(&gateway, json!({ "all": many })).await;
        for (query, count) in [("", 50), ("?limit=1", 1), ("?limit=9999", 200), ("?limit=0", 50), ("?limit=much", 50)] {
            let board = read(&gateway, &format!("{LEADERBOARD}{query}")).await;
            assert_eq!(board["periods"]["all"].as_array().unwrap().len(), count, "{query}");
            assert_eq!(board["periods"]["all"][0]["address"], NAMELESS, "the lowest address of equals");
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn one_result_serves_for_five_seconds() {
    for gateway in gateways().await {
        read(&gateway, LEADERBOARD).await;
        did(&gateway, json!({ "all": { NAMED: { "artifacts": 1 } } })).await;
        wait(&gateway, 4).await;
        let kept = read(&gateway, LEADERBOARD).await;
        assert_eq!((ranks(&kept["periods"]["all"]), kept["generatedAt"].as_i64()), (vec![], Some(gateway.now_s() - 4)));
        wait(&gateway, 1).await;
        assert_eq!(ranks(&read(&gateway, LEADERBOARD).await["periods"]["all"]), [(NAMED, 1)]);
        finish(gateway).await;
    }
}

#[tokio::test]
async fn who_comes_while_it_is_made_waits_for_it() {
    for gateway in gateways().await {
        for times in 1..=2 {
            let boards = join_all((0..8).map(|_| read(&gateway, LEADERBOARD))).await;
            assert!(boards.iter().all(|board| board == &boards[0]));
            assert_eq!(read(&gateway, probe::ASKED).await, json!(times));
            wait(&gateway, 5).await;
        }
        finish(gateway).await;
    }
}

#[tokio::test]
async fn a_contribution_of_another_shape_is_left_out() {
    for gateway in gateways().await {
        for part in [json!(["no map"]), json!({ "no address": {} }), json!({ NAMED: { "artifacts": -1 } }), json!(null)]
        {
            did(&gateway, json!({ "all": part })).await;
            wait(&gateway, 5).await;
            assert_eq!(read(&gateway, LEADERBOARD).await["periods"]["all"], json!([]), "{part}");
            let faults = gateway.faults().await;
            assert!(faults.len() == 1 && faults[0].starts_with("probe: ") && faults[0].contains("shape"), "{faults:?}");
        }
        gateway.stop().await;
    }
}

/// Also when it comes so often that a plugin with as many faults is fenced.
#[tokio::test]
async fn names_of_another_shape_are_the_fault_of_who_contributes_them() {
    for gateway in gateways().await {
        did(&gateway, json!({ "all": { NAMED: { "artifacts": 1 } }, "names": "a text" })).await;
        for _ in 0..30 {
            let board = read(&gateway, LEADERBOARD).await;
            assert_eq!(board["periods"]["all"][0]["name"], Value::Null);
        }
        let reports = gateway.reports().await;
        let faults = |name: &str| reports.iter().find(|report| report.name == name).map(|report| report.faults);
        assert_eq!(faults("activity"), Some(0));
        assert!(faults("probe") > Some(10), "{reports:?}");
        gateway.stop().await;
    }
}
