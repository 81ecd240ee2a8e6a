//! The commands that `/api/cv/{agent}/verify` prints, run by a shell as they are printed. The rule: a command whose outcome nobody compares
//! fails the test.

use crate::e2e::{Site, clients};
use alloy_dyn_abi::{DynSolType, DynSolValue};
use alloy_primitives::hex;
use gateway_tests::process::GatewayProcess;
use plugin_testing::{Value, json};
use std::collections::BTreeSet;

/// What `getAgent(uint256)` returns.
const AGENT: &str = "(address,string,string,string,uint256,uint256,uint64,uint64,uint8,uint32,uint32,uint32,uint32)";
const STATUSES: [&str; 4] = ["None", "Active", "Paused", "Retired"];

/// Of the agents 1 to `agents`.
pub async fn print_what_they_should(gateway: &GatewayProcess, agents: u64) {
    let site = Site::of(gateway);
    for agent in 1..=agents {
        let recipe = site.get(&format!("/api/cv/{agent}/verify")).await.json();
        let credential = site.get(&format!("/api/cv/{agent}/credential.json")).await.json();
        let schema = site.get("/api/ns/aicv/v1/schema.json").await.json();
        let mut kinds = BTreeSet::new();
        for command in recipe["commands"].as_array().unwrap() {
            let command = command.as_str().unwrap();
            let printed = shell(command).await;
            let parsed = || serde_json::from_str::<Value>(&printed).unwrap_or_else(|_| panic!("{command}: {printed}"));
            kinds.insert(if command.contains("python3") {
                let hashes = ["documentHash", "claimsRoot"].map(|name| recipe[name].as_str().unwrap());
                assert_eq!(printed.split_whitespace().collect::<Vec<_>>(), hashes, "{command}");
                "hashes"
            } else if command.contains("schema.json") {
                assert_eq!(parsed(), schema, "{command}");
                "schema"
            } else if command.contains("credential.json") {
                assert_eq!(parsed(), credential, "{command}");
                "credential"
            } else if command.contains("eth_call") {
                assert_tells_state(&parsed(), &credential["credentialSubject"]);
                "state"
            } else {
                panic!("nobody compares what {command:?} prints")
            });
        }
        assert_eq!(kinds, ["credential", "hashes", "schema", "state"].into(), "{recipe}");
    }
}

/// What the command prints; it must succeed.
async fn shell(command: &str) -> String {
    let mut shell = tokio::process::Command::new("sh");
    let ended = shell.args(["-c", command]).current_dir(clients()).kill_on_drop(true).output().await.unwrap();
    let (stdout, stderr) = (String::from_utf8(ended.stdout).unwrap(), String::from_utf8_lossy(&ended.stderr));
    assert!(ended.status.success(), "{command}: {stdout}{stderr}");
    stdout
}

/// The registry's answer is what the credential says of the agent's state.
fn assert_tells_state(answer: &Value, subject: &Value) {
    let data = hex::decode(answer["result"].as_str().unwrap_or_else(|| panic!("{answer}"))).unwrap();
    let DynSolValue::Tuple(agent) = DynSolType::parse(AGENT).unwrap().abi_decode(&data).unwrap() else {
        panic!("{AGENT} is a tuple")
    };
    let number = |place: usize| agent[place].as_uint().unwrap().0.to_string();
    // Databases keep no NUL.
    let name = agent[1].as_str().unwrap().replace('\0', "\u{fffd}");
    let status = STATUSES[number(8).parse::<usize>().unwrap()];
    let registry = json!({
        "owner": agent[0].as_address().unwrap().to_checksum(None), "name": name, "endpoint": agent[2].as_str(),
        "price": number(4), "bond": number(5), "status": status, "jobsCompleted": number(9), "jobsFailed": number(10),
    });
    let (about, summary) = (&subject["agent"], &subject["summary"]);
    let stated = json!({
        "owner": subject["id"].as_str().unwrap().rsplit(':').next(), "name": subject["name"], "endpoint": about["endpoint"],
        "price": summary["pricePerJobWei"], "bond": summary["bondWei"], "status": about["status"],
        "jobsCompleted": summary["jobsCompleted"].to_string(), "jobsFailed": summary["jobsFailed"].to_string(),
    });
    assert_eq!(registry, stated);
}
