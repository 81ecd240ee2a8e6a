//! Step 7: each claim of trust `chain` against its log, and what follows from it.
//!
//! The rule: what the claim's `bind` says is checked too, but what must hold is our own table: an issuer that binds nothing proves
//! nothing by it.

use crate::{
    abi::{Datum, Event},
    document::{ALSO_EVIDENCE_MAX, Claim, Document},
    evidence::{Found, Problem, find, forged, unknown},
    expected::{Contracts, Expected},
    on_chain::OnChain,
    reader::{Job, Reader},
    report::{Jobs, StepOutcome, VerificationStep},
    rpc::Rpc,
    rules::{OUTCOME_RECORDED, Subject, is_same, resolve},
};
use alloy_primitives::{B256, U256};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const BINDS_MAX: usize = 32;

/// What the claims prove together.
#[derive(Debug, Default)]
pub(crate) struct ProvenClaims {
    pub jobs: Jobs,
    /// Ids of claims whose log proves them.
    pub ids: BTreeSet<String>,
    /// Ids of claims of which nothing can be known.
    pub unknown: BTreeSet<String>,
}

pub(crate) struct Claims<'c, 'n, R> {
    pub document: &'c Document,
    pub expected: &'c Expected,
    pub chain: &'c OnChain,
    pub reader: &'c mut Reader<'n, R>,
    used: BTreeSet<(String, B256, u64)>,
}

impl<'c, 'n, R: Rpc> Claims<'c, 'n, R> {
    pub(crate) fn new(
        document: &'c Document,
        expected: &'c Expected,
        chain: &'c OnChain,
        reader: &'c mut Reader<'n, R>,
    ) -> Self {
        Self { document, expected, chain, reader, used: BTreeSet::new() }
    }

    pub(crate) async fn check(mut self) -> (VerificationStep, ProvenClaims) {
        let mut step = VerificationStep::new(7, "per claim");
        let (document, mut proven) = (self.document, ProvenClaims::default());
        for claim in &document.record {
            match self.check_claim(claim, &mut proven.jobs).await {
                Ok(true) => {
                    proven.ids.insert(claim.id.clone());
                }
                Ok(false) => {}
                Err((outcome, text)) => {
                    if outcome < StepOutcome::Forged {
                        proven.unknown.insert(claim.id.clone());
                    }
                    step.find(outcome, &claim.id, text);
                }
            }
        }
        let logs = document.record.iter().filter(|claim| is_by_log(claim)).count();
        step.detail(format!("{} of {logs} claims are proven by their logs", proven.ids.len()));
        (step, proven)
    }

    fn contracts(&self) -> &'c Contracts {
        &self.expected.contracts
    }

    fn subject(&self) -> Subject {
        Subject { agent_id: self.document.agent_id, owner: self.document.owner }
    }

    /// Whether a log proves the claim.
    async fn check_claim(&mut self, claim: &Claim, jobs: &mut Jobs) -> Result<bool, Problem> {
        if !is_by_log(claim) {
            count(claim, None, jobs);
            return Ok(false);
        }
        let (contracts, subject, block) = (self.contracts(), self.subject(), self.document.as_of_block);
        let found = find(self.reader, contracts, subject, block, claim, &claim.evidence, false).await?;
        self.use_once(claim, &found)?;
        count(claim, Some(self.has_succeeded(&found)), jobs);
        self.check_also(claim, &found).await?;
        is_consistent(claim, &found, subject)?;
        let job = match claim.kind.as_str() {
            "EscrowJob" | "Dispute" => Some(self.job(claim).await?),
            _ => None,
        };
        if let (Some(job), "EscrowJob") = (&job, claim.kind.as_str()) {
            self.check_job(claim, &found, job)?;
        }
        check_binds(claim, &found, subject, job.as_ref())?;
        Ok(true)
    }

    /// One log proves one claim of a kind.
    fn use_once(&mut self, claim: &Claim, found: &Found) -> Result<(), Problem> {
        if self.used.insert((claim.kind.clone(), found.transaction, found.index)) {
            return Ok(());
        }
        forged("its log proves another claim already")
    }

    /// `alsoEvidence`: the request and the delivery of a job.
    async fn check_also(&mut self, claim: &Claim, decisive: &Found) -> Result<(), Problem> {
        let also = match claim.members.get("alsoEvidence") {
            None | Some(Value::Null) => return Ok(()),
            Some(also) => also.as_array().map(Vec::as_slice).unwrap_or_default(),
        };
        if claim.kind != "EscrowJob" || also.is_empty() || also.len() > ALSO_EVIDENCE_MAX {
            return forged("its alsoEvidence is none");
        }
        let mut declarations = BTreeSet::from([decisive.rule.declaration]);
        for evidence in also {
            let nothing = Map::new();
            let evidence = evidence.as_object().unwrap_or(&nothing);
            let (contracts, subject, block) = (self.contracts(), self.subject(), self.document.as_of_block);
            let also = find(self.reader, contracts, subject, block, claim, evidence, true).await?;
            if !declarations.insert(also.rule.declaration) {
                return forged("two logs of its evidence are of one event");
            }
        }
        Ok(())
    }

    /// Whether the registry recorded a success right after the escrow's event: `None` where it recorded nothing.
    fn has_succeeded(&self, found: &Found) -> Option<bool> {
        let event = Event::parse(OUTCOME_RECORDED)?;
        let registry = self.contracts().registry;
        let later = found.receipt.logs.iter().filter(|log| log.address == registry && log.index > found.index);
        let outcomes = later.filter_map(|log| Some((log.index, event.decode(&log.topics, &log.data)?)));
        let of_agent = outcomes.filter(|(_, outcome)| {
            let id = Datum::Uint(U256::from(self.document.agent_id));
            outcome.iter().any(|argument| *argument == ("id", id.clone()))
        });
        let (_, first) = of_agent.min_by_key(|(index, _)| *index)?;
        Some(first.contains(&("success", Datum::Bool(true))))
    }

    /// The job, which is of this agent.
    async fn job(&mut self, claim: &Claim) -> Result<Job, Problem> {
        let Some(escrow) = self.contracts().find("escrow") else {
            return Err((StepOutcome::NotCheckable, "no contract escrow is pinned".to_owned()));
        };
        let Some(id) = claim.get("jobId").as_u64() else { return forged("its jobId is no number") };
        let job = self.reader.job(escrow, id, self.chain.read_at.block).await.map_err(|error| unknown(&error))?;
        if job.agent_id != Datum::Uint(U256::from(self.document.agent_id)) {
            return forged("its job is of another agent");
        }
        Ok(job)
    }

    fn check_job(&self, claim: &Claim, found: &Found, job: &Job) -> Result<(), Problem> {
        let facts = [
            ("client", &job.client),
            ("amountWei", &job.amount),
            ("inputHash", &job.input_hash),
            ("outputHash", &job.output_hash),
            ("requestedAt", &job.created_at),
            ("deliveredAt", &job.delivered_at),
        ];
        let is_settled = ["Completed", "Refunded", "Resolved"].contains(&claim.outcome());
        let is_exact = self.chain.read_at.is_as_of_block;
        for (name, datum) in facts {
            if is_same(datum, claim.get(name), true) {
                continue;
            }
            // Of a job that goes on, the delivery may be newer than the document.
            let may_have_moved = !is_exact && !is_settled && ["outputHash", "deliveredAt"].contains(&name);
            let outcome = if may_have_moved { StepOutcome::Stale } else { StepOutcome::Forged };
            return Err((outcome, format!("{name} is {}, and the escrow says otherwise", claim.get(name))));
        }
        if job.status != claim.outcome() {
            let outcome = if is_exact || is_settled { StepOutcome::Forged } else { StepOutcome::Stale };
            return Err((outcome, format!("its outcome is {:?}, and the escrow says {}", claim.outcome(), job.status)));
        }
        let settled_at = claim.get("settledAt");
        if is_settled && !settled_at.is_null() && settled_at.as_u64() != Some(found.time_s) {
            return forged(format!("settledAt is {settled_at}, and its block is of {}", found.time_s));
        }
        Ok(())
    }
}

fn is_by_log(claim: &Claim) -> bool {
    claim.is_proven() && claim.kind != "AgentState"
}

/// Counts a job by its outcome. `recorded` is what the registry recorded with its log.
fn count(claim: &Claim, recorded: Option<Option<bool>>, jobs: &mut Jobs) {
    if claim.kind != "EscrowJob" {
        return;
    }
    match (claim.outcome(), recorded.flatten()) {
        ("Completed", _) => jobs.completed += 1,
        ("Refunded", _) => jobs.failed += 1,
        ("Resolved", success) => {
            jobs.resolved += 1;
            jobs.completed += u64::from(success == Some(true));
            jobs.failed += u64::from(success == Some(false));
        }
        _ => {}
    }
}

/// Members that follow from others.
fn is_consistent(claim: &Claim, found: &Found, subject: Subject) -> Result<(), Problem> {
    let flag = |name: &str| claim.get(name).as_bool();
    let is_of = |event: &str| found.rule.declaration.starts_with(event);
    match claim.kind.as_str() {
        "EscrowJob" if claim.get("rating").as_u64().is_some_and(|rating| !(1..=5).contains(&rating)) => {
            forged("its rating is not in 1 to 5")
        }
        "EscrowJob" if !is_of("JobCompleted") && !claim.get("rating").is_null() => {
            forged("only completed jobs are rated")
        }
        "Validation" => {
            let is_own = found.argument("validatorAddress") == Some(&Datum::Address(subject.owner));
            if flag("selfAttested").is_some_and(|stated| stated != is_own) {
                return forged("selfAttested is not what its validator says");
            }
            if is_of("ValidationRequest") && !claim.get("response").is_null() {
                return forged("a request is no response");
            }
            Ok(())
        }
        "Dispute" => {
            let bps = claim.get("clientBps").as_u64().filter(|_| is_of("CaseClosed"));
            let outcome = match bps {
                None => "open",
                Some(bps) if bps >= 5000 => "mostly for the client",
                Some(_) => "mostly for the agent",
            };
            let is_right = claim.outcome() == outcome || bps.is_some() && claim.outcome() == "closed";
            if !is_right || flag("closed").is_some_and(|closed| closed != bps.is_some()) {
                return forged(format!("its outcome is {:?}, not {outcome:?}", claim.outcome()));
            }
            Ok(())
        }
        "Endorsement" => {
            let is_paid = found.argument("basis") == Some(&Datum::Uint(U256::ONE));
            if flag("paymentBacked").is_some_and(|stated| stated != is_paid) {
                return forged("paymentBacked is not what its basis says");
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// What the issuer lets verifiers compare.
fn check_binds(claim: &Claim, found: &Found, subject: Subject, job: Option<&Job>) -> Result<(), Problem> {
    let binds = claim.evidence.get("bind").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if binds.len() > BINDS_MAX {
        return forged("it has too many binds");
    }
    for bind in binds {
        let stated = bind.get("equals").and_then(Value::as_str);
        let Some((stated, null_is_zero)) = stated.and_then(|stated| resolve(stated, subject, &claim.members)) else {
            return forged("a bind equals no member");
        };
        let datum = match (bind.get("log").and_then(Value::as_str), bind.get("call")) {
            (Some(argument), None) => found.argument(argument),
            (None, Some(call)) => job.filter(|_| is_get_job(call)).and_then(|job| job_field(job, call)),
            _ => None,
        };
        let Some(datum) = datum else {
            return Err((StepOutcome::NotCheckable, "a bind compares with what is not read".to_owned()));
        };
        if !is_same(datum, &stated, null_is_zero || bind.get("call").is_some()) {
            return forged(format!("its bind {bind} does not hold"));
        }
    }
    Ok(())
}

fn is_get_job(call: &Value) -> bool {
    call.get("fn").is_some_and(|name| name == "getJob(uint256)")
        && call.get("args").and_then(|arguments| arguments.get(0)).is_some_and(|argument| argument == "claim.jobId")
}

fn job_field<'j>(job: &'j Job, call: &Value) -> Option<&'j Datum> {
    Some(match call.get("field")?.as_str()? {
        "agentId" => &job.agent_id,
        "client" => &job.client,
        "amount" => &job.amount,
        "inputHash" => &job.input_hash,
        "outputHash" => &job.output_hash,
        "createdAt" => &job.created_at,
        "deliveredAt" => &job.delivered_at,
        _ => return None,
    })
}
