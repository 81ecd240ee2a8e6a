//! schemathesis calls every operation with what the document says that it takes, and with what it does not take, signed and
//! unsigned: whatever is answered, the document has said so.

use super::{alice, assert_no_faults, chain, operator, owner, setup, start_with_content};
use crate::e2e;

#[tokio::test]
async fn every_answer_is_one_that_the_document_tells_of() {
    let chain = chain().await;
    let gateway = start_with_content(&setup(&chain)).await;
    let wallets = [alice(), owner(1), owner(2), operator()].map(|wallet| wallet.key_text());
    let mut schemathesis = e2e::schemathesis();
    schemathesis.env("WALLETS", wallets.join(",")).env("PYTHONDONTWRITEBYTECODE", "1");
    let document = format!("{}/api/openapi.json", gateway.base_url());
    let printed = e2e::run(schemathesis, &["run", "--no-color", "--url", gateway.base_url(), &document]).await;
    eprintln!("{printed}");
    assert!(printed.contains("No issues found"), "{printed}");
    // Its signatures were good: it has written.
    for list in ["/api/forum/threads", "/api/hello/guests"] {
        let total = e2e::Site::of(&gateway).get(list).await.json()["total"].as_u64();
        assert!(total.is_some_and(|total| total > 1), "{list}: {total:?}");
    }
    assert_no_faults(&gateway).await;
}
