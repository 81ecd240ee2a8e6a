//! The vocabulary of claims: the kinds, their members, and which events prove them.
//!
//! The rule: what an event must say for a claim to hold stands here, as data, and nowhere else: the check of contributions and the
//! evidence that a verifier follows are the same table.

pub use super::kinds::KINDS;

use plugin_api::Hash256;
use std::{
    collections::{BTreeMap, HashMap},
    sync::LazyLock,
};

/// What a member of a claim holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    Int,
    /// A number that may have a fraction.
    Number,
    /// A decimal text.
    Wei,
    Text,
    Address,
    Hash,
    Bool,
    Texts,
}

/// A member of a claim.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    pub name: &'static str,
    pub form: Form,
    pub nullable: bool,
}

pub const fn must(name: &'static str, form: Form) -> Field {
    Field { name, form, nullable: false }
}

pub const fn may(name: &'static str, form: Form) -> Field {
    Field { name, form, nullable: true }
}

/// What an argument of an event must equal. A reference is `subject.agentId`, `subject.address` or `claim.<member>`; with the suffix
/// `|0` an absent member counts as 0.
#[derive(Clone, Copy, Debug)]
pub struct Fact {
    pub argument: &'static str,
    pub reference: &'static str,
    /// Whether the claim's evidence tells verifiers to compare it.
    pub is_bound: bool,
}

const ZERO: &str = "|0";

impl Fact {
    /// The member of the claim that the argument must equal; `None` of the subject.
    pub fn member(&self) -> Option<&'static str> {
        self.reference.strip_prefix("claim.").map(|name| name.strip_suffix(ZERO).unwrap_or(name))
    }

    /// Whether an absent member counts as 0.
    pub fn counts_as_zero(&self) -> bool {
        self.reference.ends_with(ZERO)
    }
}

pub const fn bind(argument: &'static str, reference: &'static str) -> Fact {
    Fact { argument, reference, is_bound: true }
}

pub const fn check(argument: &'static str, reference: &'static str) -> Fact {
    Fact { argument, reference, is_bound: false }
}

/// An event that proves a claim of a kind.
#[derive(Clone, Copy, Debug)]
pub struct EventRule {
    /// Key in the configuration, and what the evidence calls the contract.
    pub contract: &'static str,
    /// Its canonical text.
    pub event: &'static str,
    pub facts: &'static [Fact],
    /// The member that is the time of the event's block.
    pub time: Option<&'static str>,
    /// The outcomes of an `EscrowJob` that it proves.
    pub outcomes: &'static [&'static str],
    /// Whether it may be the deciding event. Others are evidence beside it.
    pub decides: bool,
}

impl EventRule {
    pub fn name(&self) -> &'static str {
        self.event.split('(').next().unwrap_or_default()
    }

    /// The hash of its text, which the logs of the event name.
    pub fn topic0(&self) -> Hash256 {
        static TOPICS: LazyLock<HashMap<&str, Hash256>> = LazyLock::new(|| {
            let events = KINDS.iter().flat_map(|kind| kind.events);
            events.map(|rule| (rule.event, Hash256::keccak(rule.event.as_bytes()))).collect()
        });
        TOPICS.get(self.event).copied().unwrap_or_else(|| Hash256::keccak(self.event.as_bytes()))
    }

    /// Whether it tells the member of a claim.
    pub fn tells(&self, member: &str) -> bool {
        let is_it = |fact: &Fact| fact.member() == Some(member);
        self.time == Some(member) || self.facts.iter().any(is_it)
    }
}

pub const fn event(contract: &'static str, event: &'static str, facts: &'static [Fact]) -> EventRule {
    EventRule { contract, event, facts, time: None, outcomes: &[], decides: true }
}

/// A kind of claims.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    /// The plugin of this gateway that states them.
    pub plugin: &'static str,
    pub fields: &'static [Field],
    pub events: &'static [EventRule],
    /// Trust and provenance of a claim without an event; `None` where an event is needed.
    pub asserted: Option<(&'static str, &'static str)>,
    /// Constant members.
    pub notes: &'static [(&'static str, &'static str)],
}

/// A kind without members and events.
pub const fn kind(name: &'static str, plugin: &'static str) -> Kind {
    Kind { name, plugin, fields: &[], events: &[], asserted: None, notes: &[] }
}

impl Kind {
    pub fn find(name: &str) -> Option<&'static Self> {
        KINDS.iter().find(|kind| kind.name == name)
    }

    /// Whether some event of the kind tells the member. Others are what its plugin derives.
    pub fn is_told(&self, member: &str) -> bool {
        let decides = |rule: &EventRule| member == "outcome" && !rule.outcomes.is_empty();
        self.events.iter().any(|rule| decides(rule) || rule.tells(member))
    }

    /// Whether a plugin of a third party may be allowed to state it: events tell every member that it needs, or it needs no event.
    /// Of the activity that such a plugin publishes, this plugin counts the events.
    pub fn is_for_third_parties(&self) -> bool {
        let is_told = self.fields.iter().all(|field| field.nullable || self.is_told(field.name));
        let is_asserted = self.events.is_empty() && self.asserted.is_some();
        is_asserted || is_told && !self.events.is_empty() && self.plugin != "aicv"
    }

    /// Whether the plugin owns the facts, or the operator lets it state them. `granted` are kinds by plugin.
    pub fn is_granted_to(&self, plugin: &str, granted: &BTreeMap<String, Vec<String>>) -> bool {
        let by_operator = granted.get(plugin).is_some_and(|kinds| kinds.iter().any(|name| name == self.name));
        self.plugin == plugin || by_operator && self.plugin != "aicv"
    }

    pub fn rule(&self, contract: &str, name: &str) -> Option<&'static EventRule> {
        self.events.iter().find(|rule| rule.contract == contract && rule.name() == name)
    }
}

/// The kind that nobody emits: the registry's slashes are in the audit.
pub const SLASH: &str = "Slash";
pub const AGENT_STATE: &str = "AgentState";
pub const CONTRIBUTION: &str = "Contribution";
pub const ESCROW_JOB: &str = "EscrowJob";
pub const DISPUTE: &str = "Dispute";
pub const RELIABILITY: &str = "Reliability";
pub const REGISTRATION: &str = "Registration";
pub const FEEDBACK: &str = "Feedback";

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn eighteen_kinds_are_emitted_and_none_is_a_slash() {
        let names: std::collections::BTreeSet<_> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!((KINDS.len(), names.len()), (18, 18));
        assert!(!names.contains(SLASH));
    }

    #[test]
    fn facts_are_about_the_subject_or_a_member() {
        for kind in KINDS {
            for fact in kind.events.iter().flat_map(|event| event.facts) {
                let member = fact.reference.strip_prefix("claim.").map(|name| name.trim_end_matches("|0"));
                let is_known = match member {
                    Some(member) => kind.fields.iter().any(|field| field.name == member),
                    None => ["subject.agentId", "subject.address"].contains(&fact.reference),
                };
                assert!(is_known, "{}: {}", kind.name, fact.reference);
            }
        }
    }

    /// Topics of the deployed contracts.
    #[test]
    fn events_have_the_topics_of_the_contracts() {
        for (kind, event, topic) in [
            ("Registration", "AgentRegistered", "0x48a540e48c39d376aef6fe5e4f4ac018e6c8abad0344423e865bd5ae57c70881"),
            ("EscrowJob", "JobRequested", "0x534840d34329e0635b5a80e96928a8ce2cd4737cbec79628aa62c427ba75b57a"),
            ("EscrowJob", "JobDelivered", "0xef704faeb1c0990923ca5e91e089af2aa02a4c9786c9674ee66d69f57a81d574"),
            ("EscrowJob", "JobCompleted", "0x409e623705dee0641bf74514f4c1a9b52e165465e8df6efba003ba4b3d2752c5"),
            ("EscrowJob", "JobRefunded", "0xab84ab26b51c14cff2d4eed512dc1c2c3a3d6cf783f32972471753d6dbb57ea5"),
            ("EscrowJob", "JobResolved", "0x04aa200931cc7bca1d31c59a9eca7546d515712b43d64a081c5b18e8cf7b8486"),
            ("Stream", "StreamOpened", "0xdfd0cebd80487c29cb0bd88b91bad5c9a90ef164055c8609fe931685f8cbc899"),
            ("SubscriptionPlan", "PlanCreated", "0xd8154e7938101b59ce86caacb7ec16bb528e0d067cd63d2f35d7de9d3249bb2d"),
            ("MemoryAnchor", "MemoryAnchored", "0x33d395309dc88fe7cda10931e086ac109fa2a65575828adcd286afad7bada0fd"),
            ("Endorsement", "Endorsed", "0x40e5094d040791d20a2c1651552beda9e9f396f3c1fd5d082fda546880b901fe"),
        ] {
            let events = Kind::find(kind).unwrap().events;
            let rule = events.iter().find(|rule| rule.name() == event).unwrap();
            assert_eq!(rule.topic0().to_string(), topic, "{event}");
        }
    }
}
