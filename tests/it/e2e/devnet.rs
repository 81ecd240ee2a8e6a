//! `cargo xtask devnet` as in the README: it prints its addresses, and leaves no process when it is stopped.

use gateway_tests::process::{LIMIT, clean};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Stdio};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout, Command},
    time::timeout,
};

fn start(out: &Path) -> (Child, Lines<BufReader<ChildStdout>>) {
    let mut devnet = Command::from(clean("cargo"));
    devnet.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap());
    devnet.args(["xtask", "devnet", "--port", "0", "--block-time", "0", "--out"]).arg(out);
    let mut child = devnet.stdout(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    (child, lines)
}

/// Reads until it says that it is ready; before that it may install its packages and compile the contracts.
async fn is_ready(lines: &mut Lines<BufReader<ChildStdout>>) {
    while let Some(line) = lines.next_line().await.unwrap() {
        if line.starts_with("chain 3961 on ") {
            return;
        }
    }
    panic!("it ended before it was ready");
}

async fn call(url: &str, method: &str, params: Value) -> Value {
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let answer = reqwest::Client::new().post(url).json(&request).send().await.unwrap();
    answer.json::<Value>().await.unwrap()["result"].clone()
}

async fn stop(child: &mut Child) {
    let kill = format!("kill -s TERM {}", child.id().unwrap());
    assert!(Command::new("sh").args(["-c", &kill]).status().await.unwrap().success());
    assert!(timeout(LIMIT, child.wait()).await.unwrap().unwrap().success());
}

#[tokio::test]
async fn cargo_xtask_devnet_runs_a_chain_with_contracts_until_it_is_stopped() {
    // It may have been installed already.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let out = tempfile::tempdir().unwrap();
    let (mut child, mut lines) = start(out.path());
    timeout(8 * LIMIT, is_ready(&mut lines)).await.unwrap();
    let devnet: Value = serde_json::from_str(&fs::read_to_string(out.path().join("devnet.json")).unwrap()).unwrap();
    let url = devnet["rpcUrl"].as_str().unwrap();
    assert_eq!(call(url, "eth_chainId", json!([])).await, "0xf79");
    let code = call(url, "eth_getCode", json!([devnet["contracts"]["registry"], "latest"])).await;
    assert!(code.as_str().unwrap().len() > 1000, "{code}");
    stop(&mut child).await;
    assert!(reqwest::get(url).await.unwrap_err().is_connect());
}
