//! Refused calls: each is the right call of an operation with one thing changed, and the status and code that the change leads to.

use super::{
    call::{Call, Payload},
    calls::{alice, calls, owner},
};
use plugin_testing::{Value, Wallet, json};

/// A wallet that owns no agent and wrote nothing.
fn stranger() -> Wallet {
    Wallet::new(4)
}

#[derive(Clone, Debug)]
pub struct RefusedCall {
    pub call: Call,
    pub status: u16,
    pub code: &'static str,
}

/// The right calls, to be changed.
struct RightCalls(Vec<Call>);

impl RightCalls {
    fn of(&self, operation: &str) -> Call {
        let found = self.0.iter().find(|call| call.operation == operation);
        found.unwrap_or_else(|| panic!("{operation} has no right call")).clone()
    }

    /// With other members of the payload.
    fn with(&self, operation: &str, members: &Value, status: u16, code: &'static str) -> RefusedCall {
        RefusedCall { call: self.of(operation).with(members), status, code }
    }

    /// Signed by another wallet.
    fn by(&self, operation: &str, wallet: &Wallet, status: u16, code: &'static str) -> RefusedCall {
        RefusedCall { call: self.of(operation).by(wallet), status, code }
    }

    fn at(&self, operation: &str, path: &str, status: u16, code: &'static str) -> RefusedCall {
        RefusedCall { call: Call { path: path.to_owned(), ..self.of(operation) }, status, code }
    }

    /// A read with this query and no other.
    fn query(&self, operation: &str, query: &str, code: &'static str) -> RefusedCall {
        let call = Call { query: Vec::new(), ..self.of(operation) };
        RefusedCall { call: call.query(query), status: 400, code }
    }
}

/// One for each error that a plugin declares, in a gateway where every right call was made before.
pub fn refusals(now_s: i64) -> Vec<RefusedCall> {
    let right = RightCalls(calls(now_s));
    [
        talk(&right),
        arena(&right),
        bounties(&right, now_s),
        content(&right),
        vec![
            right.at("get_loadtest_address", "/api/loadtest/address/0x12", 400, "bad_address"),
            right.by("control_loadtest", &stranger(), 403, "not_operator"),
        ],
        memory(&right),
        faucet(&right),
        payin(&right),
        referrals(&right),
        webhooks(&right),
        supply(&right),
        waitlist(&right),
        reads(&right),
        calls_of_agents(&right),
    ]
    .concat()
}

fn talk(right: &RightCalls) -> Vec<RefusedCall> {
    vec![
        right.with("ping_presence", &json!({ "status": "x".repeat(1000) }), 400, "bad_request"),
        right.with("create_guest", &json!({ "message": "" }), 400, "empty_message"),
        right.with("create_guest", &json!({ "message": "x".repeat(1000) }), 400, "long_message"),
        right.with("create_thread", &json!({ "title": "" }), 400, "bad_request"),
        right.with("create_thread", &json!({ "body": "x".repeat(100_000) }), 413, "too_large"),
        right.with("create_post", &json!({ "replyTo": 999 }), 400, "bad_request"),
        right.with("create_post", &json!({ "body": "x".repeat(100_000) }), 413, "too_large"),
        right.at("create_post", "/api/forum/threads/999/posts", 404, "not_found"),
        right.at("get_thread", "/api/forum/threads/999", 404, "not_found"),
        right.with("create_message", &json!({ "body": " " }), 400, "bad_request"),
        right.with("create_message", &json!({ "to": 999 }), 404, "not_found"),
        right.with("create_message", &json!({ "body": "x".repeat(100_000) }), 413, "too_large"),
    ]
}

fn arena(right: &RightCalls) -> Vec<RefusedCall> {
    let digger = owner(1);
    vec![
        right.with("create_challenge", &json!({ "title": "" }), 400, "bad_request"),
        right.with("create_challenge", &json!({ "brief": "x".repeat(100_000) }), 413, "too_large"),
        right.with("create_submission", &json!({ "payloadHash": format!("0x{:064}", 1) }), 400, "unknown_payload"),
        right.with("create_submission", &json!({ "url": "https://127.0.0.1/" }), 400, "private_url"),
        right.with("create_submission", &json!({ "agentId": 2 }), 403, "not_owner"),
        right.with("create_submission", &json!({}), 409, "already_submitted"),
        right.at("create_submission", "/api/arena/challenges/999/submissions", 404, "not_found"),
        right.by("vote_submission", &digger, 403, "self_vote"),
        right.with("vote_submission", &json!({ "score": 11 }), 400, "bad_request"),
        right.at("vote_submission", "/api/arena/submissions/999/vote", 404, "not_found"),
        right.by("award_challenge", &digger, 403, "not_creator"),
        right.with("award_challenge", &json!({}), 409, "not_closed"),
        right.at("award_challenge", "/api/arena/challenges/999/award", 404, "not_found"),
        right.at("get_challenge", "/api/arena/challenges/999", 404, "not_found"),
    ]
}

/// Bounty 1 is open, bounty 2 is awarded to agent 2.
fn bounties(right: &RightCalls, now_s: i64) -> Vec<RefusedCall> {
    let digger = owner(1);
    vec![
        right.with("create_bounty", &json!({ "deadline": now_s - 1000 }), 400, "bad_request"),
        right.with("create_bounty", &json!({ "brief": "x".repeat(100_000) }), 413, "too_large"),
        right.with("claim_bounty", &json!({ "agentId": 2 }), 403, "not_owner"),
        right.with("claim_bounty", &json!({ "pitch": " " }), 400, "bad_request"),
        right.at("claim_bounty", "/api/bounties/2/claims", 409, "not_open"),
        right.at("claim_bounty", "/api/bounties/999/claims", 404, "not_found"),
        right.by("award_bounty", &digger, 403, "not_poster"),
        right.at("award_bounty", "/api/bounties/999/award", 404, "not_found"),
        right.with("award_bounty", &json!({ "jobId": 1 }), 400, "bad_request"),
        right.at("get_bounty", "/api/bounties/999", 404, "not_found"),
        right.query("get_agent_audit", "from=-1", "bad_request"),
        right.at("get_agent_audit", "/api/agents/999/audit.jsonl", 404, "not_found"),
    ]
}

/// Artifacts, pages, payloads and tools.
fn content(right: &RightCalls) -> Vec<RefusedCall> {
    let empty = Call { payload: Payload::Bytes("text/plain".to_owned(), Vec::new()), ..right.of("store_payload") };
    vec![
        right.with("publish_artifact", &json!({ "name": "" }), 400, "bad_request"),
        right.with("publish_artifact", &json!({ "payloadHash": format!("0x{:064}", 1) }), 400, "unknown_payload"),
        right.with("publish_artifact", &json!({ "url": "https://127.0.0.1/" }), 400, "private_url"),
        right.at("star_artifact", "/api/artifacts/999/star", 404, "not_found"),
        right.at("get_artifact", "/api/artifacts/999", 404, "not_found"),
        right.with("write_page", &json!({ "title": "" }), 400, "bad_request"),
        right.with("write_page", &json!({ "body": "x".repeat(200_000) }), 413, "too_large"),
        right.by("write_page", &stranger(), 403, "kb_protected"),
        right.at("write_page", "/api/kb/Not_A_Slug", 400, "bad_slug"),
        right.at("get_page", "/api/kb/no-such-page", 404, "not_found"),
        right.at("get_page_history", "/api/kb/no-such-page/history", 404, "not_found"),
        RefusedCall { call: empty, status: 400, code: "bad_request" },
        right.at("get_payload", &format!("/api/payloads/0x{:064}", 1), 404, "not_found"),
        right.with("publish_tool", &json!({ "name": "" }), 400, "bad_request"),
        right.with("publish_tool", &json!({ "url": "https://127.0.0.1/" }), 400, "private_url"),
        right.with("publish_tool", &json!({ "schema": { "x": "x".repeat(100_000) } }), 413, "too_large"),
        right.at("get_tool", "/api/tools/999", 404, "not_found"),
        right.at("get_compute", "/api/compute/999", 404, "not_found"),
        right.at("invoke_compute", "/api/compute/999/invoke", 404, "not_found"),
    ]
}

fn calls_of_agents(right: &RightCalls) -> Vec<RefusedCall> {
    let hop = |operation, path| {
        let mut call = right.at(operation, path, 508, "loop").call;
        call.headers.push(("x-service-hop".to_owned(), "1".to_owned()));
        RefusedCall { call, status: 508, code: "loop" }
    };
    let seconds = |seconds: &str| {
        let call = Call { query: Vec::new(), ..right.of("invoke_compute") };
        RefusedCall { call: call.query(&format!("seconds={seconds}")), status: 400, code: "bad_request" }
    };
    vec![
        right.at("get_a2a_card", "/a/nobody/.well-known/agent-card.json", 404, "not_found"),
        right.at("get_old_a2a_card", "/a/999/.well-known/agent.json", 404, "not_found"),
        right.at("invoke_agent", "/a/nobody/invoke", 404, "not_found"),
        // No agent has an endpoint.
        right.at("invoke_agent", "/a/1/invoke", 502, "bad_endpoint"),
        hop("invoke_agent", "/a/1/invoke"),
        hop("invoke_compute", "/api/compute/2/invoke"),
        seconds("3601"),
    ]
}

/// There is no snapshot here.
fn supply(right: &RightCalls) -> Vec<RefusedCall> {
    let mut refusals = vec![right.at("get_supply", "/api/supply", 503, "chain_unavailable")];
    let unknown = "/api/market/coingecko/coins/nobody";
    refusals.push(right.at("get_market_coin", unknown, 404, "not_found"));
    refusals.push(right.at("get_market_chart", &format!("{unknown}/market_chart"), 404, "not_found"));
    for operation in ["get_total_supply", "get_circulating_supply", "get_max_supply"] {
        refusals.push(right.query(operation, "format=xml", "bad_format"));
    }
    refusals
}

/// The owner of the second agent has no records.
fn memory(right: &RightCalls) -> Vec<RefusedCall> {
    let of_sorter = right.of("anchor_memory").with(&json!({ "agentId": 2 })).by(&owner(2));
    vec![
        right.at("put_memory", "/api/memory/.plan", 400, "bad_request"),
        right.at("put_memory", "/api/memory/anchors", 409, "reserved_key"),
        right.with("put_memory", &json!({ "value": "x".repeat(100_000) }), 413, "too_large"),
        right.at("get_memory", "/api/memory/nothing", 404, "not_found"),
        right.at("get_memory", "/api/memory/.plan", 400, "bad_request"),
        right.at("delete_memory", "/api/memory/nothing", 404, "not_found"),
        right.with("anchor_memory", &json!({ "agentId": 2 }), 403, "not_owner"),
        right.with("anchor_memory", &json!({ "agentId": 999 }), 404, "not_found"),
        RefusedCall { call: of_sorter, status: 409, code: "nothing_to_anchor" },
        right.query("list_memory_anchors", "status=done", "bad_request"),
        right.at("get_memory_proof", "/api/memory/proof/1/x", 400, "bad_request"),
        right.at("get_memory_proof", "/api/memory/proof/1/999", 404, "not_found"),
    ]
}

/// Without a key of the role that pays.
fn faucet(right: &RightCalls) -> Vec<RefusedCall> {
    let off = |operation: &str| RefusedCall { call: right.of(operation), status: 503, code: "disabled" };
    vec![off("request_drip"), off("relay_call"), off("create_account")]
}

/// Without another chain.
fn payin(right: &RightCalls) -> Vec<RefusedCall> {
    vec![
        RefusedCall { call: right.of("create_quote"), status: 503, code: "disabled" },
        right.at("get_quote", "/api/payin/q_0", 404, "not_found"),
        right.at("get_market", "/api/payin/market", 503, "market_unavailable"),
        right.by("list_addresses", &stranger(), 403, "not_operator"),
        right.by("pause_payin", &stranger(), 403, "not_operator"),
        right.with("pause_payin", &json!({ "chain": "eth" }), 400, "unknown_chain"),
        RefusedCall { call: right.of("resolve_deposit"), status: 404, code: "not_found" },
    ]
}

fn referrals(right: &RightCalls) -> Vec<RefusedCall> {
    vec![
        right.with("create_referral", &json!({ "newAgentId": 999 }), 404, "not_found"),
        right.by("create_referral", &stranger(), 403, "not_owner"),
        right.with("create_referral", &json!({ "ref": 1 }), 400, "self_referral"),
        right.with("create_referral", &json!({}), 409, "already_referred"),
        right.at("get_referral", "/api/referrals/999", 404, "not_found"),
        right.by("release_referral", &stranger(), 403, "not_operator"),
        right.with("release_referral", &json!({ "newAgentId": 999 }), 404, "not_found"),
        right.with("release_referral", &json!({ "side": "new" }), 409, "nothing_to_release"),
    ]
}

fn webhooks(right: &RightCalls) -> Vec<RefusedCall> {
    vec![
        right.with("set_webhook", &json!({ "secret": "too short" }), 400, "bad_request"),
        right.with("set_webhook", &json!({ "url": "http://127.0.0.1/" }), 400, "private_url"),
        right.at("delete_webhook", "/api/webhooks/999", 404, "not_found"),
        RefusedCall {
            call: Call { path: "/api/webhooks/1".to_owned(), ..right.of("delete_webhook") }.by(&stranger()),
            status: 403,
            code: "not_owner",
        },
        right.by("test_webhook", &stranger(), 403, "not_owner"),
        right.with("replay_webhook", &json!({ "status": "some" }), 400, "bad_request"),
    ]
}

fn waitlist(right: &RightCalls) -> Vec<RefusedCall> {
    let address = alice().address().to_owned();
    let of = |change: &str, code| {
        let fields = [
            ("address", address.as_str()),
            ("platform", "linux"),
            ("seats", "1"),
            ("contact", "@alice"),
            ("consent", "1"),
        ];
        let (changed, _) = change.split_once('=').unwrap_or((change, ""));
        let kept = fields.iter().filter(|(name, _)| *name != changed).map(|(name, value)| format!("{name}={value}"));
        right.query("get_waitlist_challenge", &kept.chain([change.to_owned()]).collect::<Vec<_>>().join("&"), code)
    };
    vec![
        of("address=0x12", "bad_address"),
        of("address=0x00000000000000000000000000000000000000aA", "bad_checksum"),
        of("platform=dos", "bad_platform"),
        of("seats=11", "bad_seats"),
        of("contact=?", "bad_contact"),
        of("consent=0", "consent_required"),
        right.with("join_waitlist", &json!({ "address": "0x12" }), 400, "bad_address"),
        right.by("export_waitlist", &stranger(), 403, "not_operator"),
        right.query("export_waitlist", "format=xml", "bad_format"),
    ]
}

fn reads(right: &RightCalls) -> Vec<RefusedCall> {
    vec![
        right.at("get_log_tile", "/api/log/tile/0/x000", 404, "not_found"),
        right.at("get_log_entries", "/api/log/tile/entries/x000", 404, "not_found"),
        right.query("list_activity", "actor=nobody", "bad_request"),
        right.at("get_agent", "/api/agents/999", 404, "not_found"),
        right.at("get_agent_registration", "/api/agents/999/erc8004.json", 404, "not_found"),
        right.at("get_cv", "/api/cv/nobody", 404, "not_found"),
        right.query("get_cv", "document=0x12", "bad_request"),
        right.at("get_cv_credential", "/api/cv/999/credential.json", 404, "not_found"),
        right.query("get_cv_credential", "signer=me", "bad_request"),
        right.at("get_cv_verification", "/api/cv/999/verify", 404, "not_found"),
        right.query("get_cv_badge", "metric=fame", "bad_request"),
        right.query("list_jobs", "client=nobody", "bad_request"),
        right.query("get_network", "kind=none", "bad_request"),
        right.at("list_similar_agents", "/api/network/similar/999", 404, "not_found"),
        right.query("list_artifacts", "owner=nobody", "bad_query"),
        right.query("list_bounties", "status=none", "bad_request"),
        right.query("list_streams", "payer=nobody", "bad_request"),
        right.query("list_plans", "payee=nobody", "bad_request"),
        right.query("list_subs", "payer=nobody", "bad_request"),
        right.query("list_disputes", "opener=nobody", "bad_request"),
        right.query("list_tokens", "agentId=x", "bad_request"),
        right.query("list_accounts", "owner=nobody", "bad_request"),
        right.query("list_tools", "owner=nobody", "bad_request"),
        right.query("list_work", "kind=none", "bad_request"),
        right.query("stream_work", "kind=none", "bad_request"),
        right.with("verify_payment", &json!({ "paymentPayload": {} }), 400, "bad_request"),
        right.with("settle_payment", &json!({ "paymentPayload": {} }), 400, "bad_request"),
        right.at("get_payer", "/api/x402/payer/0x12", 400, "bad_address"),
    ]
}
