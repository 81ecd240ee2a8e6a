//! schemathesis calls every operation with valid and invalid input, signed and unsigned: the OpenAPI document must
//! describe every response.

use super::{LIMIT, alice, assert_no_faults, chain, operator, owner, setup, start_with_content};
use crate::{e2e, storage::Engine};
use gateway_tests::{devnet::Devnet, process::Setup};
use plugin_api::Address;
use plugin_testing::TestGateway;
use rstest::rstest;

/// Most examples of each operation and phase. They are the same each time, so more of them find nothing new in CI.
const EXAMPLES: u32 = 20;
const MANY_EXAMPLES: u32 = 100;
/// Agents of the economy.
const AGENTS: u32 = 10;

#[tokio::test]
async fn every_answer_is_one_that_the_document_tells_of() {
    compare_with_document(EXAMPLES).await;
}

#[tokio::test]
#[ignore = "takes half an hour: cargo xtask mutate"]
async fn every_answer_to_many_requests_is_one_that_the_document_tells_of() {
    compare_with_document(MANY_EXAMPLES).await;
}

/// Members that are filled only when something happened on the chain, such as the validations of an agent.
#[rstest]
#[tokio::test]
async fn every_answer_about_a_played_economy_is_one_that_the_document_tells_of(
    #[values(Engine::Sqlite, Engine::Postgres)] engine: Engine,
) {
    let devnet = Devnet::start_with(&["--agents", "10"]).await.unwrap();
    let contract =
        |setup: Setup, (key, address): (&String, &Address)| setup.set(&format!("chains.main.contracts.{key}"), address);
    let setup = devnet.facts.contracts.iter().fold(e2e::setup_on(engine).await, contract);
    let operators = format!("[\"{}\"]", operator().address());
    let setup = setup.set("plugins.validators.operators", operators).set("chains.main.rpc", &devnet.facts.rpc_url);
    let gateway = setup.start().await.unwrap();
    let site = e2e::Site::of(&gateway);
    TestGateway::eventually(LIMIT, "the chain is indexed", || async {
        let status = site.get("/api/status").await.json();
        status["services"]["v3indexer"]["backfilled"] == true && status["services"]["indexer"]["lagBlocks"] == 0
    })
    .await;
    let mut validated = 0;
    for agent in 1..=AGENTS {
        let agent = site.get(&format!("/api/agents/{agent}")).await.json();
        validated += u32::from(agent["validation"]["latest"].is_object());
    }
    assert!(validated > 0, "no agent was validated");
    let ids: Vec<String> = (1..=AGENTS).map(|id| id.to_string()).collect();
    let mut schemathesis = e2e::schemathesis();
    schemathesis.env("WALLETS", alice().key_text()).env("IDS", ids.join(",")).env("PYTHONDONTWRITEBYTECODE", "1");
    let document = format!("{}/api/openapi.json", gateway.base_url());
    let options = ["run", "--no-color", "--include-method=GET", "--phases=examples,coverage"];
    let printed = e2e::run(schemathesis, &[&options[..], &["--url", gateway.base_url(), &document]].concat()).await;
    eprintln!("{printed}");
    assert!(printed.contains("No issues found"), "{printed}");
    assert_no_faults(&gateway).await;
}

async fn compare_with_document(examples: u32) {
    let chain = chain().await;
    let gateway = start_with_content(&setup(&chain)).await;
    let wallets = [alice(), owner(1), owner(2), operator()].map(|wallet| wallet.key_text());
    let mut schemathesis = e2e::schemathesis();
    schemathesis.env("WALLETS", wallets.join(",")).env("PYTHONDONTWRITEBYTECODE", "1");
    let document = format!("{}/api/openapi.json", gateway.base_url());
    let examples = format!("--max-examples={examples}");
    let arguments = ["run", "--no-color", &examples, "--url", gateway.base_url(), &document];
    let printed = e2e::run(schemathesis, &arguments).await;
    eprintln!("{printed}");
    assert!(printed.contains("No issues found"), "{printed}");
    // Its signatures were valid: there are rows.
    for list in ["/api/forum/threads", "/api/hello/guests"] {
        let total = e2e::Site::of(&gateway).get(list).await.json()["total"].as_u64();
        assert!(total.is_some_and(|total| total > 1), "{list}: {total:?}");
    }
    assert_no_faults(&gateway).await;
}
