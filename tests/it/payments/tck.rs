//! The compatibility kit of A2A, unmodified, against a free agent. `cargo xtask prove` fetches it.
//!
//! What it asks for beyond the specification of the service fails, and each such test is listed here with the reason.

use super::{Market, clients::Agents};
use crate::e2e::run;
use plugin_testing::Value;
use std::{collections::BTreeSet, env, path::PathBuf, process::Command};

const NO_TASKS: &str = "tasks are not kept: those that can be asked for are jobs of the escrow";
const OWN_ANSWERS: &str =
    "the kit wants an agent that answers as its scenarios say; this one answers with what it was sent";

/// Tests that fail with a reason, by the ends of their names.
const OF_0_3: [(&str, &str); 6] = [
    ("TestMethodMappingCompliance::test_core_method_mapping_compliance", NO_TASKS),
    ("test_message_send_continue_task", NO_TASKS),
    ("test_task_history_length", NO_TASKS),
    ("test_tasks_cancel_valid", NO_TASKS),
    ("test_tasks_get_valid", NO_TASKS),
    ("test_tasks_get_with_history_length", NO_TASKS),
];
const OF_1_0: [(&str, &str); 13] = [
    (
        "test_agent_card_validates_against_schema",
        "one card for clients of all versions has members of 0.3 beside those of 1.0",
    ),
    ("test_last_modified_present", "a card has an entity tag, which says more than a time"),
    ("TestTextArtifact::test_task_has_text_artifact[jsonrpc]", OWN_ANSWERS),
    ("TestFileArtifact::test_task_has_file_artifact[jsonrpc]", OWN_ANSWERS),
    ("TestFileUrlArtifact::test_task_has_file_url_artifact[jsonrpc]", OWN_ANSWERS),
    ("TestDataArtifact::test_task_has_data_artifact[jsonrpc]", OWN_ANSWERS),
    ("TestMessageResponse::test_returns_message_with_text_part[jsonrpc]", OWN_ANSWERS),
    ("test_must_requirement[CORE-LIST-001-jsonrpc]", NO_TASKS),
    ("test_must_requirement[CORE-LIST-002-jsonrpc]", NO_TASKS),
    ("test_must_requirement[CORE-LIST-003-jsonrpc]", NO_TASKS),
    ("test_must_requirement[CORE-LIST-004-jsonrpc]", NO_TASKS),
    ("test_must_requirement[CORE-LIST-005-jsonrpc]", NO_TASKS),
    ("TestGetTask::test_get_task_returns_current_state[jsonrpc]", NO_TASKS),
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the kit: cargo xtask prove"]
async fn the_compatibility_kit_finds_only_what_is_listed() {
    let kits = PathBuf::from(env::var_os("GATEWAY_TEST_TCK").expect("GATEWAY_TEST_TCK: the folder with both kits"));
    let mut market = Market::open(&[]).await;
    let _agents = Agents::start(&mut market).await;
    let till = market.tills(|setup| setup).await.remove(0);
    till.knows_price_of(2).await;
    let card = format!("{}/a/echo", till.gateway.base_url());
    for (version, listed, passes) in [("0.3", &OF_0_3[..], 24), ("1.0", &OF_1_0[..], 57)] {
        let mut script = Command::new(kits.join("venv/bin/python"));
        script.arg(concat!(env!("CARGO_MANIFEST_DIR"), "/clients/a2a_tck.py"));
        let kit = kits.join(version).display().to_string();
        let told: Value = serde_json::from_str(&run(script, &[&kit, version, &card]).await).unwrap();
        let failed: BTreeSet<&str> = told["failed"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let is_listed = |test: &&&str| listed.iter().any(|(name, _)| test.ends_with(name));
        let unexpected: Vec<_> = failed.iter().filter(|test| !is_listed(test)).collect();
        assert!(unexpected.is_empty(), "{version}: {unexpected:?}");
        let mended: Vec<_> =
            listed.iter().filter(|(name, _)| !failed.iter().any(|test| test.ends_with(name))).collect();
        assert!(mended.is_empty(), "{version}: these pass and need no reason: {mended:?}");
        assert!(told["passed"].as_u64().unwrap() >= passes, "{version}: {told}");
    }
}
