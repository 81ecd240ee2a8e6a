//! All RPC servers lie: one reports blocks that do not exist, one serves another chain.

use super::Views;
use crate::{
    crash::{Write, send},
    e2e::setup,
};
use gateway_tests::process::LIMIT;
use plugin_testing::{Fault, ScriptedChain, TestGateway, Wallet, json};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_all_rpc_servers_lie_the_rest_serves_and_all_is_told() {
    let chain = ScriptedChain::start().await;
    chain.mine_empty(20);
    let other = chain.another_server().await;
    let setup = setup()
        .set("chains.main.rpc", format!("{},{}", chain.url(), other.url()))
        .set("chains.main.poll_ms", 50)
        .set("chains.main.contracts.registry", ScriptedChain::address_of("registry"));
    let gateway = setup.start().await.unwrap();
    let views = Views::of(&gateway);
    let head = async || views.public.get("/api/health").await.json()["head"].clone();
    TestGateway::eventually(LIMIT, "the head is known", async || head().await == json!(20)).await;

    chain.fail_always(Some(Fault::OtherChain(1)));
    other.fail_always(Some(Fault::LiesAhead(1000)));
    chain.mine_empty(1);
    TestGateway::eventually(LIMIT, "no lie is believed", async || head().await == json!(-1)).await;
    // What needs no chain is kept as before: the gateway is ready, and its status tells what is not.
    views.becomes_ready(true).await;
    let degraded = views.degraded().await;
    assert!(degraded.iter().any(|service| service == "rpc"), "{degraded:?}");
    // The second server may be asked later than the first.
    TestGateway::eventually(LIMIT, "the status has a reason for each server", async || {
        let rpc = views.public.get("/api/status").await.json()["services"]["rpc"].clone();
        rpc["detail"].as_str().is_some_and(|detail| detail.matches("http://").count() == 2)
    })
    .await;
    let page = views.page().await;
    assert!(page.contains("<th scope=\"row\">rpc</th>"), "the operator's page tells it: {page}");
    assert_eq!(send(&views.public, &Write::thread(&Wallet::new(1), "as ever")).await.unwrap().0, 201);

    for server in [&chain, &other] {
        server.fail_always(None);
    }
    chain.mine_empty(1);
    TestGateway::eventually(LIMIT, "the head is known again", async || head().await == json!(22)).await;
    let is_well = async || !views.degraded().await.iter().any(|service| service == "rpc");
    TestGateway::eventually(LIMIT, "rpc is well", is_well).await;
    assert!(!views.page().await.contains("<th scope=\"row\">rpc</th>"));
}
