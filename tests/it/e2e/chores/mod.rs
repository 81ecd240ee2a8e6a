//! The README's commands that build something first, as written there, with the profile of the tests.

mod buy_the_coin;
mod check_an_agent;
mod get_paid;
mod new_wallet;
mod ten_minutes;
mod typed;

use super::{Site, clients, node, run, sent_requests::SentRequests};
use gateway_tests::process::{GatewayProcess, LIMIT, Setup, clean};
use plugin_testing::TestGateway;
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// What a chore prints.
fn xtask(arguments: &[&str]) -> String {
    let mut cargo = clean("cargo");
    cargo.current_dir(repository()).env("XTASK_PROFILE", "dev").arg("xtask").args(arguments);
    said(&mut cargo)
}

fn said(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A program that is this command in this folder, wherever it is called.
pub(super) fn program(scripts: &Path, folder: &Path, command: &str) -> PathBuf {
    let program = scripts.join("command");
    let script = format!("#!/bin/sh\ncd '{}' && export XTASK_PROFILE=dev && exec {command}\n", folder.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

/// It serves with every plugin. Without a folder for plugins it takes the one of its binary, as on a fresh machine.
async fn serving(program: PathBuf) -> GatewayProcess {
    let gateway = Setup::new(program).unwrap().unset("plugins.dir").start().await.unwrap();
    let index = Site::of(&gateway).get("/api").await.text();
    for route in ["/api/forum/threads", "/api/stream", "/api/hello/{name}"] {
        assert!(index.contains(route), "{route} is missing in {index}");
    }
    gateway
}

async fn assert_serves(program: PathBuf) {
    assert!(serving(program).await.terminate(LIMIT).await.unwrap().success());
}

#[tokio::test]
async fn cargo_xtask_dev_starts_a_gateway_with_every_plugin_and_a_chain_that_ends_with_it() {
    // Builds, as the command does first, and says what may follow `--`.
    assert!(xtask(&["dev", "--", "--help"]).contains("--listen"));
    assert!(xtask(&["dev", "--help"]).contains("--block-time"));
    let scripts = tempfile::tempdir().unwrap();
    let mut gateway = serving(program(scripts.path(), &repository(), "cargo xtask dev --block-time 1")).await;
    let site = Site::of(&gateway);
    TestGateway::eventually(LIMIT, "the chain's head is known", || async {
        services(&site).await["chain"]["ok"] == true
    })
    .await;
    let rpc = services(&site).await["rpc"].clone();
    assert_eq!(rpc["chainId"], 3961);
    let chain = rpc["url"].as_str().unwrap().to_owned();
    assert!(reqwest::get(&chain).await.is_ok());
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    TestGateway::eventually(LIMIT, "the chain ends with the gateway", || async {
        reqwest::get(&chain).await.is_err_and(|error| error.is_connect())
    })
    .await;
}

#[tokio::test]
async fn cargo_xtask_dev_starts_a_gateway_without_a_chain_where_node_is_missing_and_says_so() {
    xtask(&["dev", "--", "--help"]);
    let scripts = tempfile::tempdir().unwrap();
    let cargo = said(Command::new("sh").args(["-c", "dirname $(command -v cargo)"]));
    let command = format!("env PATH={} cargo xtask dev", cargo.trim());
    let setup = Setup::new(program(scripts.path(), &repository(), &command)).unwrap().unset("plugins.dir");
    let mut gateway = setup.start().await.unwrap();
    assert_eq!(services(&Site::of(&gateway)).await["rpc"]["enabled"], false);
    assert!(setup.log().contains("without a chain: node is not installed"), "{}", setup.log());
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}

async fn services(site: &Site) -> serde_json::Value {
    site.get("/api/status").await.json()["services"].clone()
}

/// The script that README.md quotes, as a newcomer runs it after `cargo xtask dev`.
#[tokio::test]
async fn an_agent_has_the_day_of_the_readme() {
    xtask(&["dev", "--", "--help"]);
    let scripts = tempfile::tempdir().unwrap();
    let gateway = serving(program(scripts.path(), &repository(), "cargo xtask dev --block-time 1")).await;
    let site = Site::of(&gateway);
    let sent = SentRequests::to(&gateway).await;
    let printed = run(node("agents_day.mjs"), &[&sent.base_url]).await;
    assert_eq!(sent.with_named_targets(), ["claim_bounty", "star_artifact"]);
    let steps: Vec<_> = printed.lines().filter_map(|line| line.split_once(": ")).collect();
    let [("registered", agent), ("found", bounty), ("delivered", payload), ("starred by 1", artifact)] = steps[..]
    else {
        panic!("{printed}")
    };
    let agent = site.get(agent).await.json();
    assert_eq!((&agent["name"], &agent["status"]), (&"Price collector".into(), &"Active".into()));
    let bounty = site.get(bounty).await.json();
    assert_eq!((&bounty["status"], &bounty["claims"][0]["agentId"]), (&"open".into(), &agent["id"]));
    let csv = site.get(payload).await;
    assert_eq!((csv.status, csv.text().as_str()), (200, "day,price\n1,7\n2,8\n"));
    let artifact = site.get(artifact).await.json();
    assert_eq!(artifact["owner"]["address"], agent["owner"]);
    assert!(payload.ends_with(artifact["payloadHash"].as_str().unwrap()), "{artifact}");
    assert_eq!(artifact["stargazers"][0]["address"], bounty["poster"]["address"]);
    let day = ["artifact.star", "artifact.publish", "bounty.claim", "agent.registered", "bounty.create"];
    let people = [&agent["owner"], &bounty["poster"]["address"]];
    for event in day {
        // By type: what the index finds in the past of the chain may come after the day, and fills pages.
        let page = format!("/api/activity?type={event}&limit=200");
        TestGateway::eventually(LIMIT, event, || async {
            let activity = site.get(&page).await.text();
            people.iter().any(|person| activity.contains(&person.to_string()))
        })
        .await;
    }
}

#[tokio::test]
async fn cargo_run_starts_a_gateway_with_every_plugin() {
    // Builds first, so that the start takes no longer than others do.
    let version = said(clean("cargo").current_dir(repository()).args(["run", "--", "version"]));
    assert!(version.contains(env!("CARGO_PKG_VERSION")), "{version}");
    let scripts = tempfile::tempdir().unwrap();
    assert_serves(program(scripts.path(), &repository(), "cargo run")).await;
}

#[tokio::test]
async fn cargo_xtask_dist_makes_a_folder_that_serves_elsewhere() {
    let elsewhere = tempfile::tempdir().unwrap();
    let printed = xtask(&["dist", elsewhere.path().to_str().unwrap()]);
    let mut made = fs::read_dir(elsewhere.path()).unwrap().map(|entry| entry.unwrap().path());
    // Beside a Debian package.
    let folder = made.find(|path| path.is_dir()).unwrap();
    assert!(printed.contains(folder.to_str().unwrap()), "{printed}");
    let sums = said(Command::new("sha256sum").current_dir(&folder).args(["--check", "--strict", "SHA256SUMS"]));
    assert!(sums.contains("gateway: OK") && sums.contains("plugins/libforum.so: OK"), "{sums}");
    assert!(!sums.contains("hello"), "nobody runs the tutorial: {sums}");
    let scripts = tempfile::tempdir().unwrap();
    let setup = Setup::new(program(scripts.path(), &folder, "./gateway run")).unwrap();
    let setup = setup.unset("plugins.dir").unset("plugins.hello.enabled");
    let mut gateway = setup.start().await.unwrap();
    let index = Site::of(&gateway).get("/api").await.text();
    assert!(index.contains("/api/forum/threads") && index.contains("/api/stream"), "{index}");
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}

/// Whether jobs work and all servers respond alike; the numbers of a debug build mean nothing. Of each kind of job the shortest: all of them
/// take ten minutes.
#[test]
fn cargo_xtask_bench_measures_jobs() {
    let jobs = ["list", "stream", "arena", "past"];
    let said = xtask(&[&["bench", "--smoke"][..], &jobs].concat());
    let titles = ["A list of 50 rows", "A live event", "Bursts", "A ranking after each vote", "The past of a chain"];
    for title in titles {
        assert!(said.contains(title), "{title} is missing in {said}");
    }
}

#[test]
#[ignore = "takes ten minutes, as `cargo xtask bench --smoke`"]
fn cargo_xtask_bench_measures_every_job() {
    let said = xtask(&["bench", "--smoke"]);
    for title in ["A signed write", "Storing a payload of 256 KiB", "Signed writes on PostgreSQL"] {
        assert!(said.contains(title), "{title} is missing in {said}");
    }
}

#[test]
fn cargo_xtask_fuzz_runs_a_target() {
    // It fails when there is no such target, or when the target does.
    xtask(&["fuzz", "configuration", "1"]);
}

#[test]
fn cargo_xtask_abuse_measures_every_abuse() {
    let said = xtask(&["abuse", "1"]);
    for abuse in
        ["slow heads", "searches", "malformed heads", "torture bodies", "HTTP/2 rapid reset", "HTTP/2 header bomb"]
    {
        assert!(said.contains(abuse), "{abuse} is missing in {said}");
    }
}
