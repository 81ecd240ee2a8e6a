//! The economy that the dev network plays, as the plugins agents and economy serve it: equal, record by record, to
//! `economy.json`, which the dev network read from the contracts.

use super::{builders_with, close, indexed, settings};
use gateway_tests::devnet::Devnet;
use plugin_testing::{TestGateway, Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// Indexed by the contract's number.
const AGENT_STATUS: [&str; 4] = ["None", "Active", "Paused", "Retired"];
const JOB_STATUS: [&str; 7] = ["None", "Open", "Delivered", "Completed", "Refunded", "Disputed", "Resolved"];

/// Paths of equal members in the gateway's response and in `economy.json`; the first is the key.
type Fields = &'static [(&'static str, &'static str)];

const AGENT: Fields = &[
    ("/id", "/id"),
    ("/owner", "/owner"),
    ("/name", "/name"),
    ("/endpoint", "/endpoint"),
    ("/metadataURI", "/metadataURI"),
    ("/pricePerJob", "/pricePerJob"),
    ("/bond", "/bond"),
    ("/registeredAt", "/registeredAt"),
    ("/status", "/status"),
    ("/jobsCompleted", "/jobsCompleted"),
    ("/jobsFailed", "/jobsFailed"),
    ("/ratingCount", "/ratingCount"),
    ("/ratingSum", "/ratingSum"),
];
const JOB: Fields = &[
    ("/id", "/id"),
    ("/agentId", "/agentId"),
    ("/client", "/client"),
    ("/amount", "/amount"),
    ("/inputHash", "/inputHash"),
    ("/inputURI", "/inputURI"),
    ("/outputHash", "/outputHash"),
    ("/outputURI", "/outputURI"),
    ("/createdAt", "/createdAt"),
    ("/deliveredAt", "/deliveredAt"),
    ("/status", "/status"),
    ("/rating", "/rating"),
];
const STREAM: Fields = &[
    ("/id", "/id"),
    ("/payer/address", "/payer"),
    ("/payee/address", "/payee"),
    ("/ratePerSec", "/ratePerSec"),
    ("/deposit", "/deposit"),
    ("/claimed", "/withdrawn"),
    ("/start", "/start"),
    ("/stop", "/stop"),
    ("/cancelled", "/cancelled"),
];
const PLAN: Fields =
    &[("/id", "/id"), ("/payee/address", "/payee"), ("/pricePerPeriod", "/price"), ("/active", "/active")];
const SUB: Fields = &[
    ("/id", "/id"),
    ("/planId", "/planId"),
    ("/payer/address", "/payer"),
    ("/paidThrough", "/paidThrough"),
    ("/cancelled", "/cancelled"),
];
const DISPUTE: Fields = &[
    ("/id", "/id"),
    ("/jobId", "/jobId"),
    ("/opener/address", "/opener"),
    ("/votes", "/votes"),
    ("/closed", "/closed"),
    ("/result", "/result"),
];
const TOKEN: Fields = &[
    ("/token", "/token"),
    ("/agentId", "/agentId"),
    ("/symbol", "/symbol"),
    ("/buys", "/buys"),
    ("/sells", "/sells"),
    ("/fmxIn", "/fmxIn"),
    ("/distributed", "/distributed"),
];
const ACCOUNT: Fields = &[("/account", "/account"), ("/owner", "/owner")];

#[tokio::test]
async fn the_economy_of_the_dev_network_is_shown_as_it_was_played() {
    let devnet = Devnet::start_with(&["--agents", "12", "--jobs", "60"]).await.unwrap();
    let economy = devnet.economy().unwrap();
    let agents = rows(&economy["agents"], |agent| agent["status"] = word(&AGENT_STATUS, &agent["status"]));
    let jobs = rows(&economy["jobs"], as_answered);
    assert_eq!(words(&agents), AGENT_STATUS[1..].iter().copied().collect());
    assert_eq!(words(&jobs), JOB_STATUS[1..].iter().copied().collect());
    for list in ["streams", "plans", "subs", "cases", "tokens", "accounts"] {
        assert!(!rows(&economy[list], |_| ()).is_empty(), "nobody played {list}");
    }
    for builder in builders_with(&settings(&devnet), &[agents::plugin_module(), economy::plugin_module()]).await {
        let gateway = builder.start().await;
        indexed(&gateway, &devnet).await;
        assert_same(&gateway, "/api/agents", AGENT, &agents).await;
        assert_same(&gateway, "/api/jobs", JOB, &jobs).await;
        let lists = [
            ("/api/streams", STREAM, "streams"),
            ("/api/streams/plans", PLAN, "plans"),
            ("/api/streams/subs", SUB, "subs"),
            ("/api/disputes", DISPUTE, "cases"),
            ("/api/tokens", TOKEN, "tokens"),
            ("/api/accounts", ACCOUNT, "accounts"),
        ];
        for (path, fields, list) in lists {
            assert_same(&gateway, path, fields, &rows(&economy[list], |_| ())).await;
        }
        close(gateway).await;
    }
}

fn rows(list: &Value, as_answered: impl Fn(&mut Value)) -> Vec<Value> {
    let mut rows = list.as_array().unwrap().clone();
    rows.iter_mut().for_each(as_answered);
    rows
}

fn word(words: &[&str], number: &Value) -> Value {
    words[usize::try_from(number.as_u64().unwrap()).unwrap()].into()
}

/// Zeros of the contract are null in responses.
fn as_answered(job: &mut Value) {
    job["status"] = word(&JOB_STATUS, &job["status"]);
    if job["deliveredAt"] == "0" {
        for name in ["outputHash", "outputURI", "deliveredAt"] {
            job[name] = Value::Null;
        }
    }
    if job["status"] != "Completed" {
        job["rating"] = Value::Null;
    }
}

fn words(rows: &[Value]) -> BTreeSet<&str> {
    rows.iter().filter_map(|row| row["status"].as_str()).collect()
}

/// A cancelled subscription keeps its end in the gateway, and not in the contract.
fn comparable(row: &mut Value) {
    if row["cancelled"] == true && row["paidThrough"] != Value::Null {
        row["paidThrough"] = "cancelled".into();
    }
}

/// All records, and in each all fields.
async fn assert_same(gateway: &TestGateway, path: &str, fields: Fields, played: &[Value]) {
    let answer = gateway.get(&format!("{path}?limit=200")).await.json();
    let (shown, played) = (rows(&answer["items"], comparable), rows(&json!(played), comparable));
    let shown: Vec<_> = shown.iter().map(|row| fields.iter().map(|(ours, _)| row.pointer(ours)).collect()).collect();
    let played: Vec<_> = played.iter().map(|row| fields.iter().map(|(_, its)| row.pointer(its)).collect()).collect();
    assert_eq!(by_key(path, shown), by_key(path, played), "{path} on {}", gateway.dialect());
}

/// Amounts and times are texts in `economy.json`.
fn by_key(path: &str, rows: Vec<Vec<Option<&Value>>>) -> BTreeMap<String, Vec<String>> {
    let text = |field: Option<&Value>| match field {
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
        None => panic!("{path} lacks a field: {}", json!(rows)),
    };
    let rows = rows.iter().map(|row| row.iter().copied().map(text).collect::<Vec<_>>());
    rows.map(|row| (row[0].clone(), row)).collect()
}
