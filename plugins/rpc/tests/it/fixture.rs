//! A gateway with the plugin, and calls of it.

use plugin_testing::{Builder, ScriptedChain, TestGateway, TestResponse, Value, json};
use std::time::Duration;

pub const PATIENCE: Duration = Duration::from_secs(20);

/// On each database, with these servers of one chain; the configuration may be changed.
pub async fn gateways(servers: &[&ScriptedChain], change: impl Fn(Builder) -> Builder) -> Vec<TestGateway> {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    let mut gateways = Vec::new();
    for builder in builders {
        let urls: Vec<String> = servers.iter().map(|server| server.url()).collect();
        let builder = builder.chain(servers[0], &[]).plugin(rpc::plugin_module());
        let builder = builder.configure(|config| {
            if let Some(main) = config.chains.get_mut("main") {
                main.rpc = urls.iter().map(|url| format!("{url}/key-0123456789").into()).collect();
                main.reorg_depth = 4;
            }
        });
        let gateway = change(builder).start().await;
        knows_head(&gateway, servers[0]).await;
        gateways.push(gateway);
    }
    gateways
}

/// Waits until the gateway's polls have seen the newest block.
pub async fn knows_head(gateway: &TestGateway, chain: &ScriptedChain) {
    let main = gateway.gateway().chains.main().unwrap().clone();
    TestGateway::eventually(PATIENCE, "the newest block is known", || async {
        let head = main.live_head();
        head.is_some_and(|head| head.number == chain.head() && Some(head.hash.0) == chain.head_hash())
    })
    .await;
}

pub async fn post(gateway: &TestGateway, body: impl Into<String>) -> TestResponse {
    gateway.send("POST", "/rpc", &[("content-type", "application/json")], body.into()).await
}

/// The response to one call.
pub async fn call(gateway: &TestGateway, method: &str, params: Value) -> Value {
    let response =
        post(gateway, json!({ "jsonrpc": "2.0", "id": 7, "method": method, "params": params }).to_string()).await;
    let answer = response.json();
    assert_eq!((&answer["jsonrpc"], &answer["id"]), (&json!("2.0"), &json!(7)), "{}", response.text());
    answer
}

/// The public calls of this method that a server got.
pub fn calls_of(server: &ScriptedChain, method: &str) -> usize {
    server.calls().iter().filter(|call| call.method == method).count()
}
