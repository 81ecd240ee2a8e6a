//! Steps 9 and 11: which claims count for the reader, and whether any are missing.
//!
//! The rule: nothing proves that a record is complete. What is checked is that it does not contradict itself and the registry.

use crate::{
    document::Document,
    expected::Trust,
    on_chain::OnChain,
    report::{ByTrust, VerificationStep},
};
use alloy_primitives::U256;
use serde_json::Value;

pub(crate) fn trust_floor(document: &Document, floor: Trust) -> (VerificationStep, ByTrust, ByTrust) {
    let mut step = VerificationStep::new(9, "trust floor");
    let (mut kept, mut dropped) = (ByTrust::default(), ByTrust::default());
    for claim in &document.record {
        let trust: Trust = claim.trust.parse().unwrap_or_default();
        let count = if trust >= floor { &mut kept } else { &mut dropped };
        match trust {
            Trust::Chain => count.chain += 1,
            Trust::Gateway => count.gateway += 1,
            Trust::SelfAttested => count.self_attested += 1,
        }
    }
    step.detail(format!(
        "{} claims proven by the chain, {} said by the gateway, {} by the agent itself; {} dropped",
        kept.chain,
        kept.gateway,
        kept.self_attested,
        dropped.chain + dropped.gateway + dropped.self_attested
    ));
    (step, kept, dropped)
}

/// Sums of the summary, and the kind of the claims that they count.
const TOTALS: [(&str, &str); 9] = [
    ("/feedback/total", "Feedback"),
    ("/validations/total", "Validation"),
    ("/endorsements/live", "Endorsement"),
    ("/disputes/total", "Dispute"),
    ("/x402ReceiptCount", "X402Receipt"),
    ("/x402PaymentCount", "X402Payment"),
    ("/streams", "Stream"),
    ("/subscriptionPlans", "SubscriptionPlan"),
    ("/tokensLaunched", "TokenLaunch"),
];

pub(crate) fn completeness(document: &Document, chain: Option<&OnChain>) -> VerificationStep {
    let mut step = VerificationStep::new(11, "completeness");
    let meta = &document.record_meta;
    let omitted = meta.get("omitted").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if meta.get("count").is_some_and(|count| count.as_u64() != Some(document.record.len() as u64)) {
        step.forged("recordMeta.count", format!("the record has {} claims", document.record.len()));
    }
    if meta.get("complete").is_some_and(|complete| *complete != omitted.is_empty()) {
        step.forged("recordMeta.complete", "it is not what recordMeta.omitted says");
    }
    if !meta.get("omitted").is_some_and(Value::is_array) {
        step.forged("recordMeta.omitted", "it is no list");
    }
    for entry in omitted {
        let (kind, count, reason) = (&entry["type"], &entry["count"], &entry["reason"]);
        step.not_checkable("recordMeta.omitted", format!("{count} of {kind} are left out, by {reason}"));
    }
    registration(document, &mut step);
    settled(document, chain, &mut step);
    totals(document, &mut step);
    let scope = |name: &str| meta.get("scope").and_then(|scope| scope[name].as_array()).map_or(0, Vec::len);
    step.detail(format!(
        "nothing is left out of {} kinds that are covered, {} are not: attested, not proven",
        scope("covers"),
        scope("excludes")
    ));
    step
}

fn registration(document: &Document, step: &mut VerificationStep) {
    let registrations = document.record.iter().filter(|claim| claim.kind == "Registration").count();
    if registrations > 1 {
        step.forged("record", "an agent is registered once");
    }
    if registrations == 0 && !document.omits("Registration") {
        step.not_checkable("record", "it has no claim of the registration");
    }
}

/// As many settled jobs as the registry counted at that block.
fn settled(document: &Document, chain: Option<&OnChain>, step: &mut VerificationStep) {
    let Some(chain) = chain.filter(|chain| chain.read_at.is_as_of_block && !chain.is_reorganised) else { return };
    let is_settled =
        |outcome: &str| ["Completed", "Refunded", "Resolved"].contains(&outcome) && !document.omits("EscrowJob");
    let told = document.record.iter().filter(|claim| claim.kind == "EscrowJob" && is_settled(claim.outcome())).count();
    let counted = chain.agent.jobs_completed.saturating_add(chain.agent.jobs_failed);
    if U256::from(told) < counted && !document.omits("EscrowJob") && covers(document, "EscrowJob") {
        step.not_checkable("record", format!("it has {told} settled jobs, and the registry counted {counted}"));
    }
}

fn covers(document: &Document, kind: &str) -> bool {
    let covers = document.record_meta.get("scope").and_then(|scope| scope["covers"].as_array());
    covers.is_none_or(|covers| covers.iter().any(|covered| covered == kind))
}

fn totals(document: &Document, step: &mut VerificationStep) {
    let summary = Value::Object(document.summary.clone());
    for (path, kind) in TOTALS {
        let told = document.record.iter().filter(|claim| claim.kind == kind).count();
        let stated = summary.pointer(path).and_then(Value::as_u64);
        if stated.is_some_and(|stated| stated > told as u64) && !document.omits(kind) {
            let name = path.replace('/', ".");
            step.not_checkable(format!("summary{name}"), format!("the record has {told} claims of {kind}"));
        }
    }
}
