//! A plugin that panics and hangs: its own requests fail, and nothing else does.

use super::{
    setup,
    site::{Site, answer},
};
use gateway_tests::{
    fixtures,
    plugins::plugin_file,
    process::{GatewayProcess, LIMIT, Setup},
};
use plugin_testing::{TestGateway, Value, Wallet, json};
use std::{fs, path::Path};

/// Routes that fail at every call.
pub(super) const FAILING: [&str; 2] = ["/api/misbehaves/panic", "/api/misbehaves/late-panic"];
const NOTES: &str = "/api/misbehaves/notes";

/// A gateway with two plugins: hello, and one that misbehaves.
pub(super) async fn start(adjust: impl FnOnce(Setup) -> Setup) -> GatewayProcess {
    let misbehaves = tokio::task::spawn_blocking(fixtures::misbehaves).await.unwrap().unwrap();
    let setup = setup();
    let folder = setup.folder().join("plugins");
    fs::create_dir(&folder).unwrap();
    for file in [misbehaves, plugin_file("hello").unwrap()] {
        fs::copy(&file, folder.join(Path::new(file.file_name().unwrap()))).unwrap();
    }
    adjust(setup.set("plugins.dir", folder.display())).start().await.unwrap()
}

/// Without a fence: the job alone has a fault every second.
fn patient(setup: Setup) -> Setup {
    setup.set("plugins.fence_faults", 100_000)
}

pub(super) async fn operator_sees(gateway: &GatewayProcess, page: &str, name: &str) -> Value {
    let list = Site::at(gateway.admin_url()).get(page).await.json();
    let member = if page == "/jobs" { "job" } else { "name" };
    list.as_array().unwrap().iter().find(|entry| entry[member] == name).unwrap_or(&Value::Null).clone()
}

#[tokio::test]
async fn a_panic_is_an_answer_and_a_line_for_the_operator() {
    let gateway = start(patient).await;
    let site = Site::of(&gateway);
    for (path, said) in [("panic", "at once"), ("late-panic", "after waiting for 0 notes")] {
        let answer = site.get(&format!("/api/misbehaves/{path}")).await;
        assert_eq!((answer.status, answer.code().as_str()), (500, "internal"), "{}", answer.text());
        assert!(!answer.text().contains("hunter2"), "what went wrong is for the operator: {}", answer.text());
        assert!(gateway.setup().log().contains(said), "{said} is not in the log");
        assert_eq!(site.get("/api/hello/world").await.status, 200);
        assert_eq!(site.get(NOTES).await.status, 200, "its other routes go on");
    }
    let report = operator_sees(&gateway, "/plugins", "misbehaves").await;
    assert_eq!(report["state"], "serving");
    assert!(report["faults"].as_u64().unwrap() >= 2, "{report}");
}

#[tokio::test]
async fn a_line_of_the_log_names_plugin_and_request() {
    let gateway = start(patient).await;
    for (path, id) in [("panic", "first-of-all"), ("hang", "and-another")] {
        let site = Site::of(&gateway);
        let request = site.request(reqwest::Method::GET, &format!("/api/misbehaves/{path}"));
        assert!(answer(request.header("x-request-id", id)).await.status >= 500);
        let log = gateway.setup().log();
        let lines: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let of_request: Vec<&Value> = lines.iter().filter(|line| line["request_id"] == id).collect();
        assert!(of_request.iter().any(|line| line["level"] == "ERROR"), "the fault carries {id}: {log}");
        assert!(of_request.iter().all(|line| line["plugin"] == "misbehaves"), "{of_request:?}");
    }
}

#[tokio::test]
async fn a_handler_that_hangs_is_left_behind() {
    let gateway = start(patient).await;
    let site = Site::of(&gateway);
    let hangs = (0..10).map(|_| site.get("/api/misbehaves/hang"));
    let (hung, greeted) = tokio::join!(futures_util::future::join_all(hangs), site.get("/api/hello/world"));
    assert_eq!(greeted.status, 200);
    for answer in hung {
        assert_eq!((answer.status, answer.code().as_str()), (503, "timeout"), "{}", answer.text());
    }
}

#[tokio::test]
async fn a_write_that_breaks_off_leaves_nothing() {
    let gateway = start(patient).await;
    let site = Site::of(&gateway);
    let wallet = Wallet::new(1);
    let broken = site.write(NOTES, &wallet, "misbehaves.write", json!({ "body": "panic" })).await;
    assert_eq!((broken.status, broken.code().as_str()), (500, "internal"), "{}", broken.text());
    assert_eq!(site.get(NOTES).await.json(), 0);
    // Nor did it use up the wallet's write interval.
    let whole = site.write(NOTES, &wallet, "misbehaves.write", json!({ "body": "fine" })).await;
    assert_eq!(whole.status, 201, "{}", whole.text());
    assert_eq!(site.get(NOTES).await.json(), 1);
}

#[tokio::test]
async fn a_job_that_panics_is_run_again_and_told() {
    let gateway = start(patient).await;
    let ran_twice = async || operator_sees(&gateway, "/jobs", "panic_in_job").await["failures"].as_i64() >= Some(2);
    TestGateway::eventually(LIMIT, "the job runs again", ran_twice).await;
    let job = operator_sees(&gateway, "/jobs", "panic_in_job").await;
    assert_eq!(job["lastResult"], "panicked", "{job}");
    assert!(job["lastError"].as_str().unwrap().contains("in the job"), "{job}");
    assert_eq!(Site::of(&gateway).get("/api/hello/world").await.status, 200);
}

#[tokio::test]
async fn a_plugin_that_fails_too_often_is_taken_off() {
    let gateway = start(|setup| setup.set("plugins.fence_faults", 3).set("plugins.fence_window_s", 3600)).await;
    let site = Site::of(&gateway);
    // Two routes and the job: each is paused first.
    let is_fenced = async || {
        let mut answers = Vec::new();
        for path in FAILING {
            let answer = site.get(path).await;
            assert!([500, 503].contains(&answer.status), "{}", answer.text());
            answers.push(answer.code());
        }
        answers.iter().all(|code| code == "disabled")
    };
    TestGateway::eventually(LIMIT, "the plugin is fenced", is_fenced).await;
    let refused = site.get(NOTES).await;
    assert_eq!((refused.status, refused.code().as_str()), (503, "disabled"), "{}", refused.text());
    assert!(!refused.header("retry-after").is_empty());
    assert!(refused.text().contains("it failed too often"), "{}", refused.text());
    assert_eq!(site.get("/api/hello/world").await.status, 200);

    let is_reported = async || operator_sees(&gateway, "/plugins", "misbehaves").await["state"] == "fenced";
    TestGateway::eventually(LIMIT, "the operator sees it", is_reported).await;
    let report = operator_sees(&gateway, "/plugins", "misbehaves").await;
    assert!(report["reason"].as_str().unwrap().contains("faults within"), "{report}");
    assert!(site.get("/api/status").await.header("x-service-degraded").split(',').any(|name| name == "plugins"));
}

#[tokio::test]
async fn a_paused_operation_is_everywhere_to_be_seen_and_resumed_by_a_command() {
    let gateway = start(|setup| setup.set("plugins.fence_faults", 2).set("plugins.fence_window_s", 3600)).await;
    let site = Site::of(&gateway);
    let is_paused = async || site.get(FAILING[0]).await.code() == "paused";
    TestGateway::eventually(LIMIT, "the operation is paused", is_paused).await;
    let refused = site.get(FAILING[0]).await;
    assert!((1..=5).contains(&refused.header("retry-after").parse::<u64>().unwrap()), "{}", refused.text());
    assert_eq!(site.get(NOTES).await.status, 200, "its other routes go on");

    let status = site.get("/api/status").await.json()["services"]["plugins"].clone();
    assert_eq!(status["ok"], false, "{status}");
    assert!(status["detail"].as_str().unwrap().contains("panic_at_once of misbehaves"), "{status}");
    let report = operator_sees(&gateway, "/plugins", "misbehaves").await;
    let paused = report["paused"].as_array().unwrap();
    assert!(paused.iter().any(|paused| paused["operation"] == "panic_at_once"), "{report}");
    assert_eq!(report["state"], "serving");
    let operator = Site::at(gateway.admin_url());
    let page = operator.get("/").await.text();
    assert!(page.contains("panic_at_once is paused until"), "{page}");
    assert!(page.contains("aria-label=\"resume misbehaves\""), "{page}");
    let metrics = operator.get("/metrics").await.text();
    assert!(metrics.contains("gateway_plugin_operations_paused{plugin=\"misbehaves\"}"), "{metrics}");

    let setup = gateway.setup().clone();
    let admin = gateway.admin_url().to_owned();
    let resume = move || setup.run(&["plugins", "resume", "misbehaves", "--admin", &admin]).unwrap();
    let resumed = tokio::task::spawn_blocking(resume).await.unwrap();
    assert_eq!(resumed.code, Some(0), "{resumed:?}");
    assert_eq!(site.get(FAILING[0]).await.status, 500, "it is called again");
}
