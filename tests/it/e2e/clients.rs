//! Real clients against the real gateway: viem, ethers, eth-account, EventSource. Their scripts lie in `tests/clients`.
//!
//! The rule: a package that this machine lacks fails the test with the command that installs it; no test is skipped.

use super::{
    sent_requests::SentRequests,
    setup,
    site::{Site, THREADS, in_time},
};
use gateway_tests::process::LIMIT;
use plugin_testing::{Value, Wallet};
use std::{
    path::{Path, PathBuf},
    process::{Command, Stdio},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::ChildStdout,
};

pub fn clients() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("clients")
}

/// A script in `tests/clients`, with the packages of its folder.
pub fn node(script: &str) -> Command {
    let folder = clients().join(script).parent().map(Path::to_owned).unwrap();
    let packages = folder.join("node_modules");
    assert!(
        packages.is_dir(),
        "{} is missing: `npm ci` in {} makes it, as `cargo xtask test` does",
        packages.display(),
        folder.display()
    );
    let mut command = Command::new("node");
    command.arg(script);
    command
}

pub fn python(script: &str) -> Command {
    let mut command = installed("python");
    command.arg(script);
    command
}

/// schemathesis, which finds its settings in the folder of the clients.
pub fn schemathesis() -> Command {
    installed("st")
}

/// The validator of files against JSON Schema, which brings the schemas of well-known formats.
pub fn check_jsonschema() -> Command {
    installed("check-jsonschema")
}

/// A program of the Python environment.
fn installed(program: &str) -> Command {
    let program = clients().join("../../target/venv/bin").join(program);
    assert!(
        program.is_file(),
        "{} is missing: `python3 -m venv target/venv` and `target/venv/bin/python -m pip install -r \
         tests/clients/requirements.txt` make it, as `cargo xtask test` does",
        program.display()
    );
    Command::new(program)
}

/// Runs a client to its end and answers what it printed.
pub async fn run(mut command: Command, arguments: &[&str]) -> String {
    command.args(arguments).current_dir(clients());
    let ended = tokio::task::spawn_blocking(move || command.output()).await.unwrap();
    let output = ended.expect("the program of the client is on the path");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    printed
}

/// Asks a client that reads one JSON document from standard input, and answers the one that it prints.
pub async fn ask(command: Command, question: &Value) -> Value {
    let mut client = tokio::process::Command::from(command);
    client
        .current_dir(clients())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    let mut client = client.spawn().expect("the program of the client is on the path");
    let (mut input, question) = (client.stdin.take().unwrap(), question.to_string());
    let write = tokio::spawn(async move { input.write_all(question.as_bytes()).await });
    let output = client.wait_with_output().await.unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}{}", String::from_utf8_lossy(&output.stderr));
    write.await.unwrap().unwrap();
    serde_json::from_str(&printed).unwrap()
}

/// An EventSource in a process of its own that prints a line for each event.
struct EventSourceProcess {
    _process: tokio::process::Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl EventSourceProcess {
    /// When this returns, the stream is open.
    async fn start(url: &str) -> Self {
        let mut command = tokio::process::Command::from(node("follow.mjs"));
        command.arg(url).current_dir(clients()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut process = command.spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let mut listener = Self { _process: process, lines };
        assert_eq!(listener.line().await, "open");
        listener
    }

    async fn line(&mut self) -> String {
        in_time(self.lines.next_line()).await.unwrap().expect("the listener goes on")
    }
}

/// The client plays the scenario. What it prints equals what other clients read, and it signs which thread it replies to.
async fn assert_plays_scenario(client: Command, library: Option<&str>, title: &str) {
    let gateway = setup().start().await.unwrap();
    let sent = SentRequests::to(&gateway).await;
    let arguments: Vec<&str> = library.into_iter().chain([sent.base_url.as_str()]).collect();
    let printed = run(client, &arguments).await;
    let told: Value = serde_json::from_str(&printed).unwrap();
    let site = Site::of(&gateway);
    let thread = site.get(&format!("{THREADS}/{}", told["thread"])).await.json();
    assert_eq!((&thread["title"], &thread["postCount"]), (&title.into(), &2.into()));
    let activity = site.get("/api/activity").await.json();
    let mut logged: Vec<Value> = activity["items"].as_array().unwrap().iter().map(|item| item["id"].clone()).collect();
    logged.reverse();
    assert_eq!(told["events"], Value::from(logged));
    assert_eq!(sent.with_named_targets(), ["create_post"]);
}

#[tokio::test]
async fn viem_and_event_source_play_the_scenario() {
    assert_plays_scenario(node("scenario.mjs"), Some("viem"), "By viem").await;
}

#[tokio::test]
async fn ethers_and_event_source_play_the_scenario() {
    assert_plays_scenario(node("scenario.mjs"), Some("ethers"), "By ethers").await;
}

#[tokio::test]
async fn eth_account_plays_the_scenario() {
    assert_plays_scenario(python("scenario.py"), None, "By eth-account").await;
}

/// The gateway restarts, and events happen before the client has reconnected: it receives each of them once.
#[tokio::test]
async fn event_source_misses_nothing_of_a_restart() {
    let mut gateway = setup().start().await.unwrap();
    let same_port = gateway.setup().clone().set("http.listen", gateway.address());
    let mut listener = EventSourceProcess::start(&format!("{}/api/stream", gateway.base_url())).await;
    let before = Site::of(&gateway).open_thread(&Wallet::new(1), "Before").await;
    assert_eq!(listener.line().await, format!("1 thread.create {before}"));
    assert!(gateway.terminate(LIMIT).await.unwrap().success());

    let gateway = same_port.start().await.unwrap();
    let site = Site::of(&gateway);
    let meanwhile = site.open_thread(&Wallet::new(2), "While it was away").await;
    assert_eq!(listener.line().await, "gone");
    assert_eq!(listener.line().await, "open");
    assert_eq!(listener.line().await, format!("2 thread.create {meanwhile}"));
    let after = site.open_thread(&Wallet::new(3), "After").await;
    assert_eq!(listener.line().await, format!("3 thread.create {after}"));
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
