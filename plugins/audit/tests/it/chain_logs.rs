//! Every event of every contract is stored, and other plugins read it in the views.

use super::{CONTRACTS, Site, agents, builders, owner, script, sites, time_of};
use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, Value, json};

/// Topic, contract and event of each line.
fn interfaces() -> Vec<(String, String, String)> {
    let line = |line: &str| {
        let mut words = line.splitn(3, ' ').map(str::to_owned);
        (words.next().unwrap(), words.next().unwrap(), words.next().unwrap())
    };
    include_str!("../../src/model/topics.txt").lines().map(line).collect()
}

/// An event with some argument for each of its parameters.
fn with_arguments(contract: &str, event: &str) -> ScriptedLog {
    let parameters = event.trim_end_matches(')').split_once('(').unwrap().1;
    let argument = |parameter: &str| match parameter.trim().split(' ').next().unwrap() {
        "address" => json!(owner(2).address()),
        "string" => json!("some text"),
        "bool" => json!(true),
        "bytes" => json!("0x1234"),
        "bytes32" => json!(format!("0x{}", "ab".repeat(32))),
        "int128" => json!("-5"),
        "uint8" => json!(2),
        _ => json!(50),
    };
    let arguments: Vec<Value> = parameters.split(',').map(argument).collect();
    ScriptedLog::new(contract, event, &arguments)
}

async fn rows(gateway: &TestGateway, columns: &str) -> Vec<String> {
    gateway.rows(&format!("SELECT {columns} FROM chain_logs_v1 ORDER BY block, log_index")).await
}

#[tokio::test]
async fn each_event_of_the_interfaces_is_stored_once() {
    for Site { gateway, chain } in sites().await {
        let interfaces = interfaces();
        chain.mine(interfaces.iter().map(|(_, contract, event)| with_arguments(contract, event)).collect());
        // The implementation of accounts is watched by nobody.
        chain.mine(vec![ScriptedLog::new(
            "accountImpl",
            "Initialized(address indexed owner)",
            &[json!(owner(2).address())],
        )]);
        gateway.indexed(&chain).await;
        let found = gateway
            .rows("SELECT topic0, contract, event, log_index FROM chain_logs_v1 WHERE block = 2 ORDER BY log_index")
            .await;
        let expected: Vec<String> = (0..)
            .zip(&interfaces)
            .map(|(index, (topic, contract, event))| {
                let name = event.split('(').next().unwrap();
                format!("Text({topic:?}) Text({contract:?}) Text({name:?}) Int({index})")
            })
            .collect();
        assert_eq!(found, expected);
        let others = gateway.rows("SELECT count(*) FROM chain_logs_v1 WHERE block > 2").await;
        assert_eq!(others, ["Int(0)"]);
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}

#[tokio::test]
async fn the_views_say_where_a_log_is_and_what_it_names() {
    for Site { gateway, chain } in sites().await {
        chain.mine(vec![
            script::requested_by(3, 2, owner(1).address(), "7", "x"),
            script::completed(3, "18446744073709551616", 5),
            script::completed(99, "1", 0),
        ]);
        gateway.indexed(&chain).await;
        let place =
            "SELECT signature, args, agent_id, time_s, address FROM chain_logs_v1 WHERE block = 2 ORDER BY log_index";
        let found = gateway.rows(place).await;
        let escrow = ScriptedChain::address_of("escrow");
        let args = r#"{\"jobId\":\"3\",\"agentPayout\":\"18446744073709551616\",\"fee\":\"1\",\"rating\":5}"#;
        let completed = |args: &str, agent: &str| {
            let signature = "JobCompleted(uint256,uint256,uint256,uint8)";
            format!("Text({signature:?}) Text(\"{args}\") {agent} Int({}) Text(\"{escrow}\")", time_of(2))
        };
        assert_eq!(found[1], completed(args, "Int(2)"));
        let unknown =
            args.replace("18446744073709551616", "1").replace("\\\"3\\\"", "\\\"99\\\"").replace(":5}", ":0}");
        assert_eq!(found[2], completed(&unknown, "Null"), "a job whose request is not known is nobody's");
        let hashes = gateway.rows("SELECT block_hash, tx FROM chain_logs_v1 WHERE block = 2").await;
        assert!(
            hashes
                .iter()
                .all(|row| row.matches("0x").count() == 2 && *row == row.to_lowercase().replace("text", "Text"))
        );
        let named = gateway.rows("SELECT log_index, address FROM chain_log_addresses_v1 WHERE block = 2").await;
        assert_eq!(named, [format!("Int(0) Text({:?})", owner(1).address().to_lowercase())]);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn a_contract_that_is_not_configured_has_no_logs() {
    for builder in builders().await {
        let chain = ScriptedChain::start().await;
        chain.mine(agents());
        chain.mine(interfaces().iter().map(|(_, contract, event)| with_arguments(contract, event)).collect());
        let gateway = builder.chain(&chain, &["registry", "endorsements"]).start().await;
        gateway.indexed(&chain).await;
        let contracts = gateway.rows("SELECT DISTINCT contract FROM chain_logs_v1 ORDER BY contract").await;
        assert_eq!(contracts, [r#"Text("endorsements")"#, r#"Text("registry")"#]);
        gateway.stop().await;
    }
}

#[tokio::test]
async fn an_endorsement_is_a_line_of_both_agents() {
    for site in sites().await {
        let event = "EndorsementRevoked(uint256 indexed id, uint256 indexed fromAgentId, uint256 indexed toAgentId, uint32 weight)";
        let revoked =
            |from: u64, to: u64| ScriptedLog::new("endorsements", event, &[json!(9), json!(from), json!(to), json!(1)]);
        site.mine(vec![revoked(1, 2), revoked(2, 2), revoked(2, 9)]).await;
        for (agent, logs) in [(1, vec![0]), (2, vec![0, 1, 2])] {
            let export = site.export(agent, "from=2").await;
            let found: Vec<u64> = export.lines.iter().map(|line| line["logIndex"].as_u64().unwrap()).collect();
            assert_eq!(found, logs, "agent {agent}");
        }
        site.finish().await;
    }
}

#[tokio::test]
async fn the_tables_are_those_of_a_fresh_index() {
    for Site { gateway, chain } in sites().await {
        for (_, contract, event) in interfaces() {
            chain.mine(vec![with_arguments(&contract, &event)]);
        }
        gateway.indexed(&chain).await;
        let before = rows(&gateway, "block, log_index, block_hash, tx, args, agent_id").await;
        gateway.stop().await;
        let fresh = builders().await.remove(0).chain(&chain, &CONTRACTS).start().await;
        fresh.indexed(&chain).await;
        assert_eq!(rows(&fresh, "block, log_index, block_hash, tx, args, agent_id").await, before);
        fresh.stop().await;
    }
}
