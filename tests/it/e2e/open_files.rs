//! The limit of open files: raised where it may be, heeded where it may not, and survived when it is reached.

use super::{setup, site::Site};
use gateway_tests::process::{LIMIT, Setup};
use plugin_testing::TestGateway;
use std::{fs, net::TcpStream, os::unix::fs::PermissionsExt as _, process::Command};

/// A gateway that a shell starts with these limits, as `ulimit` takes them.
fn limited(ulimit: &str) -> Setup {
    let mut setup = setup();
    let script = setup.folder().join("limited-gateway");
    let program = env!("CARGO_BIN_EXE_gateway-under-test");
    fs::write(&script, format!("#!/bin/sh\nulimit {ulimit} || exit 99\nexec {program} \"$@\"\n")).unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o700)).unwrap();
    for key in ["http.header_read_timeout_ms", "http.idle_timeout_ms"] {
        setup = setup.set(key, 600_000);
    }
    setup.with_program(script)
}

#[tokio::test]
async fn the_soft_limit_is_raised_to_the_hard_one() {
    let gateway = limited("-Sn 128").start().await.unwrap();
    let limits = fs::read_to_string(format!("/proc/{}/limits", gateway.id())).unwrap();
    let files = limits.lines().find(|line| line.starts_with("Max open files")).unwrap();
    let words: Vec<&str> = files.split_whitespace().collect();
    assert_eq!(words[3], words[4], "{files}");
    assert_ne!(words[3], "128", "the machine of this test allows more");
}

#[tokio::test]
async fn a_low_hard_limit_lowers_the_cap_and_is_said_everywhere() {
    let setup = limited("-n 500");
    let text = "at most 250 connections, not 4096 (http.connections_max): the process may open 500 files";
    let checked = setup.run(&["check"]).unwrap();
    assert_eq!(checked.code, Some(0), "{checked:?}");
    assert!(checked.stdout.contains(&format!("note: {text}")), "{checked:?}");
    assert!(setup.run(&["check", "--json"]).unwrap().json().unwrap()["notes"][0].as_str().unwrap().starts_with(text));
    let gateway = setup.start().await.unwrap();
    assert!(setup.log().contains(text), "{}", setup.log());
    let status = Site::of(&gateway).get("/api/status").await.json();
    let connections = &status["services"]["connections"];
    assert_eq!((&connections["max"], &connections["ok"]), (&250.into(), &true.into()), "{status}");
    assert!(connections["detail"].as_str().unwrap().starts_with(text), "{status}");
}

/// Silent clients hold every file that the process may open; a new one is served all the same.
#[tokio::test]
async fn the_longest_idle_connections_make_room_when_files_run_out() {
    let gateway = limited("-Sn 1024").start().await.unwrap();
    let open = fs::read_dir(format!("/proc/{}/fd", gateway.id())).unwrap().count();
    let limit = (open + 8).to_string();
    let lowered = Command::new("prlimit")
        .args(["--pid", &gateway.id().to_string(), &format!("--nofile={limit}:{limit}")])
        .status()
        .unwrap();
    assert!(lowered.success());
    let _silent: Vec<TcpStream> = (0..40).map(|_| TcpStream::connect(gateway.address()).unwrap()).collect();
    let site = Site::of(&gateway);
    TestGateway::eventually(LIMIT, "a new client is served", async || site.get("/api/hello/world").await.status == 200)
        .await;
    let log = gateway.setup().log();
    assert!(log.contains("no connection can be accepted right now, idle ones are closed"), "{log}");
}

/// The operator's listener serves 64 connections, and says so to the next one.
#[tokio::test]
async fn the_operators_listener_has_a_cap() {
    use std::io::Read as _;
    let gateway = setup().start().await.unwrap();
    let address = gateway.admin_url().trim_start_matches("http://").to_owned();
    let mut held: Vec<TcpStream> = (0..64).map(|_| TcpStream::connect(&address).unwrap()).collect();
    let mut refused = TcpStream::connect(&address).unwrap();
    refused.set_read_timeout(Some(LIMIT)).unwrap();
    let mut said = String::new();
    refused.read_to_string(&mut said).unwrap();
    assert!(said.starts_with("HTTP/1.1 503"), "{said:?}");
    held.clear();
    let admin = Site::at(gateway.admin_url());
    let serves = async || {
        let answered = admin.request(reqwest::Method::GET, "/health").send().await;
        answered.is_ok_and(|response| response.status() == 200)
    };
    TestGateway::eventually(LIMIT, "a place is free again", serves).await;
}
