//! Step 5: the summary against the registry's counters, and against what the claims prove.

use crate::{
    claims::ProvenClaims,
    document::{Claim, Document},
    on_chain::OnChain,
    report::{Jobs, VerificationStep},
    rules::wei,
};
use alloy_primitives::U256;
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) fn check(document: &Document, chain: &OnChain, proven: &mut ProvenClaims) -> VerificationStep {
    let mut step = VerificationStep::new(5, "aggregate cross-check");
    if chain.is_reorganised {
        step.stale("evidence[0].asOfBlockHash", "the chain has another block there now: it was reorganised");
    }
    counters(document, chain, &proven.jobs, &mut step);
    let completed = U256::from(literal(document));
    proven.jobs.holds_literally = Some(completed <= chain.agent.jobs_completed);
    money(document, proven, &mut step);
    arms_length(document, &mut step);
    from_record(document, &mut step);
    let unchecked = unchecked(document).join(", ");
    let unchecked = match unchecked.is_empty() {
        true => String::new(),
        false => format!("; not compared, because claims are left out: {unchecked}"),
    };
    let where_read = if chain.read_at.is_as_of_block { "asOfBlock" } else { "the newest block" };
    step.detail(format!(
        "{} completed and {} failed jobs by the registry at {where_read} ({}){unchecked}",
        chain.agent.jobs_completed, chain.agent.jobs_failed, chain.read_at.block
    ));
    step
}

/// Claims in outcome Completed or Resolved, as the specification's text counts them.
fn literal(document: &Document) -> usize {
    jobs(document).filter(|claim| is_paid_out(claim)).count()
}

fn jobs(document: &Document) -> impl Iterator<Item = &Claim> {
    document.record.iter().filter(|claim| claim.kind == "EscrowJob")
}

fn is_paid_out(claim: &Claim) -> bool {
    ["Completed", "Resolved"].contains(&claim.outcome())
}

fn counters(document: &Document, chain: &OnChain, jobs: &Jobs, step: &mut VerificationStep) {
    let agent = &chain.agent;
    let most =
        [("jobsCompleted", agent.jobs_completed), ("ratingCount", agent.rating_count), ("ratingSum", agent.rating_sum)];
    for (name, registry) in most {
        match number(document.summary.get(name)) {
            Some(stated) if stated <= registry => {}
            _ => step.forged(format!("summary.{name}"), format!("the registry counts {registry}")),
        }
    }
    match number(document.summary.get("jobsFailed")) {
        Some(stated) if stated >= agent.jobs_failed => {}
        Some(_) if !chain.read_at.is_as_of_block => {
            step.stale("summary.jobsFailed", format!("the registry counts {} now", agent.jobs_failed));
        }
        _ => step.forged("summary.jobsFailed", format!("the registry counts {}", agent.jobs_failed)),
    }
    for (name, claimed, registry) in
        [("completed", jobs.completed, agent.jobs_completed), ("failed", jobs.failed, agent.jobs_failed)]
    {
        if U256::from(claimed) > registry {
            step.forged("record", format!("{claimed} claims of {name} jobs, and the registry counts {registry}"));
        }
    }
    if document.summary.get("asOfBlock").is_some_and(|block| block.as_u64() != Some(document.as_of_block)) {
        step.forged("summary.asOfBlock", "it is not the document's");
    }
}

fn number(value: Option<&Value>) -> Option<U256> {
    value?.as_u64().map(U256::from)
}

/// A sum of money: the member of the summary, the kind of its claims, which of them count, and how much.
type Sum = (&'static str, &'static str, fn(&Claim) -> bool, fn(&Claim) -> U256);

const SUMS: [Sum; 6] = [
    ("escrowEarnedWei", "EscrowJob", is_paid_out, |claim| amount(claim, "payoutWei")),
    ("escrowFeesWei", "EscrowJob", is_paid_out, |claim| amount(claim, "feeWei")),
    ("x402GrossWei", "X402Receipt", |_| true, |claim| amount(claim, "amountWei")),
    ("x402FeesWei", "X402Receipt", |_| true, |claim| amount(claim, "feeWei")),
    (
        "x402EarnedWei",
        "X402Receipt",
        |_| true,
        |claim| amount(claim, "amountWei").saturating_sub(amount(claim, "feeWei")),
    ),
    ("x402SpentWei", "X402Payment", |_| true, |claim| amount(claim, "amountWei")),
];

/// Sums of money do not exceed what the proven claims add up to, unless claims of the kind are left out.
fn money(document: &Document, proven: &ProvenClaims, step: &mut VerificationStep) {
    for (name, kind, counts, of) in SUMS {
        let Some(stated) = document.summary.get(name).filter(|stated| !stated.is_null()) else { continue };
        let claims = || document.record.iter().filter(|claim| claim.kind == kind && counts(claim));
        let sum = |ids: &BTreeSet<String>| {
            let claims = claims().filter(|claim| ids.contains(&claim.id));
            claims.fold(U256::ZERO, |sum, claim| sum.saturating_add(of(claim)))
        };
        let (known, unknown) = (sum(&proven.ids), sum(&proven.unknown));
        let about = format!("summary.{name}");
        match wei(stated) {
            Some(stated) if stated <= known || document.omits(kind) => {}
            Some(stated) if stated <= known.saturating_add(unknown) => {
                step.not_checkable(about, format!("the claims prove {known}, and more of them cannot be checked"));
            }
            _ => step.forged(about, format!("the claims prove {known}")),
        }
    }
}

/// Members of the summary that are compared with the claims of a kind, and are not while some of these are left out.
fn unchecked(document: &Document) -> Vec<&'static str> {
    let of_jobs = [("armsLength", "EscrowJob"), ("jobsSettled", "EscrowJob")];
    let compared = SUMS.iter().map(|(name, kind, ..)| (*name, *kind)).chain(of_jobs);
    let is_there = |name: &str| document.summary.get(name).is_some_and(|stated| !stated.is_null());
    compared.filter(|(name, kind)| document.omits(kind) && is_there(name)).map(|(name, _)| name).collect()
}

fn amount(claim: &Claim, name: &str) -> U256 {
    wei(claim.get(name)).unwrap_or_default()
}

/// What is said of payers does not exceed what the claims tell.
fn arms_length(document: &Document, step: &mut VerificationStep) {
    let Some(stated) = document.summary.get("armsLength").filter(|_| !document.omits("EscrowJob")) else { return };
    let paid: Vec<&Claim> =
        jobs(document).filter(|claim| is_paid_out(claim) && !amount(claim, "amountWei").is_zero()).collect();
    let payers: BTreeSet<String> = paid.iter().map(|claim| claim.get("client").to_string().to_lowercase()).collect();
    let rated = paid.iter().filter(|claim| !claim.get("rating").is_null()).count();
    for (name, told) in [("paidJobsCompleted", paid.len()), ("distinctPayers", payers.len()), ("ratedPaidJobs", rated)]
    {
        if number(stated.get(name)).is_some_and(|stated| stated > U256::from(told)) {
            step.forged(format!("summary.armsLength.{name}"), format!("the claims tell of {told}"));
        }
    }
}

/// What is computed from the record and the counters.
fn from_record(document: &Document, step: &mut VerificationStep) {
    let ratings: Vec<u64> = jobs(document).filter_map(|claim| claim.get("rating").as_u64()).collect();
    let of = |trust: &str| document.record.iter().filter(|claim| claim.trust == trust).count();
    let (chain, all) = (of("chain"), document.record.len());
    let counts = |path: &str| document.subject.get("counts").and_then(|counts| counts.pointer(path)).cloned();
    let summary = |name: &str| document.summary.get(name).cloned();
    let settled = literal(document);
    let computed = [
        ("summary.ratedJobsInRecord", summary("ratedJobsInRecord"), ratings.len() as u64),
        ("summary.ratingSumInRecord", summary("ratingSumInRecord"), ratings.iter().sum()),
        ("counts.proven", counts("/proven"), chain as u64),
        ("counts.asserted", counts("/asserted"), (all - chain) as u64),
        ("counts.byTrust.chain", counts("/byTrust/chain"), chain as u64),
        ("counts.byTrust.gateway", counts("/byTrust/gateway"), of("gateway") as u64),
        ("counts.byTrust.selfAttested", counts("/byTrust/selfAttested"), of("selfAttested") as u64),
    ];
    for (name, stated, computed) in computed {
        if stated.is_some_and(|stated| stated != computed) {
            step.forged(name, format!("the record tells of {computed}"));
        }
    }
    let stated = number(document.summary.get("jobsSettled"));
    if !document.omits("EscrowJob") && stated.is_some_and(|stated| stated > U256::from(settled)) {
        step.forged("summary.jobsSettled", format!("the record tells of {settled}"));
    }
    let whole = |name: &str| document.summary.get(name).and_then(Value::as_u64).unwrap_or_default();
    let (sum, count) = (whole("ratingSum"), whole("ratingCount"));
    let average = document.summary.get("ratingAvg").and_then(Value::as_f64);
    if average != rounded(sum, count) && document.summary.contains_key("ratingAvg") {
        step.forged("summary.ratingAvg", format!("{sum} of {count} ratings is another average"));
    }
}

/// With two decimals.
fn rounded(sum: u64, count: u64) -> Option<f64> {
    let hundredths = sum.checked_mul(200)?.checked_add(count)?.checked_div(count.checked_mul(2)?)?;
    format!("{}.{:02}", hundredths / 100, hundredths % 100).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_have_two_decimals() {
        assert_eq!((rounded(14, 3), rounded(5, 1), rounded(0, 0)), (Some(4.67), Some(5.0), None));
        assert_eq!((rounded(1, 8), rounded(u64::MAX, 2)), (Some(0.13), None));
    }
}
