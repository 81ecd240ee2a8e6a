//! The audit export of an agent in a played economy: it has what the log says of its owner, and three programs that share nothing agree
//! on what is right and what is forged.

use super::{calls::owner, chain, setup, start_with_content};
use crate::e2e::{Site, clients, in_time, python};
use gateway_tests::process::GatewayProcess;
use plugin_testing::{TestGateway, Value};
use std::{collections::BTreeSet, fs, process::Stdio};
use tokio::io::AsyncWriteExt as _;

const VALID: Option<i32> = Some(0);
const FORGED: Option<i32> = Some(1);
const NOT_CHECKABLE: Option<i32> = Some(3);

async fn python_accepts(export: &str, signer: &str) -> bool {
    let mut checker = tokio::process::Command::from(python("audit.py"));
    checker.arg(signer).current_dir(clients());
    checker.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let mut checker = checker.spawn().unwrap();
    // One that refuses early reads no further.
    let _ = checker.stdin.take().unwrap().write_all(export.as_bytes()).await;
    let ended = in_time(checker.wait_with_output()).await.unwrap();
    let reason = String::from_utf8_lossy(&ended.stderr);
    assert!(!reason.contains("Traceback"), "{reason}");
    ended.status.success()
}

/// `gateway verify audit`: exit code, and the names of the checks that fail.
fn verified(gateway: &GatewayProcess, export: &str, more: &[&str]) -> (Option<i32>, Vec<String>) {
    let file = gateway.setup().folder().join("audit.jsonl");
    fs::write(&file, export).unwrap();
    let arguments = [&["verify", "audit", file.to_str().unwrap(), "--json"][..], more].concat();
    let finished = gateway.setup().run(&arguments).unwrap();
    let report: Value = serde_json::from_str(&finished.stdout).unwrap_or_default();
    let checks = report["checks"].as_array().cloned().unwrap_or_default();
    let failed =
        checks.iter().filter(|check| check["ok"] == false).map(|check| check["name"].as_str().unwrap().to_owned());
    (finished.code, failed.collect())
}

async fn export(site: &Site, agent: u64, query: &str) -> String {
    let response = site.get(&format!("/api/agents/{agent}/audit.jsonl?{query}")).await;
    assert_eq!(response.status, 200, "{}", response.text());
    response.text()
}

fn lines(export: &str) -> Vec<Value> {
    export.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[tokio::test]
async fn an_export_has_what_the_log_says_of_the_owner() {
    let chain = chain().await;
    let gateway = start_with_content(&setup(&chain)).await;
    let site = Site::of(&gateway);
    let mut types = BTreeSet::new();
    for agent in [1, 2] {
        let activity = site.get("/api/activity?limit=200").await.json();
        let is_line = |event: &&Value| {
            let kind = event["type"].as_str().unwrap();
            event["actor"]["address"] == owner(agent).address()
                && !kind.starts_with("job.")
                && !kind.starts_with("agent.")
        };
        let logged: BTreeSet<i64> = activity["items"]
            .as_array()
            .unwrap()
            .iter()
            .filter(is_line)
            .map(|event| event["id"].as_i64().unwrap())
            .collect();
        let found = lines(&export(&site, agent, "").await);
        types.extend(found.iter().filter_map(|line| line["type"].as_str().map(str::to_owned)));
        let found: BTreeSet<i64> = found.iter().filter_map(|line| line["activityId"].as_i64()).collect();
        assert_eq!(found, logged, "agent {agent}");
    }
    for kind in ["arena.submit", "artifact.publish", "bounty.claim", "tool.publish"] {
        assert!(types.contains(kind), "{types:?}");
    }
    super::assert_no_faults(&gateway).await;
}

#[tokio::test]
async fn three_programs_agree_on_what_is_valid() {
    let chain = chain().await;
    let gateway = setup(&chain).start().await.unwrap();
    let site = Site::of(&gateway);
    let is_indexed =
        async || site.get("/api/agents/1").await.status == 200 && export(&site, 1, "").await.lines().count() > 4;
    TestGateway::eventually(super::LIMIT, "the chain is indexed", is_indexed).await;
    let signer = site.get("/api/health").await.json()["signer"].as_str().unwrap().to_owned();
    for query in ["", "sign=lines", "limit=1", "from=4000000000"] {
        let right = export(&site, 1, query).await;
        assert!(python_accepts(&right, &signer).await, "{query}: {right}");
        let arguments = ["--signer", &signer, "--agent", "1"];
        assert_eq!(verified(&gateway, &right, &arguments), (VALID, Vec::new()), "{query}: {right}");
        assert_eq!(verified(&gateway, &right, &["--agent", "2"]), (FORGED, vec!["expected".to_owned()]));
    }
    let right = export(&site, 1, "sign=lines").await;
    let first = right.lines().next().unwrap();
    let forgeries = [
        right.replacen("AgentRegistered", "AgentSlashed", 1),
        right.replacen(&format!("{first}\n"), "", 1),
        right.replacen(first, &format!("{first}\n{first}"), 1),
        right.replace("\"truncated\":false", "\"truncated\":true"),
        right.replacen("\"seq\":1", "\"seq\":1,\"seq\":1", 1),
        right.trim_end().to_owned(),
    ];
    for forged in forgeries {
        assert_ne!(forged, right);
        assert!(!python_accepts(&forged, &signer).await, "{forged}");
        let (code, failed) = verified(&gateway, &forged, &["--signer", &signer]);
        assert!(code == FORGED && !failed.is_empty(), "{code:?} {failed:?}\n{forged}");
    }
    let stranger = owner(2);
    assert!(!python_accepts(&right, stranger.address()).await);
    assert_eq!(verified(&gateway, &right, &["--signer", stranger.address()]), (FORGED, vec!["expected".to_owned()]));
    for other in ["", "{\"error\":\"unknown agent 9\"}", "<html>"] {
        assert_eq!(verified(&gateway, other, &[]).0, NOT_CHECKABLE, "{other}");
    }
}
