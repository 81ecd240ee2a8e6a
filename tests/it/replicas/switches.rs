//! An operator's switch at one gateway reaches the others, and each tells how its plugins are.

use super::Replicas;
use crate::e2e::Site;
use gateway_tests::process::{GatewayProcess, LIMIT, Setup};
use plugin_testing::{TestGateway, Value, json};
use reqwest::Method;

const HELLO: &str = "/api/hello/world";

async fn switch(gateway: &GatewayProcess, action: &str) {
    let path = format!("/plugins/hello/{action}");
    let request = Site::at(gateway.admin_url()).request(Method::POST, &path).header("x-gateway-admin", "1");
    assert_eq!(request.send().await.unwrap().status(), 200, "{action}");
}

/// What this gateway knows of all.
async fn told(gateway: &GatewayProcess) -> Vec<Value> {
    let replicas = Site::at(gateway.admin_url()).get("/replicas").await;
    assert_eq!(replicas.status, 200, "{}", replicas.text());
    replicas.json().as_array().unwrap().clone()
}

async fn all_tell(gateways: &[GatewayProcess], state: &str) {
    for gateway in gateways {
        let agree = async || {
            let told = told(gateway).await;
            told.len() == gateways.len() && told.iter().all(|replica| replica["plugins"]["hello"] == state)
        };
        TestGateway::eventually(LIMIT, &format!("all tell {state}"), agree).await;
    }
}

async fn answers(site: &Site, status: u16) {
    let has_status = async || site.get(HELLO).await.status == status;
    TestGateway::eventually(LIMIT, &format!("{HELLO} answers {status}"), has_status).await;
}

fn with_hello(setup: Setup) -> Setup {
    setup.set("plugins.hello.enabled", true)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_switch_reaches_all_and_each_tells_its_states() {
    let mut replicas = Replicas::start(2, with_hello).await;
    all_tell(&replicas.gateways, "serving").await;
    switch(&replicas.gateways[0], "disable").await;
    answers(&replicas.sites[1], 404).await;
    all_tell(&replicas.gateways, "disabled").await;
    switch(&replicas.gateways[1], "enable").await;
    for site in &replicas.sites {
        answers(site, 200).await;
    }
    all_tell(&replicas.gateways, "serving").await;
    let told = told(&replicas.gateways[0]).await;
    assert_eq!(told.iter().filter(|replica| replica["isThis"] == true).count(), 1, "{told:?}");
    assert!(told.iter().all(|replica| replica["version"] == json!("0.6.0")), "{told:?}");
    let page = Site::at(replicas.gateways[0].admin_url()).get("/").await.text();
    assert!(page.contains("<h2>Replicas</h2>"), "{page}");
    let status = replicas.setups[0].run(&["status", "--admin", replicas.gateways[0].admin_url()]).unwrap();
    assert!(status.code == Some(0) && status.stdout.contains("replicas   2, 0 silent\n"), "{status:?}");

    // One that is stopped is forgotten; one that was killed counts as silent for an hour.
    let stopped = &mut replicas.gateways[1];
    assert!(stopped.terminate(LIMIT).await.unwrap().success());
    let is_alone = async || self::told(&replicas.gateways[0]).await.len() == 1;
    TestGateway::eventually(LIMIT, "the stopped one is forgotten", is_alone).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_killed_gateway_is_silent_and_takes_over_what_was_switched_meanwhile() {
    let mut replicas = Replicas::start(2, with_hello).await;
    all_tell(&replicas.gateways, "serving").await;
    replicas.gateways[1].kill().await.unwrap();
    let is_silent = async || told(&replicas.gateways[0]).await.iter().any(|replica| replica["isSilent"] == true);
    TestGateway::eventually(LIMIT, "the killed one is silent", is_silent).await;
    switch(&replicas.gateways[0], "disable").await;
    replicas.start_again(1).await;
    answers(&replicas.sites[1], 404).await;
}
