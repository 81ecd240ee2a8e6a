//! Step 6: every contract that the document cites is the verifier's own of that name.

use crate::{
    document::Document,
    expected::{Contracts, address, key_of},
    report::VerificationStep,
};
use serde_json::Value;

pub(crate) fn check(document: &Document, contracts: &Contracts) -> VerificationStep {
    let mut step = VerificationStep::new(6, "pin the contracts");
    let mut cited = 0;
    let mut cite = |step: &mut VerificationStep, about: String, key: Option<&str>, stated: &Value| {
        if stated.is_null() {
            return;
        }
        cited += 1;
        let Some(key) = key else {
            return step.forged(about, "it cites a contract that has no name in the vocabulary");
        };
        match contracts.find(key) {
            None => step.not_checkable(about, format!("no contract {key} is pinned")),
            Some(pinned) if stated.as_str().and_then(address) == Some(pinned) => {}
            Some(pinned) => step.forged(about, format!("the contract {key} is {pinned}, not {stated}")),
        }
    };
    let anchor = document.get("evidence").get(0).unwrap_or(&Value::Null);
    for (name, stated) in anchor["contracts"].as_object().into_iter().flatten() {
        // No contract: where fees go.
        if name != "treasury" {
            cite(&mut step, format!("evidence[0].contracts.{name}"), key_of(name), stated);
        }
    }
    let subject = Value::Object(document.subject.clone());
    let status = document.get("credentialStatus");
    let named = [
        ("credentialSubject.agent.agentRegistry", "registry", &subject["agent"]["agentRegistry"]),
        ("credentialSubject.agent.identityRegistry", "identity8004", &subject["agent"]["identityRegistry"]),
        ("credentialSubject.summary.verify.address", "registry", &subject["summary"]["verify"]["address"]),
        ("credentialStatus.identityRegistry", "identity8004", &status["identityRegistry"]),
    ];
    for (about, key, stated) in named {
        cite(&mut step, about.to_owned(), Some(key), stated);
    }
    for claim in &document.record {
        let also = claim.get("alsoEvidence").as_array().into_iter().flatten();
        for evidence in also.chain([claim.get("evidence")]) {
            let key = evidence["contract"].as_str().and_then(key_of);
            cite(&mut step, claim.id.clone(), key, &evidence["address"]);
            for bind in evidence["bind"].as_array().into_iter().flatten() {
                let call = &bind["call"];
                let key = match call["fn"].as_str() {
                    Some("getJob(uint256)") => Some("escrow"),
                    Some("getAgent(uint256)") => Some("registry"),
                    _ => None,
                };
                cite(&mut step, claim.id.clone(), key, &call["address"]);
            }
        }
    }
    chains(document, contracts, &mut step);
    step.detail(format!("{cited} citations are of pinned contracts"));
    step
}

/// The chain and the agent wherever they are named again.
fn chains(document: &Document, contracts: &Contracts, step: &mut VerificationStep) {
    let subject = Value::Object(document.subject.clone());
    let status = document.get("credentialStatus");
    let chains = [
        ("evidence[0].chainId", &document.get("evidence")[0]["chainId"]),
        ("credentialSubject.agent.chainId", &subject["agent"]["chainId"]),
        ("credentialStatus.chainId", &status["chainId"]),
    ];
    for (about, stated) in chains {
        if !stated.is_null() && stated.as_u64() != Some(contracts.chain_id) {
            step.forged(about, format!("the chain is {}", contracts.chain_id));
        }
    }
    let chain = format!("eip155:{}", contracts.chain_id);
    let caip2 = &subject["agent"]["caip2"];
    if !caip2.is_null() && *caip2 != chain.as_str() {
        step.forged("credentialSubject.agent.caip2", format!("the chain is {chain}"));
    }
    if !status["agentId"].is_null() && status["agentId"].as_u64() != Some(document.agent_id) {
        step.forged("credentialStatus.agentId", "it is another agent's");
    }
    let block = &document.get("evidence")[0]["asOfBlock"];
    if !block.is_null() && block.as_u64() != Some(document.as_of_block) {
        step.forged("evidence[0].asOfBlock", "it is not the document's");
    }
}
