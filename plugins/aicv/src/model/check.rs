//! Contributed claims are checked before the gateway signs them.
//!
//! The rule: a claim that the chain proves takes its evidence from the stored log, never from who contributes it; every member that an
//! event of its kind tells is compared with such an event; and one log proves one claim of a kind.

use super::{
    claim::{CheckedClaim, ClaimEvidence, asserted, claim_id},
    form::complete,
    log::{Bind, StoredLog, Subject, binds},
    vocabulary::{DISPUTE, ESCROW_JOB, EventRule, FEEDBACK, Kind, REGISTRATION},
};
use plugin_api::{
    Hash256,
    handles::Environment,
    point::{CvClaim, CvLog},
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, BTreeSet};

const ID_CHARS_MAX: usize = 160;
/// Events that a claim may name: no kind needs more than three.
pub const CLAIM_LOGS_MAX: usize = 8;

/// Why a contributed claim is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Refusal {
    UnknownKind,
    NotGranted,
    Id,
    Repeated,
    Members,
    TooLarge,
    /// It names no event, and its kind needs one; or an event that proves nothing of its kind.
    NoEvent,
    /// No stored log says what it states.
    NotProven,
    /// It is about a job of another agent.
    OtherAgent,
    /// A third party states a member that no event tells.
    Untold,
    /// It names more events than a claim needs, or one of those that were not read: what is read for a document is bounded.
    TooMuchEvidence,
}

impl Refusal {
    pub fn name(self) -> &'static str {
        match self {
            Self::UnknownKind => "unknown_kind",
            Self::NotGranted => "not_granted",
            Self::Id => "id",
            Self::Repeated => "repeated",
            Self::Members => "members",
            Self::TooLarge => "too_large",
            Self::NoEvent => "no_event",
            Self::NotProven => "not_proven",
            Self::OtherAgent => "other_agent",
            Self::Untold => "untold",
            Self::TooMuchEvidence => "too_much_evidence",
        }
    }
}

/// What claims are checked against.
pub struct Checks<'e> {
    pub subject: Subject,
    pub environment: &'e Environment,
    /// Kinds that the operator lets other plugins state.
    pub granted: &'e BTreeMap<String, Vec<String>>,
    /// Stored logs of the transactions that claims name.
    pub by_tx: BTreeMap<Hash256, Vec<StoredLog>>,
    /// Events of transactions that claims name and that were not read, because there are too many.
    pub unread: BTreeSet<(&'static str, Hash256)>,
    /// Stored logs that name the agent.
    pub of_agent: Vec<StoredLog>,
    /// The agent's jobs, of those that disputes name.
    pub jobs: BTreeSet<i64>,
    pub used: BTreeSet<(&'static str, Hash256, i64)>,
    pub ids: BTreeSet<String>,
}

/// A log that proves a claim, by a rule.
type Proof<'l> = (&'static EventRule, &'l StoredLog);

impl Checks<'_> {
    /// The claim with its evidence, or why it is left out.
    pub fn check(&mut self, plugin: &str, claim: CvClaim) -> Result<CheckedClaim, Refusal> {
        let is_too_large = claim.members_bytes() > CvClaim::BYTES_MAX;
        let CvClaim { kind, id, stated_at, mut fields, logs, source, note } = claim;
        let kind = Kind::find(&kind).ok_or(Refusal::UnknownKind)?;
        if !self.is_granted(plugin, kind) {
            return Err(Refusal::NotGranted);
        }
        if logs.len() > CLAIM_LOGS_MAX {
            return Err(Refusal::TooMuchEvidence);
        }
        let id = self.own_id(&id)?;
        if is_too_large {
            return Err(Refusal::TooLarge);
        }
        // The plugin that owns the facts derives members from its own tables; another one states what an event tells.
        let is_untold = |(name, value): (&String, &Value)| !value.is_null() && !kind.is_told(name);
        if kind.plugin != plugin && !kind.events.is_empty() && fields.iter().any(is_untold) {
            return Err(Refusal::Untold);
        }
        let checked = if logs.is_empty() {
            let fields = complete(kind, fields).ok_or(Refusal::Members)?;
            asserted(kind, id, stated_at, fields, source, note).ok_or(Refusal::NoEvent)?
        } else {
            match self.prove(kind, &logs, &mut fields) {
                Ok(proofs) => self.proven(plugin, kind, id, fields, proofs)?,
                // The event is not indexed yet: what the gateway says of it is an assertion.
                Err(Refusal::NotProven) if kind.asserted.is_some() && kind.plugin == plugin => {
                    if kind.name == REGISTRATION {
                        fields.entry("owner").or_insert(json!(self.subject.owner));
                    }
                    let fields = complete(kind, fields).ok_or(Refusal::NotProven)?;
                    asserted(kind, id, stated_at, fields, source, note).ok_or(Refusal::NotProven)?
                }
                Err(refusal) => return Err(refusal),
            }
        };
        if !checked.is_within_bounds() {
            return Err(Refusal::TooLarge);
        }
        self.ids.insert(checked.id.clone());
        self.used.extend(checked.logs.iter().map(|(tx, log_index)| (kind.name, *tx, *log_index)));
        Ok(checked)
    }

    pub fn is_granted(&self, plugin: &str, kind: &Kind) -> bool {
        kind.is_granted_to(plugin, self.granted)
    }

    fn own_id(&self, rest: &str) -> Result<String, Refusal> {
        let is_plain = |letter: u8| letter.is_ascii_alphanumeric() || b":._-".contains(&letter);
        if rest.is_empty() || rest.len() > ID_CHARS_MAX || !rest.bytes().all(is_plain) {
            return Err(Refusal::Id);
        }
        let id = claim_id(self.subject.agent_id, rest);
        if self.ids.contains(&id) { Err(Refusal::Repeated) } else { Ok(id) }
    }

    /// The logs that the claim names, each of which says what it states; adds what they tell beyond it.
    fn prove(
        &self,
        kind: &'static Kind,
        logs: &[CvLog],
        fields: &mut Map<String, Value>,
    ) -> Result<Vec<Proof<'_>>, Refusal> {
        let mut proofs = Vec::new();
        for named in logs {
            let rule = kind.rule(&named.contract, &named.event).ok_or(Refusal::NoEvent)?;
            if named.tx.is_some_and(|tx| self.unread.contains(&(rule.name(), tx))) {
                return Err(Refusal::TooMuchEvidence);
            }
            let configured = self.environment.contract(rule.contract);
            let stored = match named.tx {
                Some(tx) => self.by_tx.get(&tx).map(Vec::as_slice).unwrap_or_default(),
                None => &self.of_agent,
            };
            let candidates = stored
                .iter()
                .filter(|log| log.is_of(rule, configured))
                .filter(|log| !self.used.contains(&(kind.name, log.tx, log.log_index)));
            let found = candidates.clone().find_map(|log| {
                let told = told(kind, rule, log, fields);
                let is_told = |member: &str| told.iter().find(|(name, _)| *name == member).map(|(_, value)| value);
                let stated = |member: &str| fields.get(member).or_else(|| is_told(member));
                log.proves(rule, &self.subject, stated).then_some((log, told))
            });
            let Some((log, told)) = found else {
                let is_too_large = candidates.clone().any(|log| log.is_too_large);
                return Err(if is_too_large { Refusal::TooLarge } else { Refusal::NotProven });
            };
            fields.extend(told.into_iter().map(|(name, value)| (name.to_owned(), value)));
            proofs.push((rule, log));
        }
        Ok(proofs)
    }

    fn proven(
        &self,
        plugin: &str,
        kind: &'static Kind,
        id: String,
        fields: Map<String, Value>,
        proofs: Vec<Proof<'_>>,
    ) -> Result<CheckedClaim, Refusal> {
        let (rule, log) = proofs.first().ok_or(Refusal::NoEvent)?;
        // Which of several outcomes it is, the event does not tell.
        if kind.plugin != plugin && rule.outcomes.len() > 1 {
            return Err(Refusal::Untold);
        }
        let outcome = fields.get("outcome").and_then(Value::as_str).unwrap_or_default();
        let decides = rule.decides && (rule.outcomes.is_empty() || rule.outcomes.contains(&outcome));
        if !decides || !is_covered(kind, &fields, &proofs) {
            return Err(Refusal::NotProven);
        }
        let is_own = || fields.get("jobId").and_then(Value::as_i64).is_some_and(|job| self.jobs.contains(&job));
        if kind.name == DISPUTE && !is_own() {
            return Err(Refusal::OtherAgent);
        }
        let chain_id = self.environment.chain_id;
        let also_evidence = match kind.name {
            ESCROW_JOB => proofs.iter().skip(1).map(|(rule, log)| log.evidence(rule, chain_id, &[])).collect(),
            _ => Vec::new(),
        };
        let json = log.evidence(rule, chain_id, &self.binds(kind, rule, log, &fields));
        let evidence = ClaimEvidence { trust: "chain", json };
        let mut fields = complete(kind, fields).ok_or(Refusal::Members)?;
        if kind.name == ESCROW_JOB && outcome_is_unrated(&fields) {
            fields.insert("ratingNote".to_owned(), "completed without a rating".into());
        }
        // Two clients may give feedback in one transaction: the log tells their claims apart.
        let id = match kind.name {
            FEEDBACK => claim_id(self.subject.agent_id, &format!("feedback:{}:{}", log.tx, log.log_index)),
            _ => id,
        };
        let (block, stated_at) = (Some(log.block), Some(log.time_s));
        let logs = proofs.iter().map(|(_, log)| (log.tx, log.log_index)).collect();
        Ok(CheckedClaim { kind, id, stated_at, fields, evidence, also_evidence, block, logs })
    }

    fn binds(&self, kind: &Kind, rule: &EventRule, log: &StoredLog, fields: &Map<String, Value>) -> Vec<Bind> {
        let mut binds = binds(rule);
        let escrow = self.environment.contract("escrow").filter(|_| kind.name == ESCROW_JOB);
        if let Some(escrow) = escrow.filter(|_| rule.name() != "JobRequested") {
            binds.push(Bind::Job { escrow, field: "agentId", equals: "subject.agentId" });
            if fields.get("outputHash").is_some_and(Value::is_string) {
                binds.push(Bind::Job { escrow, field: "outputHash", equals: "claim.outputHash" });
            }
        }
        // Who registered the agent is its owner, unless it was transferred since.
        if kind.name == REGISTRATION && log.args.get("owner") == Some(&json!(self.subject.owner)) {
            for bind in &mut binds {
                match bind {
                    Bind::Log { argument: "owner", equals } => *equals = "subject.address",
                    Bind::Log { .. } | Bind::Job { .. } => {}
                }
            }
        }
        binds
    }
}

fn outcome_is_unrated(fields: &Map<String, Value>) -> bool {
    fields.get("outcome").and_then(Value::as_str) == Some("Completed")
        && fields.get("rating").is_none_or(Value::is_null)
}

/// What the event tells and the claim does not state.
fn told(kind: &Kind, rule: &EventRule, log: &StoredLog, fields: &Map<String, Value>) -> Vec<(&'static str, Value)> {
    let mut told = Vec::new();
    for fact in rule.facts.iter().filter(|fact| !fact.counts_as_zero()) {
        let Some(member) = fact.member().filter(|member| !fields.contains_key(*member)) else { continue };
        let form = kind.fields.iter().find(|field| field.name == member).map(|field| field.form);
        let value = form.zip(log.args.get(fact.argument)).and_then(|(form, argument)| form.of_argument(argument));
        told.extend(value.map(|value| (member, value)));
    }
    if let Some(time) = rule.time.filter(|time| !fields.contains_key(*time)) {
        told.push((time, log.time_s.into()));
    }
    told
}

/// Whether each member that some event of the kind tells was compared with one. What is null, or an empty text, states nothing.
fn is_covered(kind: &Kind, fields: &Map<String, Value>, proofs: &[Proof<'_>]) -> bool {
    let states = |value: &Value| !value.is_null() && value != "";
    let is_compared = |member: &str| proofs.iter().any(|(rule, _)| rule.tells(member));
    let is_tellable = |member: &str| kind.events.iter().any(|rule| rule.tells(member));
    fields.iter().filter(|(_, value)| states(value)).all(|(member, _)| is_compared(member) || !is_tellable(member))
}
