//! schemathesis calls every operation with valid and invalid input, signed and unsigned: the OpenAPI document must
//! describe every response.

use super::{
    alice, assert_no_faults, chain, credentials,
    filled_members::FilledMembers,
    operator, owner,
    played_economy::{AGENTS, PlayedEconomy},
    setup, start_with_content,
};
use crate::{e2e, storage::Engine};

/// Most examples of each operation and phase. They are the same each time, so more of them find nothing new in CI.
const EXAMPLES: u32 = 4;
const MANY_EXAMPLES: u32 = 100;

#[tokio::test]
async fn every_answer_is_one_that_the_document_tells_of() {
    compare_with_document(EXAMPLES).await;
}

#[tokio::test]
#[ignore = "takes half an hour: cargo xtask mutate"]
async fn every_answer_to_many_requests_is_one_that_the_document_tells_of() {
    compare_with_document(MANY_EXAMPLES).await;
}

/// Members that are filled only when something happened on the chain or to a record, such as the validations of an agent.
#[tokio::test]
async fn every_answer_about_a_played_economy_is_one_that_the_document_tells_of() {
    played_economy(Engine::Postgres).await;
}

#[tokio::test]
#[ignore = "takes minutes: cargo xtask mutate"]
async fn every_answer_about_a_played_economy_on_sqlite_is_one_that_the_document_tells_of() {
    played_economy(Engine::Sqlite).await;
}

async fn played_economy(engine: Engine) {
    let economy = PlayedEconomy::start(engine).await;
    let gateway = &economy.gateway;
    let site = e2e::Site::of(gateway);
    let mut members = FilledMembers::new(site.get("/api/openapi.json").await.json());
    members.read(&site).await;
    // Lists say why they are empty where their contract is not deployed.
    let without_chain = e2e::setup_with_all_plugins().start().await.unwrap();
    members.read(&e2e::Site::of(&without_chain)).await;
    members.assert_complete();
    if engine == Engine::Postgres {
        // On SQLite more of them run: `super::credentials`.
        credentials::commands::print_what_they_should(gateway, AGENTS + 1).await;
    }

    let ids: Vec<String> = (1..=AGENTS).map(|id| id.to_string()).collect();
    let mut schemathesis = e2e::schemathesis();
    schemathesis.env("WALLETS", wallets()).env("IDS", ids.join(",")).env("PYTHONDONTWRITEBYTECODE", "1");
    let document = format!("{}/api/openapi.json", gateway.base_url());
    let options = ["run", "--no-color", "--include-method=GET", "--phases=examples,coverage"];
    let printed = e2e::run(schemathesis, &[&options[..], &["--url", gateway.base_url(), &document]].concat()).await;
    eprintln!("{printed}");
    assert!(printed.contains("No issues found"), "{printed}");
    assert_no_faults(gateway).await;
}

/// Keys of the wallets that [`super::calls`] sign with.
fn wallets() -> String {
    [alice(), owner(1), owner(2), operator()].map(|wallet| wallet.key_text()).join(",")
}

async fn compare_with_document(examples: u32) {
    let chain = chain().await;
    let gateway = start_with_content(&setup(&chain)).await;
    let mut schemathesis = e2e::schemathesis();
    schemathesis.env("WALLETS", wallets()).env("PYTHONDONTWRITEBYTECODE", "1");
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
