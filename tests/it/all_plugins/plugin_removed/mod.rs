//! Any plugin may be disabled: its contributions are gone, and what others derive from them, and nothing else changes.
//!
//! The rule for plugins that require it: an operator has to disable them first; a gateway that starts without it does
//! not start them either, and reports why.

mod components;
mod diff;
mod links;
mod pages;
mod standings;

use super::{
    CONTRACTS, Call, LIMIT, PROBE_INTERVAL_S, assert_answered,
    calls::{operator, writes},
    chain,
};
use diff::Parts;
use gateway::lifecycle::{OperateOutcome, OperatorAction};
use gateway_plugins::PluginState;
use gateway_tests::load_test_wallets;
use pages::Pages;
use plugin_api::{
    abi::PluginModule_Ref,
    manifest::Manifest,
    point::{self, LeaderboardInput},
};
use plugin_testing::{Builder, ScriptedChain, TestGateway, TestResponse, Value, json};
use std::{collections::BTreeSet, time::Duration};

/// The interval at which the probing jobs look for due probes.
const PROBE_ROUND: Duration = Duration::from_secs(5);

/// Every plugin; a test checks that the list is complete.
pub fn modules() -> Vec<PluginModule_Ref> {
    vec![
        a2a::plugin_module(),
        activity::plugin_module(),
        agents::plugin_module(),
        aicv::plugin_module(),
        arena::plugin_module(),
        artifacts::plugin_module(),
        audit::plugin_module(),
        bounties::plugin_module(),
        economy::plugin_module(),
        faucet::plugin_module(),
        forum::plugin_module(),
        hello::plugin_module(),
        kb::plugin_module(),
        loadtest::plugin_module(),
        memory::plugin_module(),
        messages::plugin_module(),
        network::plugin_module(),
        payin::plugin_module(),
        payloads::plugin_module(),
        referrals::plugin_module(),
        rpc::plugin_module(),
        relay::plugin_module(),
        supply::plugin_module(),
        tools::plugin_module(),
        transparency::plugin_module(),
        validators::plugin_module(),
        webhooks::plugin_module(),
        work::plugin_module(),
        x402::plugin_module(),
    ]
}

fn manifests() -> Vec<Manifest> {
    modules().into_iter().map(plugin_testing::manifest).collect()
}

/// The plugins that require this one, directly or not, dependents first, and this one at the end.
fn with_dependents(name: &str) -> Vec<String> {
    let manifests = manifests();
    let mut gone = vec![name.to_owned()];
    let mut next = 0;
    while next < gone.len() {
        let needs = |manifest: &&Manifest| manifest.requires.contains(&gone[next]) && !gone.contains(&manifest.name);
        let more: Vec<String> = manifests.iter().filter(needs).map(|manifest| manifest.name.clone()).collect();
        gone.extend(more);
        next += 1;
    }
    // Whoever needs another one comes before it.
    let mut ordered = Vec::new();
    while !gone.is_empty() {
        let is_needed = |name: &String| {
            let needs = |manifest: &Manifest| manifest.requires.contains(name) && gone.contains(&manifest.name);
            manifests.iter().any(needs)
        };
        let free = gone.iter().rposition(|name| !is_needed(name)).unwrap();
        ordered.push(gone.remove(free));
    }
    ordered
}

/// With all plugins, for [`writes`].
pub fn with_all_plugins(builder: Builder, chain: &ScriptedChain) -> Builder {
    let gateway = modules().into_iter().fold(builder, Builder::plugin);
    let gateway = gateway
        .configure(|config| config.limits.write_interval_ms = 0)
        .config("kb", json!({ "network_pages": false }))
        .config("tools", json!({ "probe_interval_s": PROBE_INTERVAL_S }))
        .config("agents", json!({ "probe_interval_s": PROBE_INTERVAL_S }))
        .config(
            "loadtest",
            json!({ "xpub": load_test_wallets::XPUB, "runner": true, "operators": [operator().address()] }),
        )
        .config("payin", json!({ "operators": [operator().address()] }))
        .config("referrals", json!({ "operators": [operator().address()] }))
        .config("validators", json!({ "signatures_required": false, "operators": [operator().address()] }));
    gateway.chain(chain, &CONTRACTS)
}

/// Makes a call in the gateway's own process.
pub async fn make_call(gateway: &TestGateway, call: &Call) -> TestResponse {
    let request = call.request(gateway.now_s());
    let text = |value: &[u8]| String::from_utf8(value.to_vec()).unwrap();
    let headers: Vec<(String, String)> =
        request.headers.iter().map(|(name, value)| (name.clone(), text(value))).collect();
    let headers: Vec<(&str, &str)> = headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    gateway.send(&request.method, &request.target, &headers, request.body).await
}

/// A gateway with all plugins in which every write was made.
async fn full_gateway(builder: Builder, chain: &ScriptedChain) -> TestGateway {
    let gateway = with_all_plugins(builder, chain).start().await;
    gateway.indexed(chain).await;
    for call in writes(gateway.now_s()) {
        assert_answered(&call, &make_call(&gateway, &call).await);
    }
    probed(&gateway).await;
    gateway
}

/// Waits until every tool was probed: pages show the time of the probe, and the job probes a few tools per round.
async fn probed(gateway: &TestGateway) {
    let is_probed = async |path: &str| {
        let page: Value = serde_json::from_slice(&gateway.get(path).await.body).unwrap();
        page["items"].as_array().unwrap().iter().all(|tool| tool["lastProbeAt"].is_i64())
    };
    TestGateway::eventually(LIMIT, "every tool is probed", async || {
        let all = is_probed("/api/tools").await && is_probed("/api/compute").await;
        if !all {
            gateway.clock().advance(PROBE_ROUND).await;
        }
        all
    })
    .await;
}

/// What each plugin contributes to the documents that are compared.
async fn parts(gateway: &TestGateway, pages: &Pages) -> Parts {
    let since_30d = pages.leaderboard["since30d"].as_i64();
    let input = |since_s| serde_json::to_value(LeaderboardInput { since_s, ..LeaderboardInput::default() }).unwrap();
    Parts {
        manifests: manifests(),
        counters: gateway.collect(point::STATS.name(), &json!({})).await,
        discovery: gateway.collect(point::DISCOVERY.name(), &json!({})).await,
        work: gateway.collect(point::WORK.name(), &json!({})).await,
        status: gateway.collect(point::STATUS.name(), &json!({})).await,
        month: gateway.collect(point::LEADERBOARD.name(), &input(since_30d)).await,
        all: gateway.collect(point::LEADERBOARD.name(), &input(None)).await,
    }
}

async fn act(gateway: &TestGateway, action: OperatorAction, name: &str) -> OperateOutcome {
    gateway.gateway().plugins.operate(action, name, "the test").await.unwrap()
}

#[test]
fn these_are_all_plugins() {
    let known: BTreeSet<String> = manifests().into_iter().map(|manifest| manifest.name).collect();
    assert_eq!(known, crate::coverage::plugins().into_iter().collect());
    assert_eq!(with_dependents("agents").len(), 10, "{:?}", with_dependents("agents"));
    assert_eq!(with_dependents("forum"), ["forum"]);
}

#[tokio::test]
async fn an_operator_switches_off_any_plugin_and_what_it_contributed_is_gone() {
    Box::pin(switch_off_any_plugin(TestGateway::builder())).await;
}

#[tokio::test]
#[ignore = "takes minutes: cargo xtask prove"]
async fn an_operator_switches_off_any_plugin_on_postgresql() {
    let builder = TestGateway::postgres_builder().await.expect("GATEWAY_TEST_POSTGRES names a server");
    Box::pin(switch_off_any_plugin(builder)).await;
}

async fn switch_off_any_plugin(builder: Builder) {
    let chain = chain().await;
    let gateway = full_gateway(builder, &chain).await;
    let full = Pages::read(&gateway).await;
    let parts = parts(&gateway, &full).await;
    for name in manifests().into_iter().map(|manifest| manifest.name) {
        let gone = with_dependents(&name);
        if gone.len() > 1 {
            let refused = act(&gateway, OperatorAction::Disable, &name).await;
            let reason = &refused.report.reason;
            assert!(!refused.is_reached && refused.report.state == PluginState::Serving, "{name}: {reason}");
            assert!(reason.contains("requires it: disable that first"), "{name}: {reason}");
            assert!(gone.iter().any(|dependent| reason.contains(dependent)), "{name}: {reason}");
        }
        for plugin in &gone {
            assert!(act(&gateway, OperatorAction::Disable, plugin).await.is_reached, "{plugin}");
        }
        parts.without(&full, &gone).assert_are(&Pages::read(&gateway).await, &format!("without {name}"));
        // The next comparison, and the last one, check that the plugins have all their records again.
        for plugin in gone.iter().rev() {
            assert!(act(&gateway, OperatorAction::Enable, plugin).await.is_reached, "{plugin}");
        }
    }
    full.assert_are(&Pages::read(&gateway).await, "with every plugin again");
    assert_eq!(gateway.faults().await, Vec::<String>::new());
    gateway.stop().await;
}

#[tokio::test]
async fn a_gateway_that_starts_without_a_plugin_says_what_one_says_that_switched_it_off() {
    let names = manifests().into_iter().map(|manifest| manifest.name);
    // Those that others require, and a few that none does.
    let (required, alone): (Vec<String>, Vec<String>) = names.partition(|name| with_dependents(name).len() > 1);
    assert!(required.len() > 2 && alone.len() > 6, "{required:?} {alone:?}");
    Box::pin(start_without([required, alone.into_iter().step_by(6).collect()].concat())).await;
}

#[tokio::test]
#[ignore = "takes minutes: cargo xtask prove"]
async fn a_gateway_that_starts_without_any_plugin_says_what_one_says_that_switched_it_off() {
    Box::pin(start_without(manifests().into_iter().map(|manifest| manifest.name).collect())).await;
}

async fn start_without(names: Vec<String>) {
    let chain = chain().await;
    // On SQLite only: which plugins start does not depend on the database.
    let mut gateway = full_gateway(TestGateway::builder(), &chain).await;
    let full = Pages::read(&gateway).await;
    let parts = parts(&gateway, &full).await;
    for name in names {
        // One restart enables the last plugin again and disables the next: its pages must show everything of the last
        // one.
        gateway = gateway
            .restart_after(|config| {
                for (plugin, settings) in &mut config.plugins.sections {
                    settings.enabled = Some(*plugin != name);
                }
                config.plugins.sections.entry(name.clone()).or_default().enabled = Some(false);
            })
            .await;
        let gone = with_dependents(&name);
        for report in gateway.reports().await {
            let reason = format!("without {name}, {}: {:?}, {}", report.name, report.state, report.reason);
            let expected = match () {
                () if report.name == name => PluginState::Disabled,
                () if gone.contains(&report.name) => PluginState::Failed,
                () => PluginState::Serving,
            };
            assert_eq!(report.state, expected, "{reason}");
            let says_why = report.reason.contains("requires") && report.reason.contains("enable it first");
            assert_eq!(says_why, expected == PluginState::Failed, "{reason}");
        }
        parts.without(&full, &gone).assert_are(&Pages::read(&gateway).await, &format!("started without {name}"));
    }
    gateway = gateway
        .restart_after(|config| {
            for settings in config.plugins.sections.values_mut() {
                settings.enabled = Some(true);
            }
        })
        .await;
    full.assert_are(&Pages::read(&gateway).await, "with every plugin again");
    gateway.stop().await;
}
