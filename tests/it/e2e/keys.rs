//! Keys that come by a variable stay in the gateway's memory, and nowhere else.

use super::{setup, site::Site};
use std::{fs, os::unix::fs::PermissionsExt as _, process::Command};

const KEY: &str = "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d";

/// root reads every process unless it lacks the right to; then its processes are to each other as those of any one user.
const WITHOUT_PTRACE: &str = "setpriv --bounding-set -sys_ptrace --inh-caps -sys_ptrace";

#[tokio::test]
async fn a_key_is_neither_in_the_environment_nor_to_be_read_by_others() {
    let setup = setup().set("signers.relayer.key", KEY);
    let script = setup.folder().join("unprivileged-gateway");
    let program = env!("CARGO_BIN_EXE_gateway-under-test");
    fs::write(&script, format!("#!/bin/sh\nexec {WITHOUT_PTRACE} {program} \"$@\"\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    let gateway = setup.with_program(script).start().await.unwrap();
    let status = Site::of(&gateway).get("/api/status").await.json();
    assert!(status["services"].to_string().contains("relayer"), "the gateway has the key: {status}");

    let file = format!("/proc/{}/environ", gateway.id());
    let environment = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
    assert!(environment.contains("GATEWAY_DATA_DIR"), "{environment:?}");
    assert!(!environment.contains(KEY.trim_start_matches("0x")), "the key is still there");

    let read = Command::new("sh")
        .args(["-c", &format!("exec {WITHOUT_PTRACE} cat /proc/{}/mem", gateway.id())])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&read.stderr);
    assert!(!read.status.success() && said.contains("Permission denied"), "{read:?}");
}
