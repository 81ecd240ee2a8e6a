//! A payload stays while any plugin references it: here a plugin with texts of wallets and one with texts of the chain.

use plugin_testing::{ScriptedChain, ScriptedLog, TestGateway, Wallet, json};
use std::time::Duration;

const REGISTERED: &str = "AgentRegistered(uint256 indexed id, address indexed owner, string name, string endpoint, string metadataURI, uint256 pricePerJob, uint256 bond)";
const REQUESTED: &str = "JobRequested(uint256 indexed jobId, uint256 indexed agentId, address indexed client, uint256 amount, bytes32 inputHash, string inputURI)";
const VALIDATION: &str = "ValidationRequest(address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash)";
const FEEDBACK: &str = "NewFeedback(uint256 indexed agentId, address indexed clientAddress, uint64 feedbackIndex, int128 value, uint8 valueDecimals, string indexed indexedTag1, string tag1, string tag2, string endpoint, string feedbackURI, bytes32 feedbackHash)";
const PLAN: &str = "PlanCreated(uint256 indexed planId, address indexed payee, uint256 pricePerPeriod, uint64 period, string metadataURI)";
const CASE: &str =
    "CaseOpened(uint256 indexed caseId, uint256 indexed jobId, address indexed opener, string evidenceURI)";
const EVIDENCE: &str = "EvidenceSubmitted(uint256 indexed caseId, address indexed by, string uri)";

const CONTRACTS: [&str; 6] = ["registry", "escrow", "reputation8004", "validation8004", "streamPay", "arbiterPool"];
const LIMIT: Duration = Duration::from_secs(60);

/// Events that mention these payloads, one each.
fn events(hashes: &[String]) -> Vec<ScriptedLog> {
    let [agent, input, hash, validation, feedback, plan, case, evidence] = hashes else { panic!("{hashes:?}") };
    let uri = |hash: &String| json!(format!("fmx://payload/{hash}"));
    let (somebody, zero) = (json!(format!("0x{:040}", 7)), json!(format!("0x{}", "0".repeat(64))));
    let registered = [json!(1), somebody.clone(), json!("a"), json!(""), uri(agent), json!("5"), json!("100")];
    let requested = |job: u64, hash: plugin_testing::Value, uri: plugin_testing::Value| {
        let arguments = [json!(job), json!(1), somebody.clone(), json!("5"), hash, uri];
        ScriptedLog::new("escrow", REQUESTED, &arguments)
    };
    let (text, number) = (json!("x"), json!(1));
    let given = [
        number.clone(),
        somebody.clone(),
        number.clone(),
        json!("5"),
        json!(0),
        text.clone(),
        text.clone(),
        text.clone(),
        text,
        uri(feedback),
        zero.clone(),
    ];
    vec![
        ScriptedLog::new("registry", REGISTERED, &registered),
        requested(1, zero.clone(), uri(input)),
        requested(2, json!(hash), json!("ipfs://x")),
        ScriptedLog::new("validation8004", VALIDATION, &[somebody.clone(), number.clone(), uri(validation), zero]),
        ScriptedLog::new("reputation8004", FEEDBACK, &given),
        ScriptedLog::new("streamPay", PLAN, &[number.clone(), somebody.clone(), json!("5"), json!(60), uri(plan)]),
        ScriptedLog::new("arbiterPool", CASE, &[number.clone(), number.clone(), somebody.clone(), uri(case)]),
        ScriptedLog::new("arbiterPool", EVIDENCE, &[number, somebody, uri(evidence)]),
    ]
}

#[tokio::test]
async fn what_people_and_the_chain_mention_is_not_deleted() {
    let mut builders = vec![TestGateway::builder()];
    builders.extend(TestGateway::postgres_builder().await);
    for builder in builders {
        let chain = ScriptedChain::start().await;
        let plugins =
            [agents::plugin_module(), economy::plugin_module(), forum::plugin_module(), payloads::plugin_module()];
        let builder = plugins.into_iter().fold(builder, plugin_testing::Builder::plugin);
        let gateway = builder.chain(&chain, &CONTRACTS).start().await;
        let mut hashes = Vec::new();
        for number in 0..11 {
            let stored = gateway.send("POST", "/api/payloads", &[], format!("payload {number}")).await.json();
            hashes.push(stored["hash"].as_str().unwrap().to_owned());
        }
        let (nowhere, mentioned) = hashes.split_last().unwrap();
        let (in_title, in_body) = (&mentioned[8], &mentioned[9]);
        for log in events(&mentioned[..8]) {
            chain.mine(vec![log]);
        }
        gateway.indexed(&chain).await;
        let thread = json!({ "title": format!("what is {in_title}?"), "body": format!("see fmx://payload/{in_body}") });
        let opened = gateway.post_signed("/api/forum/threads", &Wallet::new(1), "thread.create", thread).await;
        assert_eq!(opened.status, 201, "{}", opened.text());

        gateway.clock().advance(Duration::from_secs(31 * 24 * 60 * 60)).await;
        let is_there = async |hash: &String| gateway.get(&format!("/api/payloads/{hash}")).await.status == 200;
        TestGateway::eventually(LIMIT, "what nothing mentions is deleted", || async {
            gateway.clock().advance(Duration::from_secs(600)).await;
            !is_there(nowhere).await
        })
        .await;
        for (number, hash) in mentioned.iter().enumerate() {
            assert!(is_there(hash).await, "payload {number}");
        }
        assert_eq!(gateway.faults().await, Vec::<String>::new());
        gateway.stop().await;
    }
}
