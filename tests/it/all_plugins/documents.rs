//! What a gateway with all plugins tells agents about itself: route index, llms.txt, agent card, manifest.
//!
//! `UPDATE_GOLDEN=1 cargo nextest run -p gateway-tests committed_documents` writes the committed files anew.

use super::{CONTRACTS, chain, modules};
use plugin_testing::{Builder, TestGateway};
use std::fs;

/// Path and committed file.
const DOCUMENTS: [(&str, &str); 4] = [
    ("/api", "index.json"),
    ("/llms.txt", "llms.txt"),
    ("/.well-known/agent.json", "agent.json"),
    ("/.well-known/service.json", "service.json"),
];

#[tokio::test]
async fn the_committed_documents_are_the_generated_ones() {
    let chain = chain().await;
    let builder = modules().into_iter().fold(TestGateway::builder(), Builder::plugin);
    let gateway = builder.chain(&chain, &CONTRACTS).signer("gateway", 1).start().await;
    gateway.indexed(&chain).await;
    for (path, file) in DOCUMENTS {
        let response = gateway.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text());
        let mut document = match path {
            "/llms.txt" => plugin_testing::Value::Null,
            _ => response.json(),
        };
        // Of a key that is made at the first start.
        for name in ["publicKey", "cosignatureKey"] {
            if let Some(key) = document.pointer_mut(&format!("/log/{name}")) {
                *key = "random".into();
            }
        }
        // Indented for those who read the difference; the order of the members stays.
        let generated = match path {
            "/llms.txt" => response.text(),
            _ => serde_json::to_string_pretty(&document).unwrap() + "\n",
        };
        let committed = format!("{}/documents/{file}", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&committed, &generated).unwrap();
        }
        assert!(
            fs::read_to_string(&committed).unwrap_or_default() == generated,
            "{path} changed: if that is meant, run again with UPDATE_GOLDEN=1, look at the difference in tests/documents/{file}, \
             and tell it in CHANGELOG.md"
        );
    }
    gateway.stop().await;
}
