//! Wrong configurations keep the plugin off, with all reasons at once.

use super::{modules, prepared};
use plugin_testing::{ScriptedChain, TestGateway, json};

#[tokio::test]
async fn wrong_values_are_refused() {
    let chain = ScriptedChain::start().await;
    let settings = json!({
        "domain_name": "", "rpc": ["ftp://x"], "kept_documents": 0,
        "kinds": { "rogue": ["Slash", "Praise", "Feedback"] },
    });
    let gateway = prepared(TestGateway::builder(), &chain, modules()).config("aicv", settings).open().await;
    let reports = gateway.reports().await;
    let reason = &reports.iter().find(|report| report.name == "aicv").unwrap().reason;
    for part in [
        "domain_name is empty",
        "ftp://x",
        "kept_documents",
        "emitted by nobody",
        "\"Praise\" is no kind",
        "\"Feedback\" has members that no event",
    ] {
        assert!(reason.contains(part), "{part}: {reason}");
    }
    gateway.stop().await;
}
