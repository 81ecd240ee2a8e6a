//! Lies that a gateway signs, with all hashes right; and bytes that change on the way.

use super::{
    chain::{AGENT, Chain, account, contract},
    world::{chain, checked, evidence, expected, issue},
};
use crate::{StepOutcome, Verdict, verify};
use serde_json::{Value, json};

const REGISTRATION: usize = 0;
const JOB: usize = 1;
const WON: usize = 2;
const FEEDBACK: usize = 4;
const RECEIPT: usize = 5;

fn subject(document: &mut Value) -> &mut Value {
    &mut document["credentialSubject"]
}

fn claim(document: &mut Value, place: usize) -> &mut Value {
    &mut document["credentialSubject"]["record"][place]
}

/// What a lie is called, the step that finds it, and how it is told.
type Lie = (&'static str, u8, fn(&mut Value));

const LIES: [Lie; 34] = [
    ("more payout", 7, |document| claim(document, JOB)["payoutWei"] = "976".into()),
    ("a better rating", 7, |document| claim(document, WON)["rating"] = 5.into()),
    ("another client", 7, |document| claim(document, JOB)["client"] = account(4).to_checksum(None).into()),
    ("a larger amount", 7, |document| claim(document, JOB)["amountWei"] = "1001".into()),
    ("another output", 7, |document| claim(document, JOB)["outputHash"] = claim(document, JOB)["inputHash"].clone()),
    ("no output", 7, |document| claim(document, JOB)["outputHash"] = Value::Null),
    ("another time", 7, |document| claim(document, JOB)["settledAt"] = 1.into()),
    ("an earlier delivery", 7, |document| claim(document, JOB)["deliveredAt"] = 1.into()),
    ("an outcome of its own", 7, |document| claim(document, WON)["outcome"] = "Completed".into()),
    ("another block", 7, |document| claim(document, JOB)["evidence"]["block"] = 7.into()),
    ("another time of the block", 7, |document| claim(document, JOB)["evidence"]["ts"] = 7.into()),
    ("a swapped log", 7, |document| {
        claim(document, JOB)["evidence"]["tx"] = Chain::transaction(9).to_string().into();
        claim(document, JOB)["evidence"]["block"] = 9.into();
        claim(document, JOB)["evidence"]["ts"] = Chain::time(9).into();
    }),
    ("a log of another place", 7, |document| claim(document, JOB)["evidence"]["blockLogIndex"] = 4.into()),
    ("no such transaction", 7, |document| {
        claim(document, JOB)["evidence"]["tx"] = Chain::transaction(99).to_string().into()
    }),
    ("a repeated log", 7, |document| {
        let mut again = claim(document, FEEDBACK).clone();
        again["id"] = format!("fmx:{AGENT}:feedback:2").into();
        add(document, again);
    }),
    ("a claim twice", 1, |document| {
        let again = claim(document, FEEDBACK).clone();
        add(document, again);
    }),
    ("a claim of another agent", 1, |document| claim(document, FEEDBACK)["id"] = "fmx:8:feedback:1".into()),
    ("one pinned contract as another", 7, |document| {
        claim(document, JOB)["evidence"]["address"] = contract("registry").to_checksum(None).into();
    }),
    ("one pinned contract under its own name", 7, |document| {
        claim(document, JOB)["evidence"]["address"] = contract("registry").to_checksum(None).into();
        claim(document, JOB)["evidence"]["contract"] = "registry".into();
    }),
    ("another chain's contract", 7, |document| {
        claim(document, JOB)["evidence"]["address"] = account(6).to_checksum(None).into();
    }),
    ("another chain", 7, |document| claim(document, JOB)["evidence"]["chainId"] = 1.into()),
    ("another event", 7, |document| claim(document, JOB)["evidence"]["event"] = "JobDisputed(uint256)".into()),
    ("another topic", 7, |document| {
        claim(document, JOB)["evidence"]["topic0"] = claim(document, WON)["evidence"]["topic0"].clone();
    }),
    ("a forged request beside it", 7, |document| {
        claim(document, JOB)["alsoEvidence"][0] = evidence(7, 0, "JobRequested")
    }),
    ("a bind that does not hold", 7, |document| {
        claim(document, JOB)["evidence"]["bind"] = json!([{ "log": "rating", "equals": "claim.jobId" }]);
    }),
    ("a call of another contract", 6, |document| {
        claim(document, JOB)["evidence"]["bind"][1]["call"]["address"] = account(6).to_checksum(None).into();
    }),
    ("a state in the registration", 1, |document| claim(document, REGISTRATION)["status"] = "Active".into()),
    ("income of somebody else", 7, |document| claim(document, RECEIPT)["payee"] = account(6).to_checksum(None).into()),
    ("trust without a log", 7, |document| {
        let state = claim(document, 7);
        state["evidence"]["trust"] = "chain".into();
        state["evidence"]["proven"] = true.into();
        state["proven"] = true.into();
        subject(document)["counts"] =
            json!({ "proven": 8, "asserted": 1, "byTrust": { "chain": 8, "gateway": 0, "selfAttested": 1 } });
    }),
    ("an inflated counter", 5, |document| subject(document)["summary"]["jobsCompleted"] = 3.into()),
    ("fewer failures", 5, |document| subject(document)["summary"]["jobsFailed"] = 0.into()),
    ("more money", 5, |document| subject(document)["summary"]["escrowEarnedWei"] = "1054".into()),
    ("more payers", 5, |document| subject(document)["summary"]["armsLength"]["distinctPayers"] = 2.into()),
    ("another state", 8, |document| claim(document, 6)["endpoint"] = "https://other".into()),
];

fn add(document: &mut Value, claim: Value) {
    let subject = subject(document);
    subject["record"].as_array_mut().unwrap().push(claim);
    subject["recordMeta"]["count"] = 10.into();
    subject["counts"] =
        json!({ "proven": 8, "asserted": 2, "byTrust": { "chain": 8, "gateway": 1, "selfAttested": 1 } });
    subject["summary"]["feedback"]["total"] = 2.into();
}

#[test]
fn lies_are_found_although_they_are_signed() {
    let chain = chain();
    for (what, n, tell) in LIES {
        let report = checked(&issue(&chain, tell), std::slice::from_ref(&chain), &expected());
        assert_eq!(report.verdict, Verdict::Forged, "{what}: {report:#?}");
        let step = report.steps.iter().find(|step| step.n == n).unwrap();
        assert_eq!(step.outcome, StepOutcome::Forged, "{what}: {report:#?}");
    }
}

/// The registry counts the job, so that the claim is missed.
#[test]
fn a_dropped_claim_is_missed() {
    let chain = chain();
    for place in [JOB, 3, FEEDBACK, RECEIPT, REGISTRATION, 6] {
        let dropped = issue(&chain, |document| {
            let subject = subject(document);
            let claim = subject["record"].as_array_mut().unwrap().remove(place);
            subject["recordMeta"]["count"] = 8.into();
            subject["counts"] =
                json!({ "proven": 6, "asserted": 2, "byTrust": { "chain": 6, "gateway": 1, "selfAttested": 1 } });
            if claim["type"] == "EscrowJob" {
                subject["summary"]["armsLength"] = json!({});
                subject["summary"]["jobsSettled"] = 2.into();
                subject["summary"]["escrowEarnedWei"] = "78".into();
                subject["summary"]["escrowFeesWei"] = "2".into();
            }
            if claim["rating"] == 5 {
                subject["summary"]["ratedJobsInRecord"] = 0.into();
                subject["summary"]["ratingSumInRecord"] = 0.into();
            }
            if claim["type"] == "X402Receipt" {
                for name in ["x402EarnedWei", "x402GrossWei", "x402FeesWei"] {
                    subject["summary"][name] = "0".into();
                }
            }
        });
        let report = checked(&dropped, std::slice::from_ref(&chain), &expected());
        assert_eq!(report.verdict, Verdict::NotCheckable, "{place}: {report:#?}");
    }
    let contradiction = issue(&chain, |document| subject(document)["recordMeta"]["count"] = 10.into());
    assert_eq!(checked(&contradiction, std::slice::from_ref(&chain), &expected()).verdict, Verdict::Forged);
}

#[test]
fn the_other_of_two_signatures_is_refused() {
    let chain = chain();
    let mut document = issue(&chain, |_| {});
    let value = document["proof"]["proofValue"].as_str().unwrap().to_owned();
    let order = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141";
    let number = |text: &str| alloy_primitives::U256::from_str_radix(text, 16).unwrap();
    let high = number(order) - number(&value[66..130]);
    let other = if value.ends_with("1b") { "1c" } else { "1b" };
    document["proof"]["proofValue"] = format!("{}{high:064x}{other}", &value[..66]).into();
    let report = checked(&document, std::slice::from_ref(&chain), &expected());
    assert_eq!(report.verdict, Verdict::Forged);
    assert!(report.steps[3].findings[0].text.contains("upper half"), "{report:#?}");
}

/// The generator of Steele and others, for the same bytes every time.
fn next(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

/// Without members that no signature covers.
fn protected(bytes: &[u8]) -> Option<Value> {
    let mut value: Value = serde_json::from_slice(bytes).ok()?;
    if let Some(proof) = value.get_mut("proof").and_then(Value::as_object_mut) {
        proof.remove("attests");
    }
    Some(value)
}

#[test]
fn every_byte_that_changes_a_value_is_found() {
    let chain = chain();
    let bytes = issue(&chain, |_| {}).to_string().into_bytes();
    let (right, expected, mut seed) = (protected(&bytes).unwrap(), expected(), 1);
    let run = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let mut changed = 0;
    while changed < 300 {
        let mut other = bytes.clone();
        let place = usize::try_from(next(&mut seed)).unwrap() % other.len();
        other[place] ^= 1 << (next(&mut seed) % 8);
        let text = String::from_utf8_lossy(&other).into_owned();
        if protected(&other).is_none_or(|value| value == right) {
            continue;
        }
        let report = run.block_on(verify(&other, std::slice::from_ref(&chain), &expected));
        let is_refused = report.as_ref().map_or(true, |report| report.verdict != Verdict::Valid);
        let is_free_text = report.is_ok_and(|report| report.unprotected != ["attests"]);
        assert!(is_refused || is_free_text, "{place}: {text}");
        changed += 1;
    }
}
