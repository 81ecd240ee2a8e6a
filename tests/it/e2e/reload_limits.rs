//! SIGHUP applies limits and the log level, and says what waits for a restart.

use super::{
    setup,
    site::{Site, THREADS, answer},
};
use gateway_tests::process::{GatewayProcess, LIMIT};
use plugin_testing::{TestGateway, Wallet, json};
use reqwest::Method;

/// Sends SIGHUP and returns what the audit says of it.
async fn reload(gateway: &GatewayProcess, config: &str) -> String {
    let before = reloads(gateway).await.len();
    gateway.setup().write_config(config).unwrap();
    gateway.sighup().unwrap();
    let is_recorded = async || reloads(gateway).await.len() > before;
    TestGateway::eventually(LIMIT, "it is read again", is_recorded).await;
    reloads(gateway).await.remove(0)
}

/// The outcomes, newest first.
async fn reloads(gateway: &GatewayProcess) -> Vec<String> {
    let audit = Site::at(gateway.admin_url()).get("/audit").await.json();
    let rows = audit.as_array().unwrap().iter().filter(|row| row["action"] == "reload");
    rows.map(|row| row["outcome"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn limits_take_effect_at_once() {
    let setup = setup().unset("limits.allow").with_config("[limits]\nper_ip_per_minute = 1000\n").unwrap();
    let gateway = setup.start().await.unwrap();
    let site = Site::of(&gateway);
    assert_eq!(site.get(THREADS).await.header("ratelimit-policy"), "\"ip\";q=1000;w=60");
    let slow = "[limits]\nper_ip_per_minute = 3\nwrite_interval_ms = 60000\nstreams_per_ip_max = 1\n";
    let told = reload(&gateway, slow).await;
    let answers = futures_util::future::join_all((0..5).map(|_| site.get(THREADS))).await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 3);
    for key in ["limits.per_ip_per_minute", "limits.streams_per_ip_max", "limits.write_interval_ms"] {
        assert!(told.split("; waiting").next().unwrap().contains(key), "{told}");
    }
    assert!(told.ends_with("waiting for a restart: nothing"), "{told}");

    reload(&gateway, &slow.replace("per_ip_per_minute = 3\n", "allow = [\"127.0.0.1\"]\n")).await;
    let wallet = Wallet::new(1);
    site.open_thread(&wallet, "First").await;
    let second = site.write(THREADS, &wallet, "thread.create", json!({ "title": "Second", "body": "Too soon" })).await;
    assert_eq!((second.status, second.header("retry-after")), (429, "60"), "{}", second.text());
    let manifest = site.get("/.well-known/service.json").await.json();
    assert_eq!(manifest["limits"]["writeIntervalMs"], 60000, "the documents say so, too");
    let _open = site.follow("/api/stream", None).await;
    let capacity = answer(site.request(Method::GET, "/api/stream").header("accept", "text/event-stream")).await;
    assert_eq!(capacity.status, 503, "{}", capacity.text());
}

#[tokio::test]
async fn the_log_level_is_applied_and_what_needs_a_restart_is_named() {
    let gateway =
        setup().with_config("[log]\nlevel = \"warn,gateway_cli=info,audit=info\"\n").unwrap().start().await.unwrap();
    assert!(
        !gateway.setup().log().contains("\"message\":\"serving\""),
        "plugins that serve are told at the level info"
    );
    let config =
        "network_name = \"Other\"\n[log]\nlevel = \"info\"\n[tx]\ntip_gwei = 2\n[plugins.hello]\ngreeting = \"Moin\"\n";
    let told = reload(&gateway, config).await;
    let (applied, waiting) = told.split_once("; waiting for a restart: ").unwrap();
    assert_eq!(applied, "applied: log.level");
    assert_eq!(waiting, "network_name, tx.tip_gwei, plugins.hello");
    let operator = Site::at(gateway.admin_url());
    for action in ["disable", "enable"] {
        let request = operator.request(Method::POST, &format!("/plugins/hello/{action}"));
        assert_eq!(answer(request.header("x-gateway-admin", "1")).await.status, 200);
    }
    assert!(gateway.setup().log().contains("\"message\":\"serving\""), "the new level holds");
    assert_eq!(Site::of(&gateway).get("/api/hello/world").await.json()["greeting"], "Moin, world!");

    // What waits is named again as long as it waits.
    let told = reload(&gateway, config).await;
    assert!(told.contains("waiting for a restart: network_name, tx.tip_gwei"), "{told}");
    let told = reload(&gateway, "[log]\nlevel = \"info\"\n[plugins.hello]\ngreeting = \"Moin\"\n").await;
    assert_eq!(told, "applied: nothing; waiting for a restart: nothing");
}
