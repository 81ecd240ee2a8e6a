//! Health, stats, status.

use super::fixture::{GatewayFixture, NOW_S};
use crate::health::{ProbeResult, health};
use crate::stats::stats;
use crate::status::{RuntimeState, database_service, degraded_header, merge_services, status};
use plugin_api::point::ServiceStatus;
use serde_json::json;
use std::collections::BTreeMap;

fn service(ok: bool) -> ServiceStatus {
    ServiceStatus { ok, ..Default::default() }
}

#[test]
fn health_without_a_chain() {
    let mut gateway = GatewayFixture::without_plugins();
    gateway.chain.contracts.clear();
    let probe = ProbeResult { ok: true, head: None, indexed_block: None, signer_ephemeral: false };
    assert_eq!(
        serde_json::to_value(gateway.with_context(|context| health(context, probe, serde_json::Map::default())))
            .unwrap(),
        json!({
            "ok": true, "version": "0.6.0", "chainId": 3961, "head": -1, "indexedBlock": null, "registry": null,
            "escrow": null, "signer": null, "signerEphemeral": false,
            "v3": { "contracts": {}, "deployBlock": 120, "deployed": [] },
        })
    );
}

#[test]
fn health_on_a_chain() {
    let probe = ProbeResult { ok: false, head: Some(200), indexed_block: Some(199), signer_ephemeral: true };
    let health =
        GatewayFixture::with_two_plugins().with_context(|context| health(context, probe, serde_json::Map::default()));
    assert!(!health.ok, "without its database the gateway keeps nothing");
    assert_eq!((health.head, health.indexed_block), (200, Some(199)));
    assert_eq!(health.registry.unwrap().to_string(), "0x00000000000000000000000000000000000000AA");
    assert_eq!(health.escrow, None);
    assert_eq!(health.v3.deployed, ["streamPay"]);
    assert_eq!(health.v3.contracts.keys().collect::<Vec<_>>(), ["memoryAnchor", "streamPay"]);
}

#[test]
fn plugins_add_to_health_and_change_nothing_of_the_gateways() {
    let probe = ProbeResult { ok: true, head: None, indexed_block: None, signer_ephemeral: false };
    let contributed = plugin_api::point::members([("deployed", json!(["all"])), ("notesWaiting", json!(7))]);
    let health = GatewayFixture::with_two_plugins().with_context(|context| health(context, probe, contributed));
    let v3 = serde_json::to_value(health).unwrap()["v3"].take();
    assert_eq!((&v3["deployed"], &v3["notesWaiting"]), (&json!(["streamPay"]), &json!(7)));
}

#[test]
fn stats_are_those_of_enabled_plugins_and_the_first_plugin_wins() {
    let all = GatewayFixture::with_two_plugins().with_context(|context| stats(context.counters));
    assert_eq!(serde_json::to_value(all).unwrap(), json!({ "notes": 3, "signalVolumeWei": "1000000000000000000" }));
    let none = GatewayFixture::without_plugins().with_context(|context| stats(context.counters));
    assert_eq!(serde_json::to_value(none).unwrap(), json!({}));
}

#[test]
fn status_combines_gateway_and_plugins() {
    let gateway_services = BTreeMap::from([("db".to_owned(), database_service(Some(4096), Some(7), None))]);
    let contributed = BTreeMap::from([("stream".to_owned(), service(true))]);
    let services = merge_services(gateway_services, [("signals".to_owned(), Ok(contributed))]);
    let state = RuntimeState { started_s: NOW_S - 60, head: Some(105), indexed_block: Some(100) };
    let status = GatewayFixture::with_two_plugins().with_context(|context| status(context, state, services));
    assert_eq!(degraded_header(&status, "X-Service"), None);
    assert_eq!(
        serde_json::to_value(status).unwrap(),
        json!({
            "ok": true, "version": "0.6.0", "now": NOW_S, "uptimeS": 60, "chainId": 3961, "head": 105, "indexedBlock": 100,
            "headLag": 5, "indexerLagSeconds": 35, "degraded": [],
            "services": { "db": { "ok": true, "sizeBytes": 4096, "activity": 7 }, "stream": { "ok": true } },
            "links": {
                "page": "https://gateway.test/docs", "health": "https://gateway.test/api/health",
                "stats": "https://gateway.test/api/stats", "changelog": "https://gateway.test/api/changelog",
                "work": "https://gateway.test/api/signals/stream",
            },
        })
    );
}

#[test]
fn a_service_that_does_not_respond_or_fails_is_degraded_and_named_in_the_header() {
    let gateway_services = BTreeMap::from([("db".to_owned(), database_service(None, None, None))]);
    let services = merge_services(
        gateway_services,
        [
            ("notes".to_owned(), Err(())),
            (
                "evil".to_owned(),
                Ok(BTreeMap::from([("db".to_owned(), service(true)), ("a,b\r\nc ü".to_owned(), service(false))])),
            ),
        ],
    );
    let state = RuntimeState { started_s: NOW_S + 5, head: None, indexed_block: None };
    let status = GatewayFixture::without_plugins().with_context(|context| status(context, state, services));
    assert!(!status.ok);
    assert_eq!(status.uptime_s, 0, "a clock that was set back");
    assert_eq!(status.degraded, ["a,b\r\nc ü", "db", "notes"], "a plugin does not speak for the gateway's database");
    assert!(status.services["evil.db"].ok);
    let header = degraded_header(&status, "X-Service");
    assert_eq!(header, Some(("X-Service-Degraded".to_owned(), "abc,db,notes".to_owned())));
}
