//! Calls every operation with valid and invalid requests, in one gateway with every plugin, and records the responses.
//! The rule: the test fails when an operation never succeeded, when it was never refused in a way that its route
//! declares, and when no call led to one of a plugin's error codes.

use crate::{
    all_plugins::{
        Call, Payload, Request, assert_no_faults, calls, chain, modules,
        refusals::{RefusedCall, refusals},
        send, setup, start_with_content,
    },
    e2e::Site,
    openapi,
};
use gateway_clock::Clock;
use plugin_api::manifest::{Auth, Manifest, RouteSpec};
use plugin_testing::TestResponse;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

const NEEDS_PAYIN: &str = "needs another chain: plugins/payin/tests/it/create_quote.rs";
/// Errors that no single call leads to here, by plugin, status and code, and where they are tested. An entry whose error is seen after
/// all fails the test, too.
const TESTED_ELSEWHERE: &[(&str, u16, &str, &str)] = &[
    ("a2a", 502, "own_endpoint", "needs an agent with that endpoint: plugins/a2a/tests/it/invoke_agent.rs"),
    ("a2a", 502, "too_large", "needs an agent that answers: plugins/a2a/tests/it/invoke_agent.rs"),
    ("a2a", 502, "bad_answer", "needs an agent that answers: plugins/a2a/tests/it/invoke_agent.rs"),
    ("a2a", 503, "price_unavailable", "needs a wrong card: plugins/a2a/tests/it/invoke_agent.rs"),
    ("a2a", 503, "provider_busy", "needs a slow agent: plugins/a2a/tests/it/invoke_agent.rs"),
    ("a2a", 504, "unreachable", "needs an agent that is gone: plugins/a2a/tests/it/invoke_agent.rs"),
    ("aicv", 503, "disabled", "needs a plugin that is switched off below it: plugins/aicv/tests/it/missing.rs"),
    ("aicv", 503, "indexing", "needs indexes that are apart: plugins/aicv/tests/it/issued.rs"),
    ("aicv", 503, "unavailable", "needs a chain that is away: plugins/aicv/tests/it/issued.rs"),
    ("a2a", 504, "timeout", "needs a minute: plugin-api/src/sdk/forward.rs"),
    ("arena", 409, "closed", "needs a clock that passes endsAt: plugins/arena/tests/it/create_submission.rs"),
    ("arena", 403, "not_client", "needs a closed challenge: plugins/arena/tests/it/award_challenge.rs"),
    ("audit", 429, "export_running", "needs two exports at the same moment: plugins/audit/tests/it/get_agent_audit.rs"),
    ("bounties", 400, "self_claim", "needs a poster with an agent: plugins/bounties/tests/it/claim_bounty.rs"),
    (
        "bounties",
        403,
        "not_client",
        "needs a poster with somebody else's job: plugins/bounties/tests/it/award_bounty.rs",
    ),
    ("bounties", 409, "expired", "needs a clock that passes the deadline: plugins/bounties/tests/it/claim_bounty.rs"),
    ("bounties", 409, "completed", "needs a completed bounty: plugins/bounties/tests/it/award_bounty.rs"),
    ("faucet", 400, "bad_address", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("faucet", 400, "faucet_not_needed", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("faucet", 400, "faucet_pow", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("faucet", 400, "faucet_used_key", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("faucet", 429, "faucet_cooldown", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("faucet", 429, "faucet_ip_limit", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("faucet", 503, "faucet_daily_cap", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("faucet", 503, "faucet_reserve", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("faucet", 503, "unavailable", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("kb", 409, "conflict", "needs two writers at the same moment: plugins/kb/tests/it/write_page.rs"),
    ("loadtest", 409, "not_started", "it is started here: plugins/loadtest/tests/it/runner.rs"),
    ("loadtest", 503, "disabled", "operators are configured here: plugins/loadtest/tests/it/runner.rs"),
    ("memory", 409, "too_many_keys", "needs many keys: plugins/memory/tests/it/put_memory.rs"),
    ("memory", 429, "daily_bytes", "needs a full day's share: plugins/memory/tests/it/put_memory.rs"),
    ("memory", 507, "store_full", "needs a full memory: plugins/memory/tests/it/put_memory.rs"),
    ("payin", 400, "bad_address", NEEDS_PAYIN),
    ("payin", 400, "bad_amount", NEEDS_PAYIN),
    ("payin", 400, "out_of_bounds", NEEDS_PAYIN),
    ("payin", 400, "unknown_asset", NEEDS_PAYIN),
    ("payin", 409, "not_resolvable", "needs a deposit: plugins/payin/tests/it/resolve_deposit.rs"),
    ("payin", 429, "too_many_open", NEEDS_PAYIN),
    ("payin", 503, "addresses_full", "needs an account: plugins/payin/tests/it/list_addresses.rs"),
    ("payin", 503, "chain_unavailable", "needs a chain of one server: plugins/payin/tests/it/servers.rs"),
    ("payin", 503, "no_amount_free", NEEDS_PAYIN),
    ("payin", 503, "no_coins", NEEDS_PAYIN),
    ("payin", 503, "open_usd_full", "needs another chain: plugins/payin/tests/it/open_value.rs"),
    ("payin", 503, "price_unavailable", "needs a feed: plugins/payin/tests/it/prices.rs"),
    ("payloads", 429, "daily_bytes", "needs a full day's share: plugins/payloads/tests/it/store_payload.rs"),
    ("payloads", 507, "store_full", "needs a full store: plugins/payloads/tests/it/store_payload.rs"),
    ("transparency", 503, "disabled", "needs a database that was set back: plugins/transparency/tests/it/main.rs"),
    ("referrals", 400, "same_owner", "needs an owner of two agents: plugins/referrals/tests/it/create_referral.rs"),
    ("referrals", 409, "too_late", "needs a month: plugins/referrals/tests/it/create_referral.rs"),
    ("referrals", 503, "disabled", "operators are configured here: plugins/referrals/tests/it/release_referral.rs"),
    ("relay", 400, "bad_address", "needs the key of the relayer: plugins/relay/tests/it/create_account.rs"),
    ("relay", 400, "bad_request", "needs the key of the relayer: plugins/relay/tests/it/relay_call.rs"),
    ("relay", 403, "target_not_allowed", "needs the key of the relayer: plugins/relay/tests/it/relay_call.rs"),
    ("relay", 404, "not_found", "needs the key of the relayer: plugins/relay/tests/it/relay_call.rs"),
    ("relay", 429, "rate_limited", "needs the key of the relayer: plugins/relay/tests/it/relay_call.rs"),
    ("relay", 503, "daily_cap", "needs the key of the relayer: plugins/relay/tests/it/relay_call.rs"),
    ("relay", 503, "unavailable", "needs the key of the relayer: plugins/relay/tests/it/relay_call.rs"),
    ("supply", 503, "disabled", "needs another chain: plugins/supply/tests/it/get_max_supply.rs"),
    ("tools", 502, "bad_endpoint", "needs an endpoint that is not public any more: plugin-api/src/sdk/forward.rs"),
    ("tools", 502, "own_endpoint", "needs a listing with that endpoint: plugins/tools/tests/it/invoke_compute.rs"),
    ("tools", 502, "too_large", "needs a provider that answers: plugin-api/src/sdk/forward.rs"),
    ("tools", 502, "bad_answer", "needs a provider that answers: plugins/tools/tests/it/invoke_compute.rs"),
    ("tools", 503, "price_changed", "needs a write at the same moment: plugins/tools/src/routes/invoke_compute.rs"),
    ("tools", 503, "provider_busy", "needs a slow provider: plugins/tools/tests/it/invoke_compute.rs"),
    ("tools", 504, "unreachable", "needs a listing that is gone: plugins/tools/tests/it/invoke_compute.rs"),
    ("tools", 504, "timeout", "needs a minute: plugin-api/src/sdk/forward.rs"),
    ("validators", 400, "bad_nonce", "needs a signed challenge: plugins/validators/tests/it/join_waitlist.rs"),
    ("validators", 400, "bad_expires", "needs a signed challenge: plugins/validators/tests/it/join_waitlist.rs"),
    ("validators", 400, "bad_sig", "needs a signed challenge: plugins/validators/tests/it/join_waitlist.rs"),
    ("validators", 401, "bad_expires", "needs a signed challenge: plugins/validators/tests/it/join_waitlist.rs"),
    ("validators", 401, "bad_sig", "needs a signed challenge: plugins/validators/tests/it/join_waitlist.rs"),
    (
        "validators",
        401,
        "signature_required",
        "signatures are optional here: plugins/validators/tests/it/join_waitlist.rs",
    ),
    ("validators", 401, "sig_expired", "needs a signed challenge: plugins/validators/tests/it/join_waitlist.rs"),
    ("validators", 409, "replay", "needs a signed challenge: plugins/validators/tests/it/join_waitlist.rs"),
    ("validators", 429, "rate_limited", "needs a second write: plugins/validators/tests/it/join_waitlist.rs"),
    ("validators", 429, "ip_rate_limited", "needs many sign-ups: plugins/validators/tests/it/join_waitlist.rs"),
    ("validators", 503, "disabled", "operators are configured here: plugins/validators/tests/it/export_waitlist.rs"),
    ("validators", 507, "waitlist_full", "needs a full waitlist: plugins/validators/tests/it/join_waitlist.rs"),
    ("webhooks", 409, "too_many_webhooks", "needs ten webhooks: plugins/webhooks/tests/it/set_webhook.rs"),
    ("webhooks", 409, "not_active", "needs one that is off: plugins/webhooks/tests/it/replay_webhook.rs"),
    ("webhooks", 409, "replay_running", "needs deliveries that wait: plugins/webhooks/tests/it/replay_webhook.rs"),
    ("webhooks", 429, "rate_limited", "needs many tests: plugins/webhooks/tests/it/test_webhook.rs"),
    ("webhooks", 429, "daily_replays", "needs a full day's share: plugins/webhooks/tests/it/replay_webhook.rs"),
];
/// Operations whose right call is refused here, and where they are served.
const SERVED_ELSEWHERE: &[(&str, &str)] = &[
    ("award_challenge", "needs a clock that passes endsAt: plugins/arena/tests/it/award_challenge.rs"),
    ("create_account", "needs the key of the relayer: plugins/relay/tests/it/create_account.rs"),
    ("get_transaction", "needs a transaction: tests/it/tx/transaction_route.rs"),
    ("create_quote", NEEDS_PAYIN),
    ("get_quote", NEEDS_PAYIN),
    ("resolve_deposit", "needs a deposit: plugins/payin/tests/it/resolve_deposit.rs"),
    ("relay_call", "needs the key of the relayer: plugins/relay/tests/it/relay_call.rs"),
    ("request_drip", "needs the key of the relayer: plugins/faucet/tests/it/request_drip.rs"),
    ("get_supply", "needs a snapshot: plugins/supply/tests/it/get_supply.rs"),
    ("get_market_coin", "needs a snapshot: plugins/supply/tests/it/get_market_coin.rs"),
    ("get_market", "needs a pool: plugins/payin/tests/it/get_market.rs"),
    ("get_total_supply", "needs a snapshot: plugins/supply/tests/it/get_total_supply.rs"),
    ("get_circulating_supply", "needs a snapshot: plugins/supply/tests/it/get_circulating_supply.rs"),
    ("get_max_supply", "needs a snapshot: plugins/supply/tests/it/get_total_supply.rs"),
    ("invoke_agent", "needs an agent that answers: plugins/a2a/tests/it/invoke_agent.rs"),
    ("invoke_compute", "needs a provider that answers: plugins/tools/tests/it/invoke_compute.rs"),
];
/// A read without parameters has nothing to refuse but the method.
const METHOD_NOT_ALLOWED: u16 = 405;

pub fn plugins_folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../plugins"))
}

/// The names of the folders in `plugins/`.
pub fn plugins() -> Vec<String> {
    let entries = fs::read_dir(plugins_folder()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() >= 3, "{names:?}");
    names
}

/// What operations answered: status and, for errors, the code.
#[derive(Default)]
struct Recorder(BTreeMap<String, BTreeSet<(u16, String)>>);

impl Recorder {
    fn record(&mut self, operation: &str, answer: &TestResponse) {
        let body: serde_json::Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        self.note(operation, answer.status, body["code"].as_str().unwrap_or_default());
    }

    fn note(&mut self, operation: &str, status: u16, code: &str) {
        self.0.entry(operation.to_owned()).or_default().insert((status, code.to_owned()));
    }

    fn has(&self, operation: &str, is_meant: impl Fn(u16) -> bool) -> bool {
        self.0.get(operation).is_some_and(|seen| seen.iter().any(|(status, _)| is_meant(*status)))
    }

    /// The responses that the route declares and no call got.
    fn gaps(&self, route: &RouteSpec) -> Vec<String> {
        let due = due_refusals(route).into_iter().filter(|status| !self.has(&route.operation, |seen| seen == *status));
        let mut gaps: Vec<String> =
            due.map(|status| format!("{} was never refused with {status}", route.operation)).collect();
        let is_exempt = SERVED_ELSEWHERE.iter().any(|(operation, _)| *operation == route.operation);
        if self.has(&route.operation, |status| status < 300) == is_exempt {
            let was = if is_exempt { "is served here after all" } else { "was never served" };
            gaps.push(format!("{} {was}", route.operation));
        }
        gaps
    }

    /// The errors that the plugin declares and no call got.
    fn unseen(&self, manifest: &Manifest) -> BTreeSet<(u16, String)> {
        let answers = manifest.routes.iter().flat_map(|route| &route.answers).filter(|answer| answer.status >= 400);
        let declared = answers.flat_map(|answer| answer.codes.iter().map(|code| (answer.status, code.clone())));
        let seen: BTreeSet<_> =
            manifest.routes.iter().filter_map(|route| self.0.get(&route.operation)).flatten().collect();
        declared.filter(|error| !seen.contains(error)).collect()
    }
}

/// The statuses that any route of this kind refuses with.
fn due_refusals(route: &RouteSpec) -> Vec<u16> {
    let is_written = matches!(route.auth, Auth::SignedBody { .. });
    let due =
        [(route.auth.action().is_some(), 401), (is_written, 400), (is_written, 413), (route.parent.is_some(), 404)];
    let due: Vec<u16> = due.into_iter().filter(|(is_due, _)| *is_due).map(|(_, status)| status).collect();
    if due.is_empty() { vec![METHOD_NOT_ALLOWED] } else { due }
}

/// The right call, made wrong so that it is refused with this status.
fn refused_call(route: &RouteSpec, call: &Call, status: u16, now_s: i64) -> Request {
    let (good, mut call) = (call.request(now_s), call.clone());
    match status {
        400 => Request { body: b"{".to_vec(), ..good },
        401 => {
            "another.action".clone_into(&mut call.signer.as_mut().unwrap().action);
            call.request(now_s)
        }
        404 => {
            let of_path = route.path.split('/').zip(call.path.split('/'));
            let segments = of_path.map(|(declared, given)| if declared.starts_with('{') { "999999" } else { given });
            call.path = segments.collect::<Vec<_>>().join("/");
            call.request(now_s)
        }
        413 => {
            // JSON up to its end, so that nothing but its size is wrong.
            call.payload = Payload::Json(serde_json::json!({ "x": "x".repeat(1 << 20) }));
            call.request(now_s)
        }
        // Below the paths of some reads, DELETE is a route of its own.
        METHOD_NOT_ALLOWED => Request { method: "PATCH".to_owned(), ..good },
        other => panic!("no call is known that {other} refuses"),
    }
}

#[tokio::test]
async fn every_operation_is_served_and_refused_as_it_declares() {
    let chain = chain().await;
    let gateway = start_with_content(&setup(&chain)).await;
    let site = Site::of(&gateway);
    let mut recorder = Recorder::default();
    // Each call is signed for a second of its own: a signature counts once.
    let mut now_s = Clock::System.now_s() - 250;
    let mut next_s = || {
        now_s += 1;
        now_s
    };
    let calls = calls(Clock::System.now_s());
    for call in &calls {
        // The fixture has asserted it: a second time it may be a conflict.
        recorder.note(call.operation, call.status, "");
    }
    let document = site.get("/api/openapi.json").await.json();
    let operations = openapi::operations(&document);
    let documented: BTreeSet<&str> =
        operations.iter().map(|(_, _, operation)| operation["operationId"].as_str().unwrap()).collect();
    assert_eq!(calls.iter().map(|call| call.operation).collect::<BTreeSet<_>>(), documented, "the list of right calls");

    let manifests: Vec<Manifest> = modules().into_iter().map(plugin_testing::manifest).collect();
    for route in manifests.iter().flat_map(|manifest| &manifest.routes) {
        let call = calls.iter().find(|call| call.operation == route.operation).unwrap();
        for status in due_refusals(route) {
            let answer = send(&site, &refused_call(route, call, status, next_s())).await;
            recorder.record(&route.operation, &answer);
        }
    }
    let mut wrong = Vec::new();
    for RefusedCall { call, status, code } in refusals(Clock::System.now_s()) {
        let answer = send(&site, &call.request(next_s())).await;
        recorder.record(call.operation, &answer);
        if (answer.status, answer.json()["code"].as_str()) != (status, Some(code)) {
            wrong.push(format!(
                "{} {}: {status} {code} expected, not {} {}",
                call.operation,
                call.path,
                answer.status,
                answer.text()
            ));
        }
    }
    wrong.extend(manifests.iter().flat_map(|manifest| &manifest.routes).flat_map(|route| recorder.gaps(route)));
    for manifest in &manifests {
        let elsewhere = TESTED_ELSEWHERE.iter().filter(|(plugin, ..)| *plugin == manifest.name);
        let elsewhere: BTreeSet<_> = elsewhere.map(|(_, status, code, _)| (*status, (*code).to_owned())).collect();
        let unseen = recorder.unseen(manifest);
        wrong.extend(
            unseen.difference(&elsewhere).map(|error| format!("{}: no call leads to {error:?}", manifest.name)),
        );
        wrong.extend(elsewhere.difference(&unseen).map(|error| format!("{}: {error:?} is seen here", manifest.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_no_faults(&gateway).await;
}

/// The file that an exception names has a test that sees the error: a plain request cannot bring it about.
#[test]
fn what_is_tested_elsewhere_is_tested_there() {
    for (plugin, status, code, reason) in TESTED_ELSEWHERE {
        let (_, file) = reason.rsplit_once(": ").unwrap();
        let path = plugins_folder().join("..").join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        let is_there = text.contains(&format!("\"{code}\"")) && text.contains(&status.to_string());
        assert!(is_there, "{file} sees no {status} {code} of {plugin}");
    }
}

#[test]
fn gaps_are_found() {
    let forum = plugin_testing::manifest(forum::plugin_module());
    let create_post = forum.routes.iter().find(|route| route.operation == "create_post").unwrap();
    let complete = [(201, ""), (400, "bad_request"), (401, "bad_signature"), (404, "not_found"), (413, "too_large")];
    let recorded = |without: u16| {
        let mut recorder = Recorder::default();
        for (status, code) in complete.into_iter().filter(|(status, _)| *status != without) {
            recorder.note("create_post", status, code);
        }
        recorder
    };
    assert_eq!(recorded(0).gaps(create_post), Vec::<String>::new());
    assert_eq!(recorded(0).unseen(&forum), BTreeSet::new());
    for (status, _) in complete {
        assert_eq!(recorded(status).gaps(create_post).len(), 1, "{status}");
    }
    assert_eq!(recorded(413).unseen(&forum), BTreeSet::from([(413, "too_large".to_owned())]));
}
