//! What is right, what time did to it, and what cannot be known.

use super::{
    chain::{AS_OF_BLOCK, Chain, account, contract, encode, text, uint},
    world::{ISSUER_KEY, OWNER_KEY, address_of, chain, checked, expected, issue, issue_by, owner},
};
use crate::{CredentialReport, NotACredential, StepOutcome, Verdict, abi::Datum, reader::Reader, verify};
use alloy_primitives::{B256, U256};
use serde_json::{Value, json};

fn report(document: &Value, chain: &Chain) -> CredentialReport {
    checked(document, std::slice::from_ref(chain), &expected())
}

/// The verdict, and the numbers of the steps that are not right.
fn found(report: &CredentialReport) -> (Verdict, Vec<u8>) {
    let wrong = report.steps.iter().filter(|step| step.outcome != StepOutcome::Ok).map(|step| step.n);
    (report.verdict, wrong.collect())
}

#[test]
fn an_honest_credential_is_valid_although_a_lost_job_breaks_the_literal_rule() {
    let chain = chain();
    let report = report(&issue(&chain, |_| {}), &chain);
    assert_eq!(found(&report), (Verdict::Valid, vec![]), "{report:#?}");
    assert_eq!((report.jobs.completed, report.jobs.failed, report.jobs.resolved), (2, 1, 2));
    assert_eq!(report.jobs.holds_literally, Some(false));
    assert_eq!((report.kept.chain, report.kept.gateway, report.kept.self_attested), (7, 1, 1));
    assert_eq!(report.unprotected, ["attests"]);
    assert_eq!(report.signer, Some(address_of(ISSUER_KEY).to_checksum(None)));
    let numbers: Vec<u8> = report.steps.iter().map(|step| step.n).collect();
    assert_eq!(numbers, (1..=11).collect::<Vec<u8>>());
    let json = json!(report);
    assert_eq!((&json["verdict"], &json["registryReadAt"]["isAsOfBlock"]), (&json!("valid"), &json!(true)));
}

#[test]
fn a_claim_below_the_floor_is_dropped() {
    let chain = chain();
    let mut floor = expected();
    floor.trust = "chain".parse().unwrap();
    let report = checked(&issue(&chain, |_| {}), std::slice::from_ref(&chain), &floor);
    assert_eq!(
        (report.kept.chain, report.kept.gateway, report.dropped.gateway, report.dropped.self_attested),
        (7, 0, 1, 1)
    );
}

#[test]
fn the_owner_may_sign() {
    let chain = chain();
    let by_owner = issue_by(OWNER_KEY, &chain, |_| {});
    let mut without_issuers = expected();
    without_issuers.issuers.clear();
    let report = checked(&by_owner, std::slice::from_ref(&chain), &without_issuers);
    assert_eq!(found(&report), (Verdict::Valid, vec![]), "{report:#?}");
    let by_issuer = issue(&chain, |_| {});
    let report = checked(&by_issuer, std::slice::from_ref(&chain), &without_issuers);
    assert_eq!(found(&report), (Verdict::NotCheckable, vec![4]));
    let by_stranger = issue_by([8; 32], &chain, |_| {});
    assert_eq!(found(&checked(&by_stranger, std::slice::from_ref(&chain), &expected())), (Verdict::Forged, vec![4]));
}

#[test]
fn a_contract_that_owns_an_agent_cannot_be_checked() {
    let mut chain = chain();
    chain.contracts_with_code.push(owner());
    let mut document = issue_by([8; 32], &chain, |_| {});
    document["proof"]["verificationMethod"] =
        format!("did:pkh:eip155:3961:{}#blockchainAccountId", owner().to_checksum(None)).into();
    assert_eq!(found(&report(&document, &chain)), (Verdict::NotCheckable, vec![4]));
}

#[test]
fn what_is_not_signed_cannot_be_checked() {
    let chain = chain();
    let mut document = issue(&chain, |_| {});
    document["proof"]["proofValue"] = Value::Null;
    assert_eq!(found(&report(&document, &chain)), (Verdict::NotCheckable, vec![4]));
    document["proof"] = json!([document["proof"]]);
    assert_eq!(found(&report(&document, &chain)), (Verdict::NotCheckable, vec![4]), "one proof in an array");
    document.as_object_mut().unwrap().remove("proof");
    assert_eq!(found(&report(&document, &chain)), (Verdict::NotCheckable, vec![4]));
}

#[test]
fn time_and_a_newer_document_make_it_stale() {
    let mut chain = chain();
    let document = issue(&chain, |_| {});
    let mut later = expected();
    later.now_s = 1_707_776_500;
    assert_eq!(found(&checked(&document, std::slice::from_ref(&chain), &later)), (Verdict::Stale, vec![1]));
    later.now_s = 1_700_000_499;
    assert_eq!(found(&checked(&document, std::slice::from_ref(&chain), &later)), (Verdict::NotCheckable, vec![1]));
    let anchored = |hash: B256| encode(&[Datum::Word(hash), text("https://a.example")]);
    chain.anchored = anchored(document["documentHash"].as_str().unwrap().parse().unwrap());
    assert_eq!(report(&document, &chain).steps[9].detail, "current");
    chain.anchored = anchored(B256::repeat_byte(1));
    let superseded = report(&document, &chain);
    assert_eq!((found(&superseded), superseded.exit_code), ((Verdict::Superseded, vec![10]), 2));
    chain.anchored = vec![1, 2, 3];
    assert_eq!(found(&report(&document, &chain)), (Verdict::NotCheckable, vec![10]));
}

/// The state of the document's block tells what was so from what never was; without it, what differs may have moved on.
#[test]
fn what_moved_on_is_stale_and_not_forged() {
    let mut chain = chain();
    let document = issue(&chain, |_| {});
    chain.agent_then = Some(chain.agent.clone());
    chain.agent[2] = text("https://newest");
    chain.agent[10] = uint(2);
    assert_eq!(found(&report(&document, &chain)), (Verdict::Stale, vec![8]), "the endpoint");
    chain.has_old_state = false;
    let without_state = report(&document, &chain);
    assert_eq!(found(&without_state), (Verdict::Stale, vec![5, 8]), "{without_state:#?}");
    assert!(!without_state.registry_read_at.unwrap().is_as_of_block);
    chain.agent[10] = uint(1);
    chain.agent[9] = uint(9);
    chain.agent[2] = text("https://new");
    assert_eq!(found(&report(&document, &chain)), (Verdict::Valid, vec![]), "more jobs since");
}

#[test]
fn a_job_that_goes_on_is_stale_without_old_state() {
    let mut chain = chain();
    chain.blocks.remove(&6);
    chain.jobs.get_mut(&1).unwrap()[9] = uint(2);
    chain.agent[9] = uint(1);
    (chain.agent[11], chain.agent[12]) = (uint(0), uint(0));
    let document = issue(&chain, |document| {
        let subject = &mut document["credentialSubject"];
        let job = &mut subject["record"][1];
        let delivered = job["alsoEvidence"][1].clone();
        job["evidence"] = job["alsoEvidence"][0].clone();
        job["alsoEvidence"] = json!([delivered]);
        for member in ["settledAt", "payoutWei", "feeWei", "rating"] {
            job[member] = Value::Null;
        }
        job["outcome"] = "Delivered".into();
        let summary = &mut subject["summary"];
        for (name, number) in [
            ("jobsCompleted", 1),
            ("ratingCount", 0),
            ("ratingSum", 0),
            ("jobsSettled", 2),
            ("ratedJobsInRecord", 0),
            ("ratingSumInRecord", 0),
        ] {
            summary[name] = number.into();
        }
        summary["ratingAvg"] = Value::Null;
        summary["armsLength"] = json!({ "paidJobsCompleted": 2, "distinctPayers": 1, "ratedPaidJobs": 0 });
        summary["escrowEarnedWei"] = "78".into();
        summary["escrowFeesWei"] = "2".into();
    });
    let then = report(&document, &chain);
    assert_eq!(found(&then), (Verdict::Valid, vec![]), "{then:#?}");
    chain.has_old_state = false;
    chain.jobs.get_mut(&1).unwrap()[9] = uint(5);
    assert_eq!(found(&report(&document, &chain)), (Verdict::Stale, vec![7]));
}

#[test]
fn a_reorganisation_makes_it_stale() {
    let mut chain = chain();
    let document = issue(&chain, |_| {});
    chain.branch = 1;
    assert_eq!(found(&report(&document, &chain)), (Verdict::Stale, vec![5]));
}

#[test]
fn two_servers_must_agree() {
    let chain = chain();
    let document = issue(&chain, |_| {});
    let mut behind = chain.clone();
    behind.head -= 3;
    assert_eq!(found(&checked(&document, &[chain.clone(), behind], &expected())), (Verdict::Valid, vec![]));
    let mut liar = chain.clone();
    liar.blocks.get_mut(&6).unwrap().swap(0, 1);
    let disagreed = checked(&document, &[chain.clone(), liar], &expected());
    assert_eq!(found(&disagreed), (Verdict::NotCheckable, vec![5, 7]), "a sum rests on what cannot be known");
    let text = &disagreed.steps[6].findings[0].text;
    assert!(text.contains("two servers answer eth_getTransactionReceipt differently"), "{text}");
}

#[test]
fn without_a_server_of_the_chain_nothing_is_called_forged() {
    let chain = chain();
    let document = issue(&chain, |_| {});
    let nobody = checked(&document, &[], &expected());
    assert_eq!(found(&nobody), (Verdict::NotCheckable, vec![5, 7, 8, 10]));
    let mut other = chain.clone();
    other.id = 1;
    assert_eq!(found(&report(&document, &other)).0, Verdict::NotCheckable);
    other = chain.clone();
    other.head = AS_OF_BLOCK - 1;
    assert_eq!(found(&report(&document, &other)).0, Verdict::NotCheckable);
    other = chain.clone();
    other.has_receipts = false;
    let no_receipts = report(&document, &other);
    assert_eq!(no_receipts.steps[6].outcome, StepOutcome::NotCheckable, "its block still names the transaction");
}

/// Every claim a job with three logs, each in a block of its own.
#[test]
fn the_largest_document_does_not_take_too_many_calls() {
    let run = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let chains = [chain()];
    let mut reader = Reader::new(&chains);
    run.block_on(async {
        reader.chain_id().await.unwrap();
        let job = *chains[0].jobs.keys().next().unwrap();
        for claim in 0..crate::CLAIMS_MAX as u64 {
            for log in 0..3 {
                let number = 1_000_000 + claim * 3 + log;
                assert!(reader.receipt(B256::from(U256::from(number))).await.unwrap().is_none());
                assert!(reader.block(number).await.unwrap().is_none());
            }
            reader.job(contract("escrow"), job, AS_OF_BLOCK).await.unwrap();
        }
        reader.head().await.unwrap();
        let mut more = 0;
        while reader.head().await.is_ok() {
            more += 1;
        }
        assert!(more < 20, "{more} calls more than it takes");
    });
}

#[test]
fn what_is_left_out_makes_it_not_checkable() {
    let chain = chain();
    let limited = issue(&chain, |document| {
        let meta = &mut document["credentialSubject"]["recordMeta"];
        meta["omitted"] = json!([{ "type": "Feedback", "count": 4, "reason": "limit" }]);
        meta["complete"] = false.into();
        document["credentialSubject"]["summary"]["feedback"]["total"] = 5.into();
    });
    assert_eq!(found(&report(&limited, &chain)), (Verdict::NotCheckable, vec![11]));
    let busy = |lie: &str| {
        issue(&chain, |document| {
            let subject = &mut document["credentialSubject"];
            subject["recordMeta"]["omitted"] = json!([{ "type": "EscrowJob", "count": 99_000, "reason": "cap" }]);
            subject["recordMeta"]["complete"] = false.into();
            subject["summary"]["escrowEarnedWei"] = "9".repeat(30).into();
            subject["summary"]["x402EarnedWei"] = lie.into();
        })
    };
    let honest = report(&busy("495"), &chain);
    assert_eq!(found(&honest), (Verdict::NotCheckable, vec![11]), "{honest:#?}");
    let (sums, missing) = (&honest.steps[4].detail, &honest.steps[10].findings[0].text);
    assert!(sums.ends_with("claims are left out: escrowEarnedWei, escrowFeesWei, armsLength, jobsSettled"), "{sums}");
    assert_eq!(missing, "99000 of \"EscrowJob\" are left out, by \"cap\"");
    assert_eq!(found(&report(&busy("496"), &chain)), (Verdict::Forged, vec![5, 11]), "what is there is checked");
}

#[test]
fn other_documents_are_no_credentials() {
    let run = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let chains = [chain()];
    let refused = |bytes: &[u8]| run.block_on(verify(bytes, &chains, &expected())).unwrap_err();
    assert!(matches!(refused(b""), NotACredential::NoJson(_)));
    assert!(matches!(refused(b"{\"a\":1,\"a\":1}"), NotACredential::NoJson(_)));
    assert_eq!(refused(b"\xff"), NotACredential::NoText);
    assert_eq!(refused(b"{}"), NotACredential::Missing("credentialSubject"));
    assert_eq!(refused(b"{\"n\":9007199254740993}"), NotACredential::Number);
    assert_eq!(refused(&vec![b' '; crate::DOCUMENT_BYTES_MAX + 1]), NotACredential::TooLarge);
    let mut document = issue(&chains[0], |_| {});
    document["proof"] = json!([document["proof"], document["proof"]]);
    assert_eq!(refused(document.to_string().as_bytes()), NotACredential::Proof);
    document["credentialSubject"]["record"] = json!(vec![document["credentialSubject"]["record"][0].clone(); 1001]);
    assert_eq!(refused(document.to_string().as_bytes()), NotACredential::TooManyClaims(1001));
    assert_ne!(account(3), owner());
}
