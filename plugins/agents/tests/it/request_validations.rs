//! The oracle: which deliveries it has validated, once, and within its limits.

use super::{
    Site,
    script::{self, agent, delivered, hash, requested},
    sites_with,
};
use plugin_testing::{Builder, ScriptedChain, ScriptedLog, ScriptedTx, TestGateway, Value, Wallet, json};
use std::time::Duration;

/// Number of the wallet with the key of the role oracle.
const ORACLE: u64 = 902;
const MINUTE: Duration = Duration::from_secs(60);
const METADATA: &str = "getMetadata(uint256,string) returns (bytes)";

fn oracle() -> String {
    Wallet::new(ORACLE).address().to_owned()
}

/// Agents 1 and 2 on each database, whose validator is the oracle.
async fn each(config: Value, test: impl AsyncFn(&Site)) {
    let configure = |builder: Builder| builder.signer("oracle", ORACLE).config("agents", config.clone());
    each_with(configure, test).await;
}

async fn each_with(configure: impl Fn(Builder) -> Builder, test: impl AsyncFn(&Site)) {
    for site in sites_with(vec![agent(1), agent(2)], configure).await {
        names(&site.chain, &oracle());
        site.chain.set_balance(oracle().parse().unwrap(), "1000000000000000000");
        test(&site).await;
        site.close().await;
    }
}

/// Every agent names this validator.
fn names(chain: &ScriptedChain, metadata: &str) {
    chain.mock_call(ScriptedChain::address_of("identity8004"), METADATA, &[json!(metadata)]);
}

/// Mines the events, so deep that they are public.
async fn publish(site: &Site, logs: Vec<ScriptedLog>) {
    site.chain.mine(logs);
    site.chain.mine_empty(3);
    site.gateway.indexed(&site.chain).await;
}

/// A job that is delivered with an output of the same number.
fn job(id: u64, agent: u64, amount: &str, uri: &str) -> Vec<ScriptedLog> {
    vec![requested(id, agent, 50, amount), delivered(id, id, uri)]
}

async fn until(site: &Site, what: &str, holds: impl AsyncFn() -> bool) {
    let waits = async {
        while !holds().await {
            site.gateway.clock().advance(Duration::from_secs(2)).await;
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(MINUTE, waits).await.is_ok(), "{what}: not in time");
}

async fn requests(site: &Site) -> usize {
    site.gateway.rows("SELECT job_id FROM agents_oracle_requests").await.len()
}

/// Lets the job look at everything that is public now.
async fn looked(site: &Site) {
    let events = site.gateway.events().await;
    let last = events.iter().filter(|event| event.kind == "job.delivered").map(|event| event.id).max().unwrap();
    let progress = "SELECT event_id FROM agents_oracle_progress";
    let has_all = async || site.gateway.rows(progress).await == [format!("Int({last})")];
    until(site, "the deliveries are looked at", has_all).await;
}

/// Lets time pass until so many transactions wait to be mined.
async fn waits(site: &Site, count: usize) -> Vec<ScriptedTx> {
    until(site, "the requests are sent", async || site.chain.waiting().len() == count).await;
    site.chain.waiting()
}

/// Whether the calldata holds this text, or these bytes of a `0x…`.
fn holds(tx: &ScriptedTx, part: &[u8]) -> bool {
    tx.data.windows(part.len()).any(|window| window == part)
}

async fn service(site: &Site) -> Value {
    site.gateway.collect("status", &json!({})).await["agents"]["oracle"].clone()
}

#[tokio::test]
async fn a_delivery_is_requested_once_when_it_is_public() {
    each(json!({}), async |site| {
        site.chain.mine(job(7, 1, "1", "ipfs://output"));
        site.gateway.indexed(&site.chain).await;
        assert_eq!(requests(site).await, 0, "its block is not deep enough");
        publish(site, Vec::new()).await;
        let tx = waits(site, 1).await.remove(0);
        assert_eq!(
            (tx.to, tx.gas, tx.from.to_string()),
            (ScriptedChain::address_of("validation8004"), 500_000, oracle())
        );
        let output = hash(7).parse::<plugin_api::Hash256>().unwrap();
        assert!(holds(&tx, b"ipfs://output") && holds(&tx, &output.0) && holds(&tx, &tx.from.0));
        let intents = site.gateway.rows("SELECT name FROM host_tx_intents WHERE role = 'oracle'").await;
        assert_eq!(intents, [format!("Text(\"oracle:7:{}\")", hash(7))]);
        assert_eq!(service(site).await["requestedToday"], 1);
        // The event of that transaction, with a URI that names no job.
        let arguments = [json!(oracle()), json!(1), json!("ipfs://output"), json!(hash(7))];
        let event = "ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash)";
        publish(site, vec![ScriptedLog::new("validation8004", event, &arguments)]).await;
        let validation = site.read("/api/jobs/7").await["validation"].clone();
        assert_eq!((&validation["jobId"], &validation["requestURI"]), (&json!(7), &json!("ipfs://output")));
        // Another delivery, so that the job has run again.
        publish(site, job(8, 1, "0", "")).await;
        looked(site).await;
        assert_eq!((requests(site).await, site.chain.mined().len()), (1, 1));
    })
    .await;
}

#[tokio::test]
async fn another_output_of_a_job_is_another_request_and_the_same_is_none() {
    each(json!({}), async |site| {
        publish(site, job(7, 1, "1", "ipfs://a")).await;
        waits(site, 1).await;
        publish(site, vec![delivered(7, 7, "ipfs://b")]).await;
        looked(site).await;
        assert_eq!(requests(site).await, 1, "the same output");
        publish(site, vec![delivered(7, 77, "ipfs://c")]).await;
        until(site, "the other output is requested", async || requests(site).await == 2).await;
    })
    .await;
}

#[tokio::test]
async fn only_paid_outputs_of_agents_that_name_the_oracle_are_requested() {
    each(json!({}), async |site| {
        publish(site, job(1, 1, "0", "u")).await;
        let no_hash = vec![requested(2, 1, 50, "5"), delivered(2, 0, "u")];
        publish(site, no_hash).await;
        looked(site).await;
        names(&site.chain, &script::account(8));
        publish(site, job(3, 1, "5", "u")).await;
        looked(site).await;
        names(&site.chain, "0x");
        publish(site, job(4, 1, "5", "u")).await;
        looked(site).await;
        assert_eq!(requests(site).await, 0);
        // 32 bytes, of which the last 20 count.
        names(&site.chain, &format!("0x{}{}", "00".repeat(12), &oracle()[2..]));
        publish(site, job(5, 1, "5", "u")).await;
        looked(site).await;
        assert_eq!(site.gateway.rows("SELECT job_id FROM agents_oracle_requests").await, ["Int(5)"]);
    })
    .await;
}

#[tokio::test]
async fn the_smallest_amount_is_the_operators() {
    each(json!({ "oracle_min_amount_wei": "0" }), async |site| {
        publish(site, job(1, 1, "0", "u")).await;
        looked(site).await;
        assert_eq!(requests(site).await, 1);
    })
    .await;
}

#[tokio::test]
async fn a_long_uri_and_none_are_replaced_by_the_jobs() {
    each(json!({}), async |site| {
        let (longest, longer) = ("a".repeat(256), "b".repeat(257));
        publish(site, [job(1, 1, "5", &longest), job(2, 1, "5", &longer), job(3, 1, "5", "")].concat()).await;
        let txs = waits(site, 3).await;
        let with = |text: &str| txs.iter().filter(|tx| holds(tx, text.as_bytes())).count();
        assert_eq!(
            [with(&longest), with("bbbb"), with("fmx://job/2"), with("fmx://job/3"), with("fmx://job/1")],
            [1, 0, 1, 1, 0]
        );
    })
    .await;
}

#[tokio::test]
async fn an_agent_has_its_share_and_all_have_theirs() {
    each(json!({ "oracle_per_agent_per_day": 2, "oracle_per_day": 3 }), async |site| {
        for id in 1..=3 {
            publish(site, job(id, 1, "5", "u")).await;
        }
        looked(site).await;
        assert_eq!(requests(site).await, 2, "of agent 1");
        for id in 4..=5 {
            publish(site, job(id, 2, "5", "u")).await;
        }
        looked(site).await;
        let requested = site.gateway.rows("SELECT job_id FROM agents_oracle_requests ORDER BY job_id").await;
        assert_eq!(requested, ["Int(1)", "Int(2)", "Int(4)"]);
        assert_eq!(service(site).await["requestedToday"], 3);
    })
    .await;
}

#[tokio::test]
async fn a_request_that_would_revert_costs_nothing() {
    each(json!({}), async |site| {
        site.chain.refuse_calls(ScriptedChain::address_of("validation8004"), true);
        publish(site, job(1, 1, "5", "u")).await;
        looked(site).await;
        assert_eq!((requests(site).await, service(site).await["requestedToday"].clone()), (0, json!(0)));
        assert!(site.gateway.rows("SELECT id FROM host_tx_intents").await.is_empty());
    })
    .await;
}

#[tokio::test]
async fn a_delivery_that_a_reorganisation_removes_is_not_requested() {
    each(json!({}), async |site| {
        site.chain.mine(job(1, 1, "5", "u"));
        site.gateway.indexed(&site.chain).await;
        site.chain.reorg(1);
        publish(site, job(2, 1, "5", "u")).await;
        looked(site).await;
        assert_eq!(site.gateway.rows("SELECT job_id FROM agents_oracle_requests").await, ["Int(2)"]);
    })
    .await;
}

#[tokio::test]
async fn old_deliveries_are_left_alone() {
    each(json!({}), async |site| {
        site.gateway.clock().advance(Duration::from_secs(2 * 86_400)).await;
        publish(site, job(1, 1, "5", "u")).await;
        let runs = async || -> u64 {
            let rows = "SELECT runs FROM host_job_runs WHERE plugin = 'agents' AND job = 'request_validations'";
            let digits = site.gateway.rows(rows).await.concat().replace(|digit: char| !digit.is_ascii_digit(), "");
            digits.parse().unwrap_or(0)
        };
        let before = runs().await;
        until(site, "the job runs twice", async || runs().await >= before + 2).await;
        assert_eq!(requests(site).await, 0);
    })
    .await;
}

#[tokio::test]
async fn a_chain_that_is_away_delays_and_is_no_fault() {
    each(json!({}), async |site| {
        publish(site, Vec::new()).await;
        let refused = plugin_testing::Fault::Status(500);
        site.chain.mine(job(1, 1, "5", "u"));
        site.chain.mine_empty(3);
        site.gateway.indexed(&site.chain).await;
        site.chain.fail_next(20, refused);
        waits(site, 1).await;
    })
    .await;
}

#[tokio::test]
async fn without_a_key_the_oracle_is_off_and_says_so() {
    each_with(
        |builder| builder,
        async |site| {
            publish(site, job(1, 1, "5", "u")).await;
            let service = service(site).await;
            let expected = json!({
                "ok": true, "enabled": false, "detail": "the role oracle has no key: no validation is requested",
                "address": null, "requestedToday": 0, "queued": 0,
            });
            assert_eq!(service, expected);
            assert_eq!(requests(site).await, 0);
        },
    )
    .await;
}

#[tokio::test]
async fn two_gateways_request_each_delivery_once() {
    each(json!({}), async |site| {
        if site.gateway.dialect() != "postgres" {
            return;
        }
        let url = site.gateway.gateway().config.database.url.clone();
        let builder = TestGateway::builder().plugin(agents::plugin_module()).signer("oracle", ORACLE);
        let builder = builder.configure(|config| config.database.url = url);
        let other = builder.chain(&site.chain, &super::CONTRACTS).start().await;
        for id in 1..=4 {
            publish(site, job(id, 1 + id % 2, "5", "u")).await;
        }
        let sent = async || {
            other.clock().advance(Duration::from_secs(2)).await;
            site.chain.waiting().len() == 4
        };
        until(site, "each is sent", sent).await;
        site.chain.mine_empty(4);
        looked(site).await;
        assert_eq!((requests(site).await, site.chain.mined().len()), (4, 4));
        assert_eq!(other.faults().await, Vec::<String>::new());
        other.stop().await;
    })
    .await;
}
