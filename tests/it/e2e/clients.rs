//! Real clients against the real gateway: viem, ethers, eth-account, EventSource. Their scripts lie in `tests/clients`.
//!
//! The rule: what a client needs and this machine lacks is a failure that names the command, never a test that is left out.

use super::{
    setup,
    site::{Site, THREADS},
};
use gateway_tests::process::GatewayProcess;
use plugin_testing::Value;
use std::{
    path::{Path, PathBuf},
    process::Command,
};

fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

fn node(script: &str) -> Command {
    let packages = clients().join("node_modules");
    assert!(
        packages.is_dir(),
        "{} is missing: `npm ci` in tests/clients makes it, as `cargo xtask test` does",
        packages.display()
    );
    let mut command = Command::new("node");
    command.arg(script);
    command
}

fn python(script: &str) -> Command {
    let python = clients().join("../../target/venv/bin/python");
    assert!(
        python.is_file(),
        "{} is missing: `python3 -m venv target/venv` and `target/venv/bin/python -m pip install -r \
         tests/clients/requirements.txt` make it, as `cargo xtask test` does",
        python.display()
    );
    let mut command = Command::new(python);
    command.arg(script);
    command
}

/// Runs a client to its end and answers what it printed.
async fn run(mut command: Command, arguments: &[&str]) -> String {
    command.args(arguments).current_dir(clients());
    let ended = tokio::task::spawn_blocking(move || command.output()).await.unwrap();
    let output = ended.expect("the program of the client is on the path");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What the client says it wrote and heard is what everybody else finds.
async fn assert_story(gateway: &GatewayProcess, printed: &str, title: &str) {
    let told: Value = serde_json::from_str(printed).unwrap();
    let site = Site::of(gateway);
    let thread = site.get(&format!("{THREADS}/{}", told["thread"])).await.json();
    assert_eq!((&thread["title"], &thread["postCount"]), (&title.into(), &2.into()));
    let activity = site.get("/api/activity").await.json();
    let mut logged: Vec<Value> = activity["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect();
    logged.reverse();
    assert_eq!(told["events"], Value::from(logged));
}

#[tokio::test]
async fn viem_and_event_source_tell_the_story() {
    let gateway = setup().start().await.unwrap();
    let printed = run(node("story.mjs"), &["viem", gateway.base_url()]).await;
    assert_story(&gateway, &printed, "By viem").await;
}

#[tokio::test]
async fn ethers_and_event_source_tell_the_story() {
    let gateway = setup().start().await.unwrap();
    let printed = run(node("story.mjs"), &["ethers", gateway.base_url()]).await;
    assert_story(&gateway, &printed, "By ethers").await;
}

#[tokio::test]
async fn eth_account_tells_the_story() {
    let gateway = setup().start().await.unwrap();
    let printed = run(python("story.py"), &[gateway.base_url()]).await;
    assert_story(&gateway, &printed, "By eth-account").await;
}

/// The script that README.md quotes, as a newcomer runs it.
#[tokio::test]
async fn the_first_request_of_the_readme_works() {
    let gateway = setup().start().await.unwrap();
    let printed = run(node("first_request.mjs"), &[gateway.base_url()]).await;
    assert!(printed.starts_with("201 {"), "{printed}");
    let threads = Site::of(&gateway).get(THREADS).await.json();
    assert_eq!((&threads["total"], &threads["items"][0]["title"]), (&1.into(), &"Hello".into()));
}
