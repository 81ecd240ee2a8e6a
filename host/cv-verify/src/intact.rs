//! Steps 1 to 4: shape, document hash, root of the claims, signature. The first three need no chain.

use crate::{
    document::{Document, did},
    expected::Expected,
    hashes::DocumentHashes,
    on_chain::OnChain,
    report::VerificationStep,
    rules::KINDS,
    signature::signer,
    typed_data::{AgentCv, Domain, difference},
};
use alloy_primitives::{Address, B256};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const VC_CONTEXT: &str = "https://www.w3.org/ns/credentials/v2";
const PROOF_TYPES: [&str; 2] = ["ServiceAgentCVEip712Proof2025", "DataIntegrityProof"];
/// Members of a proof that are compared. Nothing covers the others.
const PROOF_MEMBERS: [&str; 8] =
    ["type", "cryptosuite", "created", "proofPurpose", "eip712", "digest", "verificationMethod", "proofValue"];
/// What a registration says of then, and `AgentState` of now.
const STATE_MEMBERS: [&str; 5] = ["endpoint", "status", "pricePerJobWei", "bondWei", "metadataURI"];

pub(crate) fn shape(document: &Document, expected: &Expected) -> VerificationStep {
    let mut step = VerificationStep::new(1, "shape");
    let chain_id = expected.contracts.chain_id;
    if document.get("@context").get(0).and_then(Value::as_str) != Some(VC_CONTEXT) {
        step.forged("@context", format!("the first context is not {VC_CONTEXT}"));
    }
    for name in ["VerifiableCredential", "ServiceAgentCV"] {
        if !document.get("type").as_array().is_some_and(|types| types.iter().any(|kind| kind == name)) {
            step.forged("type", format!("it is no {name}"));
        }
    }
    times(document, expected, &mut step);
    match did(Some(document.get("issuer"))) {
        Some((chain, _)) if chain == chain_id => {}
        _ => step.forged("issuer", format!("it is no account of the chain {chain_id}")),
    }
    if did(document.subject.get("id")).map(|(chain, _)| chain) != Some(chain_id) {
        step.forged("credentialSubject.id", format!("it is no account of the chain {chain_id}"));
    }
    claims(document, &mut step);
    step.detail(format!(
        "a credential with {} claims, valid until {}",
        document.record.len(),
        text(document, "validUntil")
    ));
    step
}

fn text(document: &Document, name: &str) -> String {
    document.get(name).as_str().unwrap_or_default().to_owned()
}

fn times(document: &Document, expected: &Expected, step: &mut VerificationStep) {
    for (name, unix) in [("validFrom", document.issued_at), ("validUntil", document.expires_at)] {
        let time = text(document, name).parse::<jiff::Timestamp>().ok();
        if time.is_none_or(|time| u64::try_from(time.as_second()).ok() != Some(unix)) {
            step.forged(name, "it is not the time that the signature covers");
        }
    }
    let now = u64::try_from(expected.now_s).unwrap_or_default();
    if now >= document.expires_at {
        step.stale("validUntil", "the credential has expired");
    }
    if now < document.issued_at {
        step.not_checkable("validFrom", "the credential is not valid yet; is this machine's clock right?");
    }
}

fn claims(document: &Document, step: &mut VerificationStep) {
    let mut ids = BTreeSet::new();
    for claim in &document.record {
        let owner = claim.id.split(':').nth(1);
        if owner != Some(document.agent_id.to_string().as_str()) {
            step.forged(&claim.id, "its id is not of this agent");
        }
        if !ids.insert(&claim.id) {
            step.forged(&claim.id, "two claims have this id");
        }
        if !KINDS.contains(&claim.kind.as_str()) {
            step.forged(&claim.id, format!("the vocabulary has no {:?}", claim.kind));
        }
        if !["chain", "gateway", "selfAttested"].contains(&claim.trust.as_str()) {
            step.forged(&claim.id, format!("there is no trust {:?}", claim.trust));
        }
        let proven = [claim.get("proven"), claim.evidence.get("proven").unwrap_or(&Value::Null)];
        // Older documents have it in the evidence alone.
        if proven.iter().any(|proven| !proven.is_null() && **proven != claim.is_proven()) || proven[1].is_null() {
            step.forged(&claim.id, "`proven` is not what its trust says");
        }
        let names_state = claim.kind == "Registration" && STATE_MEMBERS.iter().any(|name| !claim.get(name).is_null());
        if names_state {
            step.forged(&claim.id, "a registration says nothing of the agent's state");
        }
    }
}

/// The document without proof has the hash that it names.
pub(crate) fn own_hash(document: &Document, hashes: &DocumentHashes) -> VerificationStep {
    let mut step = VerificationStep::new(2, "documentHash");
    let hash = hashes.document.to_string();
    if document.get("documentHash") != hash.as_str() {
        step.forged("documentHash", format!("the document has the hash {hash}"));
    }
    let signed = document.proof.as_ref().map(|proof| message(proof, "documentHash"));
    if signed.is_some_and(|signed| signed != Some(&Value::from(hash.as_str()))) {
        step.forged("proof.eip712.message.documentHash", format!("the document has the hash {hash}"));
    }
    step.detail(hash);
    step
}

fn message<'p>(proof: &'p Map<String, Value>, name: &str) -> Option<&'p Value> {
    proof.get("eip712")?.get("message")?.get(name)
}

/// Each claim has the leaf that it names, and together they have the root.
pub(crate) fn claims_root(document: &Document, hashes: &DocumentHashes) -> VerificationStep {
    let mut step = VerificationStep::new(3, "claimsRoot");
    for (claim, leaf) in document.record.iter().zip(&hashes.leaves) {
        if claim.get("leaf") != leaf.to_string().as_str() {
            step.forged(&claim.id, format!("the claim has the leaf {leaf}"));
        }
    }
    let root = hashes.root.to_string();
    let attested = document.get("evidence").get(0).and_then(|evidence| evidence.get("gatewayAttestation"));
    let stated = [
        ("claimsRoot", Some(document.get("claimsRoot"))),
        ("evidence[0].gatewayAttestation.claimsRoot", attested.and_then(|attested| attested.get("claimsRoot"))),
        ("proof.eip712.message.claimsRoot", document.proof.as_ref().and_then(|proof| message(proof, "claimsRoot"))),
    ];
    for (name, stated) in stated {
        if stated.is_some_and(|stated| *stated != root.as_str()) {
            step.forged(name, format!("the claims have the root {root}"));
        }
    }
    step.detail(root);
    step
}

/// The digest that a signature of this document is over, by our own domain and types.
pub(crate) fn signed_data(document: &Document, hashes: &DocumentHashes, expected: &Expected) -> (Value, B256) {
    let contracts = &expected.contracts;
    let domain = Domain {
        name: &expected.domain_name,
        chain_id: contracts.chain_id,
        verifying_contract: contracts.verifying_contract(),
    };
    let signed = AgentCv {
        chain_id: contracts.chain_id,
        registry: contracts.registry,
        agent_id: document.agent_id,
        subject: document.owner,
        claims_root: hashes.root,
        document_hash: hashes.document,
        issued_at: document.issued_at,
        expires_at: document.expires_at,
        as_of_block: document.as_of_block,
        as_of_block_hash: document.as_of_block_hash,
        uri: &document.uri,
    };
    (signed.json(&domain), signed.digest(&domain))
}

/// Members of the proof that nothing covers.
pub(crate) fn unprotected(document: &Document) -> Vec<String> {
    let members = document.proof.iter().flatten().map(|(name, _)| name);
    members.filter(|name| !PROOF_MEMBERS.contains(&name.as_str())).cloned().collect()
}

/// Who signed: the agent's owner, or an issuer that was known before.
pub(crate) fn signature(
    document: &Document,
    hashes: &DocumentHashes,
    expected: &Expected,
    chain: Result<&OnChain, &str>,
) -> (VerificationStep, Option<Address>) {
    let mut step = VerificationStep::new(4, "signature");
    let Some(proof) = &document.proof else {
        step.not_checkable("proof", "the document is not signed: credential.json is");
        return (step, None);
    };
    let (own, digest) = signed_data(document, hashes, expected);
    if let Some(path) = difference(proof.get("eip712").unwrap_or(&Value::Null), &own) {
        step.forged(format!("proof.{path}"), "it is not what a signature of this document is over");
    }
    let stated = |name: &str| proof.get(name).and_then(Value::as_str).unwrap_or_default();
    if stated("digest") != digest.to_string() {
        step.forged("proof.digest", format!("the digest is {digest}"));
    }
    if !PROOF_TYPES.contains(&stated("type")) {
        step.forged("proof.type", "it is no proof of an AI-CV");
    }
    let others = [
        ("cryptosuite", "eip712-jcs-2026"),
        ("proofPurpose", "assertionMethod"),
        ("created", document.get("validFrom").as_str().unwrap_or_default()),
    ];
    for (name, right) in others {
        if stated(name) != right {
            step.forged(format!("proof.{name}"), format!("it is not {right:?}"));
        }
    }
    if proof.get("proofValue").is_none_or(Value::is_null) {
        step.not_checkable("proof.proofValue", "nobody has signed the document yet");
        return (step, None);
    }
    match signer(digest, stated("proofValue")) {
        Ok(signer) => {
            judge(document, expected, chain, signer, stated("verificationMethod"), &mut step);
            (step, Some(signer))
        }
        Err(reason) => {
            step.forged("proof.proofValue", reason);
            (step, None)
        }
    }
}

fn judge(
    document: &Document,
    expected: &Expected,
    chain: Result<&OnChain, &str>,
    signer: Address,
    method: &str,
    step: &mut VerificationStep,
) {
    let account = |address: Address| {
        let address = address.to_checksum(None);
        format!("did:pkh:eip155:{}:{address}#blockchainAccountId", expected.contracts.chain_id)
    };
    // A contract has no key: what its signature is worth, only the contract says (ERC-1271).
    let is_of_contract = chain.is_ok_and(|chain| chain.owner_is_contract) && method == account(document.owner);
    if is_of_contract && signer != document.owner {
        step.not_checkable("proof.proofValue", "the owner is a contract, and signatures of contracts are not checked");
        return;
    }
    if method != account(signer) {
        step.forged("proof.verificationMethod", format!("the signature is of {signer}"));
    }
    if expected.issuers.contains(&signer) {
        if did(Some(document.get("issuer"))).map(|(_, issuer)| issuer) != Some(signer) {
            step.forged("issuer", format!("it is signed by the issuer {signer}"));
        }
        step.detail(format!("by the issuer {signer}"));
        return;
    }
    step.detail(format!("by the owner {signer}"));
    match chain {
        Ok(chain) if signer == chain.agent.owner => {}
        Ok(chain) if signer == document.owner && !chain.read_at.is_as_of_block => step.not_checkable(
            "proof.proofValue",
            format!("{signer} is not the owner now; whether it was, the server of the chain does not know"),
        ),
        Ok(_) if expected.issuers.is_empty() => {
            step.not_checkable("proof.proofValue", format!("it is signed by {signer}: name issuers that you trust"));
        }
        Ok(_) => {
            step.forged("proof.proofValue", format!("it is signed by {signer}, no issuer of yours and not the owner"))
        }
        Err(_) if signer != document.owner && !expected.issuers.is_empty() => {
            step.forged("proof.proofValue", format!("it is signed by {signer}, no issuer of yours and not the owner"));
        }
        Err(reason) => step.not_checkable("proof.proofValue", reason),
    }
}
