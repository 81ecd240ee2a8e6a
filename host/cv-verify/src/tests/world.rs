//! An honest credential, and the chain that proves it.

use super::chain::{AGENT, AS_OF_BLOCK, Chain, Log, account, contract, log, text, uint};
use crate::{
    Address, Contracts, CredentialReport, Expected, Trust,
    abi::{Datum, Event},
    document::Document,
    hashes::{self, DocumentHashes},
    intact,
    rules::{OUTCOME_RECORDED, RULES},
    verify,
};
use alloy_primitives::{B256, hex, keccak256};
use secp256k1::{Message, Secp256k1, SecretKey};
use serde_json::{Value, json};
use std::collections::BTreeMap;

pub const NOW_S: u64 = 1_700_001_000;
const KEYS: [&str; 5] = ["registry", "escrow", "x402Vault", "identity8004", "reputation8004"];
pub const ISSUER_KEY: [u8; 32] = [9; 32];
pub const OWNER_KEY: [u8; 32] = [5; 32];

pub fn address_of(key: [u8; 32]) -> Address {
    let key = SecretKey::from_byte_array(key).unwrap();
    Address::from_slice(&keccak256(&key.public_key(&Secp256k1::signing_only()).serialize_uncompressed()[1..])[12..])
}

pub fn owner() -> Address {
    address_of(OWNER_KEY)
}

pub fn expected() -> Expected {
    let contracts: BTreeMap<&str, String> = KEYS.iter().map(|key| (*key, contract(key).to_string())).collect();
    Expected {
        contracts: json!(contracts).to_string().parse::<Contracts>().unwrap(),
        issuers: vec![address_of(ISSUER_KEY)],
        trust: Trust::SelfAttested,
        domain_name: Expected::DOMAIN_NAME.to_owned(),
        now_s: NOW_S.try_into().unwrap(),
    }
}

fn declaration(name: &str) -> (&'static str, &'static str) {
    let rule = RULES.iter().find(|rule| rule.declaration.starts_with(&format!("{name}("))).unwrap();
    (rule.contract, rule.declaration)
}

fn event(name: &str, arguments: &[Datum]) -> Log {
    let (contract, declaration) = declaration(name);
    log(contract, declaration, arguments)
}

fn outcome(success: bool, rating: u64) -> Log {
    log("registry", OUTCOME_RECORDED, &[uint(AGENT), Datum::Bool(success), uint(rating)])
}

fn hash(number: u8) -> Datum {
    Datum::Word(B256::repeat_byte(number))
}

fn requested(job: u64, amount: u64) -> Log {
    event("JobRequested", &[uint(job), uint(AGENT), Datum::Address(account(3)), uint(amount), hash(1), text("in")])
}

fn job(amount: u64, block: u64, status: u64) -> Vec<Datum> {
    let (created, delivered) = (uint(Chain::time(block)), uint(Chain::time(block + 1)));
    vec![
        uint(AGENT),
        Datum::Address(account(3)),
        uint(amount),
        hash(1),
        hash(2),
        text("in"),
        text("out"),
        created,
        delivered,
        uint(status),
    ]
}

/// Job 1 is completed; 2 resolved for the agent, 3 against it; there is feedback and a payment.
pub fn chain() -> Chain {
    let registered =
        [uint(AGENT), Datum::Address(owner()), text("Digger"), text("https://old"), text("m"), uint(1), uint(100)];
    let delivered = |job| event("JobDelivered", &[uint(job), hash(2), text("out")]);
    let feedback = [
        uint(AGENT),
        Datum::Address(account(3)),
        uint(1),
        Datum::Int("-85".parse().unwrap()),
        uint(2),
        text("a"),
        text("a"),
        text("b"),
        text("e"),
        text("f"),
        hash(0),
    ];
    let paid = [Datum::Address(account(4)), Datum::Address(owner()), uint(500), uint(5), uint(1), hash(0)];
    let blocks = [
        (2, vec![event("AgentRegistered", &registered)]),
        (4, vec![requested(1, 1000)]),
        (5, vec![delivered(1)]),
        (6, vec![event("JobCompleted", &[uint(1), uint(975), uint(25), uint(5)]), outcome(true, 5)]),
        (7, vec![requested(2, 100), requested(3, 100)]),
        (8, vec![delivered(2), delivered(3)]),
        (9, vec![event("JobResolved", &[uint(2), uint(20), uint(78), uint(2)]), outcome(true, 0)]),
        (10, vec![event("JobResolved", &[uint(3), uint(100), uint(0), uint(0)]), outcome(false, 0)]),
        (11, vec![event("NewFeedback", &feedback)]),
        (12, vec![event("Settled", &paid)]),
    ];
    let state = [2, 1, 1, 5].map(uint);
    let agent = [Datum::Address(owner()), text("Digger"), text("https://new"), text("m"), uint(5), uint(100)];
    Chain {
        id: 3961,
        head: 30,
        blocks: blocks.into(),
        agent: [&agent[..], &[uint(Chain::time(2)), uint(0), uint(1)], &state].concat(),
        agent_then: None,
        jobs: [(1, job(1000, 4, 3)), (2, job(100, 7, 6)), (3, job(100, 7, 6))].into(),
        anchored: Vec::new(),
        has_old_state: true,
        has_receipts: true,
        contracts_with_code: Vec::new(),
        branch: 0,
    }
}

/// The evidence of the log at this place of its block.
pub fn evidence(block: u64, place: u64, name: &str) -> Value {
    let (key, declaration) = declaration(name);
    let event = Event::parse(declaration).unwrap();
    json!({
        "trust": "chain", "provenance": "chain", "proven": true, "chainId": 3961,
        "address": contract(key).to_checksum(None), "contract": key, "block": block, "ts": Chain::time(block),
        "tx": Chain::transaction(block).to_string(), "blockLogIndex": place + 3, "event": event.text,
        "topic0": event.topic0.to_string(), "method": "eth_getTransactionReceipt",
    })
}

fn claim(id: &str, kind: &str, evidence: Value, members: Value) -> Value {
    let mut claim = json!({ "id": format!("fmx:{AGENT}:{id}"), "type": kind, "statedAt": null });
    claim.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    claim["proven"] = (evidence["trust"] == "chain").into();
    claim["evidence"] = evidence;
    claim
}

fn job_claim(number: u64, outcome: &str, requested: (u64, u64), settled: u64, members: Value) -> Value {
    let (block, place) = requested;
    let mut all = json!({
        "jobId": number, "client": account(3).to_checksum(None), "outcome": outcome, "ratingScale": "1..5",
        "inputHash": B256::repeat_byte(1).to_string(), "outputHash": B256::repeat_byte(2).to_string(),
        "requestedAt": Chain::time(block), "deliveredAt": Chain::time(block + 1), "settledAt": Chain::time(settled),
        "alsoEvidence": [evidence(block, place, "JobRequested"), evidence(block + 1, place, "JobDelivered")],
    });
    all.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    let mut deciding = evidence(settled, 0, if outcome == "Completed" { "JobCompleted" } else { "JobResolved" });
    let call = json!({
        "address": contract("escrow").to_checksum(None), "fn": "getJob(uint256)", "args": ["claim.jobId"], "field": "agentId",
    });
    deciding["bind"] =
        json!([{ "log": "jobId", "equals": "claim.jobId" }, { "call": call, "equals": "subject.agentId" }]);
    claim(&format!("job:{number}"), "EscrowJob", deciding, all)
}

fn record() -> Vec<Value> {
    let registration = json!({
        "agentId": AGENT, "owner": owner().to_checksum(None), "name": "Digger", "endpointAtRegistration": "https://old",
        "metadataURIAtRegistration": "m", "pricePerJobWeiAtRegistration": "1", "bondWeiAtRegistration": "100",
    });
    let state = json!({
        "agentId": AGENT, "owner": owner().to_checksum(None), "endpoint": "https://new", "metadataURI": "m", "pricePerJobWei": "5",
        "bondWei": "100", "status": "Active",
    });
    let call = json!({
        "trust": "chain", "provenance": "chain", "proven": true, "chainId": 3961, "contract": "registry",
        "address": contract("registry").to_checksum(None), "method": "eth_call", "call": format!("getAgent({AGENT})"),
    });
    let feedback = json!({
        "client": account(3).to_checksum(None), "value": "-85", "valueDecimals": 2, "tag1": "a", "tag2": "b", "feedbackURI": "f",
        "paymentBacked": true,
    });
    let receipt = json!({
        "payer": account(4).to_checksum(None), "payee": owner().to_checksum(None), "amountWei": "500", "feeWei": "5", "nonce": 1,
    });
    let said =
        json!({ "trust": "gateway", "provenance": "signed", "proven": false, "method": "GET", "source": "/api" });
    let declared = json!({ "trust": "selfAttested", "provenance": "declared", "proven": false, "method": "GET" });
    vec![
        claim("registration", "Registration", evidence(2, 0, "AgentRegistered"), registration),
        job_claim(
            1,
            "Completed",
            (4, 0),
            6,
            json!({ "amountWei": "1000", "payoutWei": "975", "feeWei": "25", "rating": 5 }),
        ),
        job_claim(
            2,
            "Resolved",
            (7, 0),
            9,
            json!({ "amountWei": "100", "payoutWei": "78", "feeWei": "2", "rating": null }),
        ),
        job_claim(
            3,
            "Resolved",
            (7, 1),
            10,
            json!({ "amountWei": "100", "payoutWei": "0", "feeWei": "0", "rating": null }),
        ),
        claim("feedback:1", "Feedback", evidence(11, 0, "NewFeedback"), feedback),
        claim("x402:in:1", "X402Receipt", evidence(12, 0, "Settled"), receipt),
        claim("state", "AgentState", call, state),
        claim("commons:post", "Contribution", said, json!({ "kind": "post.create", "count": 3 })),
        claim("capabilities", "Capability", declared, json!({ "capabilities": ["dig"] })),
    ]
}

fn did(address: Address) -> String {
    format!("did:pkh:eip155:3961:{}", address.to_checksum(None))
}

fn unsigned(chain: &Chain) -> Value {
    let (registry, identity) = (contract("registry").to_checksum(None), contract("identity8004").to_checksum(None));
    json!({
        "@context": ["https://www.w3.org/ns/credentials/v2", "https://a.example/api/ns/aicv/v1"],
        "type": ["VerifiableCredential", "ServiceAgentCV"],
        "id": "https://a.example/api/cv/7/credential.json", "issuer": did(address_of(ISSUER_KEY)),
        "validFrom": "2023-11-14T22:21:40.000Z", "validUntil": "2024-02-12T22:21:40.000Z",
        "issuedAt": 1_700_000_500, "expiresAt": 1_707_776_500, "asOfBlock": AS_OF_BLOCK,
        "credentialSubject": {
            "id": did(owner()), "type": "AutonomousAgent", "name": "Digger",
            "agent": {
                "chainId": 3961, "caip2": "eip155:3961", "agentId": AGENT, "agentRegistry": registry, "identityRegistry": identity,
                "endpoint": "https://new", "status": "Active", "registeredAt": Chain::time(2),
            },
            "summary": {
                "asOfBlock": AS_OF_BLOCK, "jobsCompleted": 2, "jobsFailed": 1, "ratingCount": 1, "ratingSum": 5, "ratingAvg": 5.0,
                "jobsSettled": 3, "armsLength": { "paidJobsCompleted": 3, "distinctPayers": 1, "ratedPaidJobs": 1 },
                "escrowEarnedWei": "1053", "escrowFeesWei": "27", "x402EarnedWei": "495", "x402GrossWei": "500", "x402FeesWei": "5",
                "x402SpentWei": "0", "bondWei": "100", "pricePerJobWei": "5", "ratedJobsInRecord": 1, "ratingSumInRecord": 5,
                "feedback": { "total": 1 }, "x402ReceiptCount": 1,
                "verify": { "method": "eth_call", "address": registry },
            },
            "record": record(),
            "recordMeta": {
                "count": 9, "limit": 200, "complete": true, "omitted": [],
                "scope": { "covers": ["EscrowJob", "Feedback"], "excludes": [] },
            },
            "counts": { "proven": 7, "asserted": 2, "byTrust": { "chain": 7, "gateway": 1, "selfAttested": 1 } },
        },
        "evidence": [{
            "type": ["ServiceChainAnchor"], "chainId": 3961, "asOfBlock": AS_OF_BLOCK,
            "asOfBlockHash": chain.hash(AS_OF_BLOCK).to_string(),
            "contracts": { "agentRegistry": registry, "serviceEscrow": contract("escrow").to_checksum(None), "memoryAnchor": null },
            "gatewayAttestation": { "signer": did(address_of(ISSUER_KEY)) },
        }],
        "credentialStatus": { "chainId": 3961, "identityRegistry": identity, "agentId": AGENT, "metadataKey": "cv" },
    })
}

/// The document with all hashes and a signature that are right, whatever it says.
pub fn issue_by(key: [u8; 32], chain: &Chain, change: impl FnOnce(&mut Value)) -> Value {
    let mut document = unsigned(chain);
    document["issuer"] = did(address_of(ISSUER_KEY)).into();
    change(&mut document);
    let mut leaves = Vec::new();
    for claim in document["credentialSubject"]["record"].as_array_mut().unwrap() {
        let leaf = hashes::leaf(claim.as_object().unwrap());
        claim["leaf"] = leaf.to_string().into();
        leaves.push(leaf);
    }
    let root = hashes::root(leaves).to_string();
    document["evidence"][0]["gatewayAttestation"]["claimsRoot"] = root.as_str().into();
    document["claimsRoot"] = root.into();
    document["documentHash"] = hashes::document_hash(document.as_object().unwrap()).to_string().into();
    sign(key, &mut document);
    document
}

pub fn issue(chain: &Chain, change: impl FnOnce(&mut Value)) -> Value {
    issue_by(ISSUER_KEY, chain, change)
}

fn sign(key: [u8; 32], document: &mut Value) {
    let read = Document::parse(document.to_string().as_bytes()).unwrap();
    let (eip712, digest) = intact::signed_data(&read, &DocumentHashes::of(&read), &expected());
    let secret = SecretKey::from_byte_array(key).unwrap();
    let signature = Secp256k1::signing_only().sign_ecdsa_recoverable(Message::from_digest(digest.0), &secret);
    let (recovery, compact) = signature.serialize_compact();
    let v = 27 + u8::try_from(i32::from(recovery)).unwrap();
    document["proof"] = json!({
        "type": "ServiceAgentCVEip712Proof2025", "cryptosuite": "eip712-jcs-2026", "proofPurpose": "assertionMethod",
        "created": document["validFrom"], "eip712": eip712, "digest": digest.to_string(),
        "verificationMethod": format!("{}#blockchainAccountId", did(address_of(key))),
        "proofValue": format!("0x{}{v:02x}", hex::encode(compact)), "attests": "a text",
    });
}

pub fn checked(document: &Value, chains: &[Chain], expected: &Expected) -> CredentialReport {
    let run = tokio::runtime::Builder::new_current_thread().build().unwrap();
    run.block_on(verify(document.to_string().as_bytes(), chains, expected)).unwrap()
}
