//! A valid call of every operation. Made in this order in a new gateway, each call finds the records that it names by
//! id, and every plugin has records at the end.

use super::call::{Call, Payload, SignedIn};
use alloy_primitives::keccak256;
use plugin_testing::{Value, Wallet, json};

pub const PAYLOAD: &str = "what a job is about";

/// Signs most of the writes, and is the client of jobs and bounties.
pub fn alice() -> Wallet {
    Wallet::new(1)
}

/// Owns this agent: wallet 11 owns agent 1, wallet 12 owns agent 2.
pub fn owner(agent: u64) -> Wallet {
    Wallet::new(10 + agent)
}

/// An operator in the plugins' configuration.
pub fn operator() -> Wallet {
    Wallet::new(3)
}

/// The writes, then the reads.
pub fn calls(now_s: i64) -> Vec<Call> {
    [writes(now_s), commons_reads(), reads_of_contracts(), calls_of_agents(), payments(), arrivals(now_s), meta()]
        .concat()
}

/// The writes, last those that need another wallet's record, such as votes.
pub fn writes(now_s: i64) -> Vec<Call> {
    [talk(), offers(now_s), made(now_s), remembered(), called(), ends()].concat()
}

/// A payload, presence, posts and messages.
fn talk() -> Vec<Call> {
    let (alice, digger) = (alice(), owner(1));
    let hash = keccak256(PAYLOAD).to_string();
    vec![
        Call::post("store_payload", "/api/payloads", Payload::Bytes("text/plain".to_owned(), PAYLOAD.into())),
        Call::write("ping_presence", "/api/presence", &alice, "presence.ping", json!({ "status": "at work" }))
            .answered(200),
        Call::write("create_guest", "/api/hello/guests", &alice, "hello.sign", json!({ "message": "I was here" })),
        Call::write(
            "create_thread",
            "/api/forum/threads",
            &alice,
            "thread.create",
            json!({ "title": "Who digs?", "body": format!("fmx://payload/{hash}"), "tags": ["help"] }),
        ),
        Call::write(
            "create_post",
            "/api/forum/threads/1/posts",
            &digger,
            "post.create",
            json!({ "body": "I do, @alice", "replyTo": 1 }),
        ),
        Call::write(
            "create_message",
            "/api/messages",
            &alice,
            "message.send",
            json!({ "to": 1, "subject": "About the hole", "body": "How deep?" }),
        ),
    ]
}

/// Work, knowledge and tools.
fn offers(now_s: i64) -> Vec<Call> {
    let (alice, digger, sorter) = (alice(), owner(1), owner(2));
    vec![
        Call::write(
            "create_bounty",
            "/api/bounties",
            &alice,
            "bounty.create",
            json!({ "title": "A hole", "brief": "Dig it", "rewardWei": "5000000000000000000", "tags": ["dig"],
                "deadline": now_s + 7 * 86_400 }),
        ),
        Call::write(
            "claim_bounty",
            "/api/bounties/1/claims",
            &digger,
            "bounty.claim",
            json!({ "agentId": 1, "pitch": "I have a spade" }),
        ),
        Call::write(
            "write_page",
            "/api/kb/how-to-dig",
            &alice,
            "kb.write",
            json!({ "title": "How to dig", "body": "With a spade", "summary": "begun" }),
        )
        .method("PUT"),
        Call::write(
            "publish_tool",
            "/api/tools",
            &sorter,
            "tool.publish",
            json!({ "name": "sorter", "kind": "http", "url": "https://tool.invalid/sort", "description": "Sorts" }),
        ),
        compute(&sorter),
    ]
}

/// Artifacts, and a challenge with submissions.
fn made(now_s: i64) -> Vec<Call> {
    let (alice, digger) = (alice(), owner(1));
    let hash = keccak256(PAYLOAD).to_string();
    vec![
        Call::write(
            "publish_artifact",
            "/api/artifacts",
            &digger,
            "artifact.publish",
            json!({ "name": "Holes", "kind": "dataset", "description": "All of them", "license": "MIT", "tags": ["dig"],
                "payloadHash": hash, "url": "https://a.example/holes" }),
        ),
        Call::write("star_artifact", "/api/artifacts/1/star", &alice, "artifact.star", json!({})).answered(200),
        Call::write(
            "create_challenge",
            "/api/arena/challenges",
            &alice,
            "arena.create",
            json!({ "title": "The deepest", "brief": "Dig", "rules": "By hand", "prizeWei": "7", "tags": ["dig"],
                "endsAt": now_s + 86_400 }),
        ),
        Call::write(
            "create_submission",
            "/api/arena/challenges/1/submissions",
            &digger,
            "arena.submit",
            json!({ "agentId": 1, "note": "Three metres", "payloadHash": hash, "url": "https://a.example/hole" }),
        ),
        Call::write("vote_submission", "/api/arena/submissions/1/vote", &alice, "arena.vote", json!({ "score": 7 }))
            .answered(200),
    ]
}

/// Values of the first agent's owner, and a batch of the records.
fn remembered() -> Vec<Call> {
    let digger = owner(1);
    let put = |path: &str, value: Value| {
        Call::write("put_memory", path, &digger, "memory.put", json!({ "value": value })).method("PUT")
    };
    let anchor = |payload: Value| Call::write("anchor_memory", "/api/memory/anchor", &digger, "memory.anchor", payload);
    vec![
        put("/api/memory/plan", json!({ "next": "dig deeper" })),
        put("/api/memory/old", json!("dig")),
        Call::get("delete_memory", "/api/memory/old").method("DELETE").signed(
            &digger,
            "memory.delete",
            SignedIn::Headers,
        ),
        anchor(json!({ "agentId": 1, "uri": "ipfs://batch" })),
        anchor(json!({ "agentId": 1, "txHash": keccak256("a transaction").to_string() })).answered(200),
    ]
}

/// Webhooks of the first agent's owner.
fn called() -> Vec<Call> {
    let digger = owner(1);
    let set = |path: &str| {
        let url = format!("https://hook.invalid/{path}");
        let payload =
            json!({ "url": url, "secret": "the secret of the digger", "events": ["dm.received", "job.requested"] });
        Call::write("set_webhook", "/api/webhooks", &digger, "webhook.set", payload)
    };
    vec![
        set("kept"),
        set("old"),
        Call::get("delete_webhook", "/api/webhooks/2").method("DELETE").signed(
            &digger,
            "webhook.delete",
            SignedIn::Headers,
        ),
        Call::write("test_webhook", "/api/webhooks/1/test", &digger, "webhook.test", json!({ "id": 1 })).answered(202),
        Call::write(
            "replay_webhook",
            "/api/webhooks/1/replay",
            &digger,
            "webhook.replay",
            json!({ "id": 1, "since": 0 }),
        )
        .answered(202),
    ]
}

fn ends() -> Vec<Call> {
    let alice = alice();
    let referral = json!({ "newAgentId": 1, "ref": 2 });
    vec![
        Call::write(
            "control_loadtest",
            "/api/loadtest/runner",
            &operator(),
            "loadtest.control",
            json!({ "do": "start" }),
        )
        .answered(200),
        Call::write("create_referral", "/api/referrals", &owner(1), "referral.claim", referral),
        Call::write(
            "release_referral",
            "/api/referrals/payouts/release",
            &operator(),
            "referral.release",
            json!({ "newAgentId": 1 }),
        )
        .answered(200),
        Call::write("pause_payin", "/api/payin/pause", &operator(), "payin.pause", json!({ "paused": false }))
            .answered(200),
        // It goes on for a day.
        Call::write("award_challenge", "/api/arena/challenges/1/award", &alice, "arena.award", json!({ "agentId": 1 }))
            .answered(409),
        Call::post(
            "join_waitlist",
            "/api/validators/waitlist",
            Payload::Json(json!({ "address": alice.address(), "platform": "linux", "seats": 2,
                "contact": "alice@a.example", "consent": true })),
        )
        .answered(201),
        // Another bounty, so that the first stays open.
        Call::write(
            "create_bounty",
            "/api/bounties",
            &alice,
            "bounty.create",
            json!({ "title": "A pile", "brief": "Sort it", "rewardWei": "1" }),
        ),
        Call::write("award_bounty", "/api/bounties/2/award", &alice, "bounty.award", json!({ "agentId": 2 }))
            .answered(200),
    ]
}

fn compute(owner: &Wallet) -> Call {
    let payload: Value = json!({
        "name": "rack", "kind": "compute", "endpoint": "https://tool.invalid/rack", "gpu": "NVIDIA H100", "vramGb": 80,
        "pricePerSecond": "1000", "region": "EU-West", "schema": { "type": "object" }
    });
    Call::write("publish_tool", "/api/tools", owner, "tool.publish", payload)
}

fn commons_reads() -> Vec<Call> {
    let (alice, digger, sorter) = (alice(), owner(1), owner(2));
    let (a, d, s) = (alice.address(), digger.address(), sorter.address());
    let hash = keccak256(PAYLOAD).to_string();
    let page = "limit=5&offset=0";
    vec![
        Call::get("list_activity", "/api/activity").query("since=0&sinceId=0&type=thread.create,post.*&limit=5"),
        Call::get("stream_activity", "/api/stream").query("since=0&sinceId=0&type=thread.create"),
        Call::get("list_presence", "/api/presence"),
        Call::get("get_leaderboard", "/api/leaderboard").query("limit=5"),
        Call::get("list_challenges", "/api/arena/challenges").query("status=open&q=deep&tag=dig").query(page),
        Call::get("get_challenge", "/api/arena/challenges/1").query(&format!("viewer={a}")),
        Call::get("list_artifacts", "/api/artifacts").query("q=ol&kind=dataset&tag=dig&sort=stars").query(page),
        Call::get("get_artifact", "/api/artifacts/1").query(&format!("viewer={a}")),
        Call::get("list_bounties", "/api/bounties").query("status=open&sort=reward&q=hole&tag=dig").query(page),
        Call::get("get_bounty", "/api/bounties/1"),
        Call::get("list_threads", "/api/forum/threads").query("sort=active&q=digs&tag=help").query(page),
        Call::get("get_thread", "/api/forum/threads/1"),
        Call::get("list_feed", "/api/forum/feed").query("since=0&limit=5"),
        Call::get("get_greeting", "/api/hello/world"),
        Call::get("list_guests", "/api/hello/guests").query(page),
        Call::get("list_pages", "/api/kb").query("sort=updated&q=spade").query(page),
        Call::get("get_page", "/api/kb/how-to-dig"),
        Call::get("get_page_history", "/api/kb/how-to-dig/history").query("rev=1"),
        Call::get("list_inbox", "/api/messages/inbox").query("limit=5").signed(&digger, "inbox.read", SignedIn::Query),
        Call::get("list_memory", "/api/memory").signed(&digger, "memory.get", SignedIn::Headers),
        Call::get("get_memory", "/api/memory/plan").signed(&digger, "memory.get", SignedIn::Headers),
        Call::get("list_own_webhooks", "/api/webhooks/mine").query("deliveries=5").signed(
            &digger,
            "webhook.set",
            SignedIn::Headers,
        ),
        Call::get("list_memory_anchors", "/api/memory/anchors")
            .query(&format!("agentId=1&address={d}&status=submitted"))
            .query(page),
        Call::get("get_memory_proof", "/api/memory/proof/1/1"),
        Call::get("get_loadtest_stats", "/api/loadtest/stats"),
        Call::get("get_loadtest_address", "/api/loadtest/address/0xC75F02c48cB7f7f0220dee74E7F212906Acc68A3"),
        Call::get("get_loadtest_manifest", "/api/loadtest/manifest"),
        Call::get("get_loadtest_disclosure", "/.well-known/loadtest.json"),
        Call::get("list_referrers", "/api/referrals/leaderboard").query("limit=5"),
        Call::get("list_agent_referrals", "/api/referrals/by/2").query(page),
        Call::get("get_referral", "/api/referrals/1"),
        Call::get("get_payload", format!("/api/payloads/{hash}")),
        Call::get("list_tools", "/api/tools").query(&format!("q=sort&kind=http&owner={s}&online=0")).query(page),
        Call::get("get_tool", "/api/tools/1"),
        Call::get("list_compute", "/api/compute")
            .query("q=rack&gpu=h100&region=eu&minVramGb=40&maxPricePerSecond=2000&online=0")
            .query(page),
        Call::get("get_compute", "/api/compute/2"),
        Call::get("get_waitlist_challenge", "/api/validators/waitlist/challenge")
            .query(&format!("address={d}&platform=both&seats=1&contact=@digger&consent=1")),
        Call::get("count_waitlist", "/api/validators/waitlist/count"),
        Call::get("export_waitlist", "/api/validators/waitlist/export").query("format=json").signed(
            &operator(),
            "validators.export",
            SignedIn::Headers,
        ),
        // Snapshots need a chain of its own, with blocks enough on top.
        Call::get("get_supply", "/api/supply").answered(503),
        Call::get("get_total_supply", "/api/supply/total").query("format=json").answered(503),
        Call::get("get_circulating_supply", "/api/supply/circulating").query("format=json").answered(503),
        Call::get("get_max_supply", "/api/supply/max").query("format=json").answered(503),
        Call::get("get_market_coin", "/api/market/coingecko/coins/service").answered(503),
        Call::get("get_market_chart", "/api/market/coingecko/coins/service/market_chart"),
        Call::get("get_log_checkpoint", "/api/log/checkpoint"),
        Call::get("get_log_tile", "/api/log/tile/0/000.p/1"),
        Call::get("get_log_entries", "/api/log/tile/entries/000.p/1"),
        Call::get("list_work", "/api/work").query("capability=dig&minReward=1&kind=job,bounty&sort=reward").query(page),
        Call::get("stream_work", "/api/work/feed").query("kind=bounty&since=0&sinceId=0"),
    ]
}

fn reads_of_contracts() -> Vec<Call> {
    let (alice, digger) = (alice(), owner(1));
    let (a, d) = (alice.address(), digger.address());
    let page = "limit=5&offset=0";
    vec![
        Call::get("list_agents", "/api/agents").query("status=active&q=digger&sort=rating").query(page),
        Call::get("get_agent", "/api/agents/1"),
        Call::get("list_agent_jobs", "/api/agents/1/jobs").query("status=open").query(page),
        Call::get("get_agent_registration", "/api/agents/1/erc8004.json"),
        Call::get("get_cv", "/api/cv/1").query("limit=5"),
        Call::get("get_cv_credential", "/api/cv/1/credential.json").query("limit=5&signer=owner"),
        Call::get("get_cv_verification", "/api/cv/1/verify"),
        Call::get("get_cv_badge", "/api/cv/1/badge.svg").query("theme=dark&style=card&metric=earned"),
        Call::get("get_cv_context", "/api/ns/aicv/v1"),
        Call::get("get_cv_schema", "/api/ns/aicv/v1/schema.json"),
        Call::get("get_agent_audit", "/api/agents/1/audit.jsonl")
            .query("from=0&to=4000000000&limit=5&sign=lines&after=0.0.0.a.0"),
        Call::get("list_jobs", "/api/jobs").query(&format!("client={a}&agentOwner={d}")).query(page),
        Call::get("get_job", "/api/jobs/1"),
        Call::get("get_network", "/api/network").query("kind=hire&agentId=2&minJobs=1&limit=5"),
        Call::get("get_network_graph", "/api/network/graph.svg"),
        Call::get("list_similar_agents", "/api/network/similar/1").query("limit=5"),
        Call::get("list_streams", "/api/streams").query(&format!("payer={a}&payee={d}&status=open")).query(page),
        Call::get("list_plans", "/api/streams/plans").query(&format!("payee={d}&active=1")).query(page),
        Call::get("list_subs", "/api/streams/subs").query(&format!("payer={a}&planId=1&active=1")).query(page),
        Call::get("list_disputes", "/api/disputes")
            .query(&format!("status=open&open=1&jobId=1&opener={a}"))
            .query(page),
        Call::get("list_tokens", "/api/tokens").query("agentId=1").query(page),
        Call::get("list_accounts", "/api/accounts").query(&format!("owner={a}")).query(page),
    ]
}

/// Which agents have an endpoint depends on the economy; a job that is done needs none. The compute's endpoint never resolves, and nobody takes payments.
fn calls_of_agents() -> Vec<Call> {
    let message =
        json!({ "role": "user", "messageId": "m-1", "parts": [{ "kind": "text", "text": "What came out?" }] });
    let params = json!({ "message": message, "metadata": { "jobId": 2 } });
    let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "message/send", "params": params });
    let input = || Payload::Json(json!({ "input": 1 }));
    vec![
        Call::get("get_a2a_card", "/a/1/.well-known/agent-card.json"),
        Call::get("get_old_a2a_card", "/a/1/.well-known/agent.json"),
        Call::post("call_a2a", "/a/2/a2a", Payload::Json(request)),
        Call::post(
            "call_rpc",
            "/rpc",
            Payload::Json(json!({ "jsonrpc": "2.0", "id": 1, "method": "eth_blockNumber", "params": [] })),
        ),
        Call::post("invoke_agent", "/a/999999/invoke", input()).answered(404),
        Call::post("invoke_compute", "/api/compute/2/invoke", input()).query("seconds=60").answered(503),
    ]
}

/// Of a payment that has expired: the answer says why it is refused.
fn payments() -> Vec<Call> {
    let (alice, digger) = (alice(), owner(1));
    let voucher = json!({
        "payer": alice.address(), "payee": digger.address(), "amount": "1000", "nonce": "1", "expiry": "1700000000", "ref": "0x",
    });
    let payment = json!({ "voucher": voucher, "signature": format!("0x{}", "11".repeat(65)) });
    let requirements =
        json!({ "payTo": digger.address(), "maxAmountRequired": "1000", "resource": "https://tool.invalid/rack" });
    let body = || Payload::Json(json!({ "paymentPayload": payment, "paymentRequirements": requirements }));
    vec![
        Call::get("get_supported", "/api/x402/supported"),
        Call::post("verify_payment", "/api/x402/verify", body()),
        Call::post("settle_payment", "/api/x402/settle", body()),
        Call::get("get_payer", format!("/api/x402/payer/{}", alice.address())),
    ]
}

/// Without the keys of relayer and pay-in, and without another chain.
fn arrivals(now_s: i64) -> Vec<Call> {
    let (alice, digger) = (alice(), owner(1));
    let call = json!({
        "account": digger.address(), "to": digger.address(), "deadline": now_s + 3600, "sig": format!("0x{}", "11".repeat(65)),
    });
    let quote = json!({ "chain": "base", "asset": "USDC", "amount": "10", "to": alice.address() });
    vec![
        Call::get("get_faucet", "/api/faucet"),
        Call::post("request_drip", "/api/faucet", Payload::Json(json!({ "address": alice.address() }))).answered(503),
        Call::get("get_assets", "/api/payin/assets"),
        Call::get("get_market", "/api/payin/market").answered(503),
        Call::get("get_quote", "/api/payin/q_0123456789abcdef").answered(404),
        Call::get("list_addresses", "/api/payin/addresses").signed(&operator(), "payin.addresses", SignedIn::Headers),
        Call::get("list_deposits", "/api/payin/deposits").signed(&operator(), "payin.deposits", SignedIn::Headers),
        Call::post("create_quote", "/api/payin/quote", Payload::Json(quote)).answered(503),
        Call::write(
            "resolve_deposit",
            "/api/payin/deposits/resolve",
            &operator(),
            "payin.resolve",
            json!({ "depositId": 1 }),
        )
        .answered(404),
        Call::get("get_relay", "/api/relay"),
        Call::post("relay_call", "/api/relay", Payload::Json(call)).answered(503),
        Call::post("create_account", "/api/accounts/create", Payload::Json(json!({ "owner": alice.address() })))
            .answered(503),
    ]
}

fn meta() -> Vec<Call> {
    vec![
        Call::get("get_index", "/api"),
        Call::get("get_openapi", "/api/openapi.json"),
        Call::get("get_llms_txt", "/api/discovery/llms.txt"),
        Call::get("get_llms_txt_at_root", "/llms.txt"),
        Call::get("get_agent_card", "/api/discovery/agent.json"),
        Call::get("get_well_known_agent_card", "/.well-known/agent.json"),
        Call::get("get_manifest", "/api/discovery/service.json"),
        Call::get("get_well_known_manifest", "/.well-known/service.json"),
        Call::get("get_health", "/api/health"),
        Call::get("get_stats", "/api/stats"),
        Call::get("get_status", "/api/status"),
        // It has sent nothing.
        Call::get("get_transaction", format!("/api/tx/0x{}", "ab".repeat(32))).answered(404),
        Call::get("list_releases", "/api/changelog").query("since=0.1.0&limit=5&format=json"),
        Call::get("get_docs", "/docs"),
        Call::get("get_front_page", "/"),
        Call::get("get_docs_asset", "/docs/docs.css"),
    ]
}
