//! schemathesis calls every operation with valid and invalid input, signed and unsigned: the OpenAPI document must
//! describe every response.

use super::{alice, assert_no_faults, chain, operator, owner, setup, start_with_content};
use crate::e2e;

/// Most examples of each operation and phase. They are the same each time, so more of them find nothing new in CI.
const EXAMPLES: u32 = 20;
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
