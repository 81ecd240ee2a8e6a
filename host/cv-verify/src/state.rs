//! Steps 8 and 10: what may change after the issue: the agent's state, and the document that its owner anchored.

use crate::{
    abi::{Datum, Kind, decode},
    document::{Claim, Document},
    expected::Contracts,
    on_chain::OnChain,
    reader::{Agent, Reader},
    report::{StepOutcome, VerificationStep},
    rpc::Rpc,
    rules::is_same,
};
use alloy_primitives::B256;
use serde_json::Value;

/// A member of what the registry says.
type Member = fn(&Agent) -> Datum;

pub(crate) fn check(document: &Document, chain: &OnChain) -> VerificationStep {
    let mut step = VerificationStep::new(8, "mutable state");
    let mut states = document.record.iter().filter(|claim| claim.kind == "AgentState");
    match (states.next(), states.next()) {
        (Some(state), None) => state_claim(document, state, chain, &mut step),
        (None, _) => step.not_checkable("AgentState", "the record has no claim of the agent's state"),
        (Some(_), Some(second)) => step.forged(&second.id, "a second claim of the agent's state"),
    }
    let agent = document.subject.get("agent").unwrap_or(&Value::Null);
    let summary = |name: &str| document.summary.get(name).unwrap_or(&Value::Null);
    let owner = Value::from(document.owner.to_checksum(None));
    let facts: [(&str, &Value, Member); 7] = [
        ("credentialSubject.id", &owner, |agent| Datum::Address(agent.owner)),
        ("credentialSubject.name", document.subject.get("name").unwrap_or(&Value::Null), |agent| {
            Datum::Text(agent.name.clone())
        }),
        ("credentialSubject.agent.endpoint", &agent["endpoint"], |agent| Datum::Text(agent.endpoint.clone())),
        ("credentialSubject.agent.status", &agent["status"], |agent| Datum::Text(agent.status.to_owned())),
        ("credentialSubject.agent.registeredAt", &agent["registeredAt"], |agent| Datum::Uint(agent.registered_at)),
        ("summary.bondWei", summary("bondWei"), |agent| Datum::Uint(agent.bond)),
        ("summary.pricePerJobWei", summary("pricePerJobWei"), |agent| Datum::Uint(agent.price_per_job)),
    ];
    for (about, stated, of) in facts {
        compare(about, stated, of, chain, &mut step);
    }
    step.detail(format!("{}, as the registry says now", chain.live.status));
    step
}

fn state_claim(document: &Document, claim: &Claim, chain: &OnChain, step: &mut VerificationStep) {
    let evidence = |name: &str| claim.evidence.get(name).and_then(Value::as_str).unwrap_or_default();
    let call = format!("getAgent({})", document.agent_id);
    if !claim.is_proven() || evidence("contract") != "registry" || evidence("call") != call {
        step.forged(&claim.id, format!("its evidence is not the call {call} of the registry"));
    }
    if claim.get("agentId").as_u64() != Some(document.agent_id) {
        step.forged(&claim.id, "it is of another agent");
    }
    let facts: [(&str, Member); 6] = [
        ("owner", |agent| Datum::Address(agent.owner)),
        ("endpoint", |agent| Datum::Text(agent.endpoint.clone())),
        ("metadataURI", |agent| Datum::Text(agent.metadata_uri.clone())),
        ("pricePerJobWei", |agent| Datum::Uint(agent.price_per_job)),
        ("bondWei", |agent| Datum::Uint(agent.bond)),
        ("status", |agent| Datum::Text(agent.status.to_owned())),
    ];
    for (name, of) in facts {
        let stated = claim.get(name);
        // Null says nothing of these two elsewhere, but a state says all.
        compare(
            &format!("{}.{name}", claim.id),
            if stated.is_null() { &Value::Bool(false) } else { stated },
            of,
            chain,
            step,
        );
    }
}

/// What never was is forged; what was at the document's block, and is no more, is stale.
fn compare(about: &str, stated: &Value, of: Member, chain: &OnChain, step: &mut VerificationStep) {
    if stated.is_null() {
        return;
    }
    let is_then = is_same(&of(&chain.agent), stated, false);
    let is_now = is_same(&of(&chain.live), stated, false);
    match (is_then, is_now, chain.read_at.is_as_of_block && !chain.is_reorganised) {
        (_, true, false) | (true, true, true) => {}
        (false, _, true) => step.forged(about, "the registry said otherwise at asOfBlock"),
        (_, false, _) => step.stale(about, "the registry says otherwise now"),
    }
}

/// Whether the owner anchored this document, or another one since.
pub(crate) async fn supersession<R: Rpc>(
    document: &Document,
    document_hash: B256,
    contracts: &Contracts,
    chain: &OnChain,
    reader: &mut Reader<'_, R>,
) -> VerificationStep {
    let mut step = VerificationStep::new(10, "supersession");
    let Some(identity) = contracts.find("identity8004") else {
        if document.get("credentialStatus").is_null() {
            step.detail("there is no identity registry to anchor it in");
        } else {
            step.not_checkable("credentialStatus", "no contract identity8004 is pinned");
        }
        return step;
    };
    match reader.anchored(identity, document.agent_id, chain.head).await {
        Ok(value) if value.is_empty() => step.detail("never anchored"),
        Ok(value) => match decode(&[Kind::Word, Kind::Text], &value).as_deref() {
            Some([Datum::Word(hash), _]) if *hash == document_hash => step.detail("current"),
            Some([Datum::Word(hash), Datum::Text(uri)]) => {
                step.find(StepOutcome::Superseded, "documentHash", format!("the owner anchored {hash} at {uri:?}"));
            }
            _ => step.not_checkable("documentHash", "what the owner anchored is not understood"),
        },
        Err(error) => step.not_checkable("documentHash", error.to_string()),
    }
    step
}
