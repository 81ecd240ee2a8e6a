//! Credentials of a played economy: `gateway verify cv` and a verifier in Python, which share nothing, agree on what is right and what is
//! forged; public libraries accept the right ones, and the commands of `/verify` print what they should.
//!
//! `cargo xtask prove` sets the number of agents and of changed bytes, and the seed.

pub mod commands;
mod public_verifiers;

use super::{
    LIMIT,
    played_economy::{AGENTS, PlayedEconomy},
};
use crate::{
    crash::Dice,
    e2e::{Site, clients, python},
    storage::Engine,
};
use alloy_dyn_abi::TypedData;
use alloy_primitives::{Address, B256, keccak256};
use gateway_clock::Clock;
use gateway_cv_verify::{Expected, HttpRpc, Trust, verify};
use plugin_testing::{TestGateway, Value, json};
use std::{fs, path::PathBuf, process::Stdio};
use tokio::io::AsyncWriteExt as _;

const VALID: u8 = 0;
const FORGED: u8 = 1;
const OUTDATED: u8 = 2;
const NOT_CHECKABLE: u8 = 3;
const FLIPS: u64 = 40;
/// Names that are markup, turn the text around them, or are no plain letters. The registry takes 64 bytes.
const HOSTILE: [&str; 4] = [
    "</text><script>alert(1)</script>\"'&amp;",
    "a\u{202e}gnp.exe\u{202c} \u{5d0}\u{5d1}\u{5d2} \u{645}\u{631}\u{62d}\u{628}\u{627}",
    "Digger \u{1f600}\u{200b}\u{feff} \u{e9}e\u{301} \u{7}\0",
    // As another agent is called.
    "Purser",
];
/// Members of a proof that verifiers compare; the others are free texts.
const PROTECTED: [&str; 8] =
    ["type", "cryptosuite", "created", "proofPurpose", "eip712", "digest", "verificationMethod", "proofValue"];
/// An account of the node that signs whatever it is told.
const LIAR: &str = "user3";

struct World {
    economy: PlayedEconomy,
    contracts: PathBuf,
    signer: String,
    credentials: Vec<Value>,
}

fn number_of(variable: &str, default: u64) -> u64 {
    std::env::var(variable).ok().map_or(default, |text| text.parse().unwrap())
}

impl World {
    async fn start() -> Self {
        let agents = number_of("GATEWAY_TEST_AGENTS", AGENTS);
        let economy = PlayedEconomy::of_agents(Engine::Sqlite, agents).await;
        let site = Site::of(&economy.gateway);
        let contracts = economy.gateway.setup().folder().join("contracts.json");
        let facts = &economy.devnet.facts;
        let mut pins = json!(facts.contracts);
        pins["chainId"] = facts.chain_id.into();
        fs::write(&contracts, pins.to_string()).unwrap();
        let signer = site.get("/api/health").await.json()["signer"].as_str().unwrap().to_owned();
        economy.register(&HOSTILE).await;
        let last = agents + 1 + HOSTILE.len() as u64;
        let is_indexed = || async { site.get(&format!("/api/cv/{last}")).await.status == 200 };
        TestGateway::eventually(LIMIT, "the last agents are indexed", is_indexed).await;
        let mut credentials = Vec::new();
        for agent in 1..=last {
            let response = site.get(&format!("/api/cv/{agent}/credential.json?limit=1000")).await;
            assert_eq!(response.status, 200, "{}", response.text());
            credentials.push(response.json());
        }
        Self { economy, contracts, signer, credentials }
    }

    /// Exit code and report of the program.
    fn program(&self, credential: &Value, issuer: &str) -> (u8, Value) {
        let file = self.contracts.with_file_name("credential.json");
        fs::write(&file, credential.to_string()).unwrap();
        let facts = &self.economy.devnet.facts;
        let (file, contracts) = (file.to_str().unwrap(), self.contracts.to_str().unwrap());
        let servers = ["--rpc", &facts.anvil_url, &facts.rpc_url];
        let arguments = [&["verify", "cv", file, "--json", "--contracts", contracts, "--issuer", issuer], &servers[..]];
        let finished = self.economy.gateway.setup().run(&arguments.concat()).unwrap();
        let report = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| json!(finished.stderr));
        (u8::try_from(finished.code.unwrap()).unwrap(), report)
    }

    /// What people see of the credential that the gateway serves.
    fn table(&self, agent: u64, more: &[&str]) -> (u8, String) {
        let url = format!("{}/api/cv/{agent}/credential.json", self.economy.gateway.base_url());
        let contracts = self.contracts.to_str().unwrap();
        let first = ["verify", "cv", &url, "--contracts", contracts, "--rpc", &self.economy.devnet.facts.anvil_url];
        let finished = self.economy.gateway.setup().run(&[&first[..], more].concat()).unwrap();
        (u8::try_from(finished.code.unwrap()).unwrap(), finished.stdout + &finished.stderr)
    }

    /// What the crate says, without starting the program.
    async fn library(&self, credential: &[u8], issuer: &str) -> u8 {
        let servers = [HttpRpc::new(&self.economy.devnet.facts.anvil_url).unwrap()];
        let expected = Expected {
            contracts: fs::read_to_string(&self.contracts).unwrap().parse().unwrap(),
            issuers: vec![issuer.parse().unwrap()],
            trust: Trust::SelfAttested,
            domain_name: Expected::DOMAIN_NAME.to_owned(),
            now_s: Clock::System.now_s(),
        };
        verify(credential, &servers, &expected).await.map_or(NOT_CHECKABLE, |report| report.exit_code)
    }

    /// What Python says of each: exit code and reasons.
    async fn python(&self, credentials: &[Vec<u8>], issuer: &str) -> Vec<(u8, Value)> {
        let mut checker = tokio::process::Command::from(python("verify_cv.py"));
        checker.arg(&self.contracts).arg(&self.economy.devnet.facts.anvil_url).arg(issuer).arg("--lines");
        checker.current_dir(clients()).stdin(Stdio::piped()).stdout(Stdio::piped()).kill_on_drop(true);
        let mut checker = checker.spawn().unwrap();
        let (mut input, lines) = (checker.stdin.take().unwrap(), credentials.join(&b'\n'));
        let write = tokio::spawn(async move { input.write_all(&lines).await });
        let ended = checker.wait_with_output().await.unwrap();
        write.await.unwrap().unwrap();
        let verdicts = String::from_utf8(ended.stdout).unwrap();
        let verdicts = verdicts.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        verdicts.map(|said| (u8::try_from(said["exitCode"].as_u64().unwrap()).unwrap(), said)).collect()
    }

    fn liar(&self) -> String {
        self.economy.devnet.account(LIAR).unwrap().parse::<Address>().unwrap().to_checksum(None)
    }

    /// The credential with a lie, all hashes right, signed by another issuer.
    async fn lie(&self, credential: &Value, tell: impl FnOnce(&mut Value)) -> Value {
        let (mut lie, liar) = (credential.clone(), self.liar());
        let chain_id = self.economy.devnet.facts.chain_id;
        lie["issuer"] = format!("did:pkh:eip155:{chain_id}:{liar}").into();
        tell(&mut lie);
        let mut leaves = Vec::new();
        for claim in record(&mut lie) {
            claim.as_object_mut().unwrap().remove("leaf");
            let leaf = hash(claim);
            claim["leaf"] = leaf.to_string().into();
            leaves.push(leaf);
        }
        let root = json!(fold(leaves));
        lie["evidence"][0]["gatewayAttestation"]["claimsRoot"] = root.clone();
        lie["claimsRoot"] = root.clone();
        let mut proof = lie.as_object_mut().unwrap().remove("proof").unwrap();
        lie.as_object_mut().unwrap().remove("documentHash");
        lie["documentHash"] = json!(hash(&lie));
        let message = &mut proof["eip712"]["message"];
        message["claimsRoot"] = root;
        for name in ["documentHash", "issuedAt", "expiresAt"] {
            message[name] = lie[name].clone();
        }
        let mut typed = proof["eip712"].clone();
        typed["types"]["EIP712Domain"] = json!([
            { "name": "name", "type": "string" }, { "name": "version", "type": "string" },
            { "name": "chainId", "type": "uint256" }, { "name": "verifyingContract", "type": "address" },
        ]);
        let data: TypedData = serde_json::from_value(typed.clone()).unwrap();
        proof["digest"] = json!(data.eip712_signing_hash().unwrap());
        proof["verificationMethod"] = format!("did:pkh:eip155:{chain_id}:{liar}#blockchainAccountId").into();
        proof["proofValue"] = self.economy.devnet.call("eth_signTypedData_v4", json!([liar, typed])).await.unwrap();
        proof["created"] = lie["validFrom"].clone();
        lie["proof"] = proof;
        lie
    }
}

fn record(credential: &mut Value) -> &mut Vec<Value> {
    credential["credentialSubject"]["record"].as_array_mut().unwrap()
}

fn hash(value: &Value) -> B256 {
    keccak256(serde_json_canonicalizer::to_vec(value).unwrap())
}

fn fold(mut level: Vec<B256>) -> B256 {
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| keccak256([pair[0], *pair.last().unwrap()].concat())).collect();
    }
    level[0]
}

/// What the signature covers, and what verifiers compare of the proof.
fn protected(bytes: &[u8]) -> Option<Value> {
    let mut value: Value = serde_json::from_slice(bytes).ok()?;
    if let Some(proof) = value.get_mut("proof").and_then(Value::as_object_mut) {
        proof.retain(|name, _| PROTECTED.contains(&name.as_str()));
    }
    Some(value)
}

fn completed(credential: &Value) -> Option<usize> {
    let record = credential["credentialSubject"]["record"].as_array().unwrap();
    record.iter().position(|claim| claim["outcome"] == "Completed" && claim["evidence"]["trust"] == "chain")
}

/// What lies are about.
struct Subject {
    agent: u64,
    /// The place of a claim about a completed job.
    job: usize,
    /// Such a claim of another agent.
    other: Value,
    registry: String,
}

/// What a lie is called, its exit code, and how it is told.
type Forgery = (&'static str, u8, fn(&mut Value, &Subject));

const FORGERIES: [Forgery; 10] = [
    ("the same signed by another issuer", VALID, |_, _| {}),
    ("another agent's claim", FORGED, |lie, Subject { agent, job, other, .. }| {
        record(lie)[*job] = other.clone();
        record(lie)[*job]["id"] = format!("fmx:{agent}:job:{}", other["jobId"]).into();
    }),
    ("a swapped log", FORGED, |lie, Subject { job, other, .. }| {
        record(lie)[*job]["evidence"] = other["evidence"].clone();
    }),
    ("a repeated log", FORGED, |lie, Subject { agent, job, .. }| {
        let mut again = record(lie)[*job].clone();
        again["id"] = format!("fmx:{agent}:job:again").into();
        record(lie).push(again);
        for path in ["/recordMeta/count", "/counts/proven", "/counts/byTrust/chain"] {
            add_one(lie["credentialSubject"].pointer_mut(path).unwrap());
        }
    }),
    ("an inflated counter", FORGED, |lie, _| {
        add_one(&mut lie["credentialSubject"]["summary"]["jobsCompleted"]);
    }),
    ("more money", FORGED, |lie, _| {
        lie["credentialSubject"]["summary"]["escrowEarnedWei"] = "9".repeat(30).into();
    }),
    ("an expired document", OUTDATED, |lie, _| {
        (lie["issuedAt"], lie["expiresAt"]) = (1_700_000_000.into(), 1_700_000_001.into());
        lie["validFrom"] = "2023-11-14T22:13:20.000Z".into();
        lie["validUntil"] = "2023-11-14T22:13:21.000Z".into();
    }),
    ("another chain's contract", FORGED, |lie, Subject { job, .. }| {
        record(lie)[*job]["evidence"]["address"] = Address::repeat_byte(7).to_checksum(None).into();
    }),
    ("one pinned contract as another", FORGED, |lie, Subject { job, registry, .. }| {
        record(lie)[*job]["evidence"]["address"] = registry.as_str().into();
    }),
    ("a dropped claim", FORGED, |lie, Subject { job, .. }| drop(record(lie).remove(*job))),
];

fn add_one(count: &mut Value) {
    *count = (count.as_u64().unwrap() + 1).into();
}

#[tokio::test]
async fn two_verifiers_agree() {
    let world = World::start().await;
    honest_ones_are_valid(&world).await;
    let mut with_jobs = world.credentials.iter().filter_map(|credential| Some((credential, completed(credential)?)));
    let ((right, job), (other, of_other)) = (with_jobs.next().unwrap(), with_jobs.next().unwrap());
    let subject = Subject {
        agent: right["credentialSubject"]["agent"]["agentId"].as_u64().unwrap(),
        job,
        other: other["credentialSubject"]["record"][of_other].clone(),
        registry: world.economy.devnet.facts.contracts["registry"].to_string(),
    };
    people_see_each_step(&world, subject.agent);
    lies_are_found(&world, right, &subject).await;
    public_verifiers::agree(&world, right, job).await;
    commands::print_what_they_should(&world.economy.gateway, world.credentials.len() as u64).await;
    changed_bytes_are_refused(&world, right).await;
    super::assert_no_faults(&world.economy.gateway).await;
}

fn people_see_each_step(world: &World, agent: u64) {
    let (code, table) = world.table(agent, &["--issuer", &world.signer, "--trust", "chain"]);
    eprintln!("{table}");
    assert_eq!(code, VALID, "{table}");
    for part in
        ["ok           1 shape", "ok          11 completeness", "0 of the gateway, 0 of the agent; dropped: 0 proven, "]
    {
        assert!(table.contains(part), "{table}");
    }
    assert!(table.ends_with("valid\n"), "{table}");
    let (code, table) = world.table(agent, &[]);
    assert!(code == NOT_CHECKABLE && table.contains("name issuers that you trust"), "{table}");
    let (code, table) = world.table(99_999, &[]);
    assert!(code == NOT_CHECKABLE && table.contains("status 404"), "{table}");
}

async fn lies_are_found(world: &World, right: &Value, subject: &Subject) {
    let (mut lies, liar) = (Vec::new(), world.liar());
    for (.., tell) in FORGERIES {
        lies.push(world.lie(right, |lie| tell(lie, subject)).await);
    }
    let texts: Vec<Vec<u8>> = lies.iter().map(|lie| lie.to_string().into_bytes()).collect();
    let said = world.python(&texts, &liar).await;
    for (((what, code, _), lie), (python, said)) in FORGERIES.iter().zip(&lies).zip(said) {
        let (program, report) = world.program(lie, &liar);
        assert_eq!((program, python), (*code, *code), "{what}: {report:#}\n{said:#}");
    }
    let (of_unknown_issuer, _) = world.program(&lies[0], &world.signer);
    assert_eq!(of_unknown_issuer, FORGED);
}

async fn honest_ones_are_valid(world: &World) {
    let texts: Vec<Vec<u8>> = world.credentials.iter().map(|credential| credential.to_string().into_bytes()).collect();
    let said = world.python(&texts, &world.signer).await;
    for (credential, (python, reasons)) in world.credentials.iter().zip(said) {
        let (program, report) = world.program(credential, &world.signer);
        assert_eq!((program, python), (VALID, VALID), "{report:#}\n{reasons:#}\n{credential:#}");
        assert_eq!(report["registryReadAt"]["isAsOfBlock"], true);
    }
}

/// Bytes that change a value, anywhere but in the free texts of the proof.
async fn changed_bytes_are_refused(world: &World, credential: &Value) {
    let bytes = credential.to_string().into_bytes();
    let (right, flips) = (protected(&bytes).unwrap(), number_of("GATEWAY_TEST_FLIPS", FLIPS));
    let mut dice = Dice::new();
    let mut done = 0;
    while done < flips {
        let mut batch = Vec::new();
        while batch.len() < 200 && done < flips {
            let mut other = bytes.clone();
            let place = dice.place(other.len());
            other[place] ^= 1 + u8::try_from(dice.below(255)).unwrap();
            // A line is one document.
            let is_line = std::str::from_utf8(&other).is_ok() && !other.contains(&b'\n');
            if is_line && protected(&other).is_some_and(|value| value != right) {
                batch.push(other);
                done += 1;
            }
        }
        for (other, (python, said)) in batch.iter().zip(world.python(&batch, &world.signer).await) {
            let library = world.library(other, &world.signer).await;
            let text = String::from_utf8_lossy(other);
            assert!(library != VALID && python != VALID, "{library}, {said}: {text:?}");
        }
    }
}
