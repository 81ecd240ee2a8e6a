//! Logs of the chain as the plugin `audit` stores them, and the evidence that one is.

use super::vocabulary::{EventRule, Fact, KINDS};
use plugin_api::{Address, AgentId, Hash256, json_text};
use serde::{
    Deserialize, Deserializer,
    de::{IgnoredAny, MapAccess, Visitor},
};
use serde_json::{Value, json};
use std::{
    borrow::Cow,
    collections::HashSet,
    fmt::{self, Write as _},
    sync::LazyLock,
};

/// A row of `chain_logs_v1`.
#[derive(Clone, Debug, Deserialize)]
pub struct StoredLog {
    pub block: i64,
    pub time_s: i64,
    pub tx: Hash256,
    pub log_index: i64,
    pub contract: String,
    pub address: Address,
    pub event: String,
    pub topic0: Hash256,
    #[serde(deserialize_with = "json_text")]
    pub args: Arguments,
    /// Its arguments were not read.
    pub is_too_large: bool,
}

/// The arguments of a log that some rule compares, by their names. The others are not kept.
#[derive(Clone, Debug, Default)]
pub struct Arguments(Vec<(&'static str, Value)>);

impl Arguments {
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(argument, _)| *argument == name).map(|(_, value)| value)
    }
}

impl<'de> Deserialize<'de> for Arguments {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct ArgumentsVisitor;
        impl<'de> Visitor<'de> for ArgumentsVisitor {
            type Value = Arguments;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Arguments, A::Error> {
                let mut arguments = Vec::with_capacity(8);
                while let Some(Name(name)) = members.next_key()? {
                    match COMPARED.get(&*name) {
                        Some(name) => arguments.push((*name, members.next_value()?)),
                        None => drop(members.next_value::<IgnoredAny>()?),
                    }
                }
                Ok(Arguments(arguments))
            }
        }
        deserializer.deserialize_map(ArgumentsVisitor)
    }
}

/// The name of an argument.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The arguments that some rule compares.
static COMPARED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
    let rules = KINDS.iter().flat_map(|kind| kind.events);
    rules.flat_map(|rule| rule.facts).map(|fact| fact.argument).collect()
});

/// Whom the claims are about.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub agent_id: AgentId,
    pub owner: Address,
}

impl Subject {
    /// What a reference to the subject stands for.
    fn resolve(&self, reference: &str) -> Value {
        match reference {
            "subject.agentId" => json!(self.agent_id),
            "subject.address" => json!(self.owner),
            _ => Value::Null,
        }
    }
}

impl StoredLog {
    /// Whether it is an event of this rule, of the contract that is configured.
    pub fn is_of(&self, rule: &EventRule, configured: Option<Address>) -> bool {
        self.contract.eq_ignore_ascii_case(rule.contract)
            && self.event == rule.name()
            && Some(self.address) == configured
            && self.topic0 == rule.topic0()
    }

    /// Whether the event says what the claim states. `stated` are the members of the claim.
    pub fn proves<'f>(&self, rule: &EventRule, subject: &Subject, stated: impl Fn(&str) -> Option<&'f Value>) -> bool {
        let holds = |fact: &Fact| {
            let Some(logged) = self.args.get(fact.argument) else { return false };
            match fact.member() {
                None => same(logged, &subject.resolve(fact.reference)),
                Some(member) => match stated(member) {
                    None | Some(Value::Null) if fact.counts_as_zero() => same(logged, &json!(0)),
                    stated => same(logged, stated.unwrap_or(&Value::Null)),
                },
            }
        };
        rule.facts.iter().all(holds)
            && rule.time.is_none_or(|time| stated(time).and_then(Value::as_i64) == Some(self.time_s))
    }

    /// The evidence of the log: what verifiers look up, as canonical JSON. `binds` tell them what to compare, for the deciding event.
    pub fn evidence(&self, rule: &EventRule, chain_id: u64, binds: &[Bind]) -> String {
        let Self { block, time_s, tx, log_index, address, topic0, .. } = self;
        let EventRule { contract, event, .. } = rule;
        let mut text = String::with_capacity(EVIDENCE_BYTES + binds.len() * BIND_BYTES);
        // None of these texts has a character that JSON escapes. Writing to a text does not fail.
        let _ = write!(text, "{{\"address\":\"{address}\",");
        if !binds.is_empty() {
            for (place, bind) in binds.iter().enumerate() {
                text.push_str(if place == 0 { "\"bind\":[" } else { "," });
                bind.write(&mut text);
            }
            text.push_str("],");
        }
        let _ = write!(
            text,
            "\"block\":{block},\"blockLogIndex\":{log_index},\"chainId\":{chain_id},\"contract\":\"{contract}\",\"event\":\"{event}\",\
             \"method\":\"eth_getTransactionReceipt\",\"proven\":true,\"provenance\":\"chain\",\"topic0\":\"{topic0}\",\
             \"trust\":\"chain\",\"ts\":{time_s},\"tx\":\"{tx}\"}}"
        );
        text
    }
}

/// More than most need, so that they are written without being moved.
const EVIDENCE_BYTES: usize = 640;
const BIND_BYTES: usize = 192;

/// What a verifier compares with the claim.
#[derive(Clone, Copy, Debug)]
pub enum Bind {
    /// An argument of the decoded log.
    Log { argument: &'static str, equals: &'static str },
    /// A field of what the escrow answers about the job.
    Job { escrow: Address, field: &'static str, equals: &'static str },
}

impl Bind {
    fn write(&self, out: &mut String) {
        // Writing to a text does not fail.
        let _ = match self {
            Self::Log { argument, equals } => write!(out, "{{\"equals\":\"{equals}\",\"log\":\"{argument}\"}}"),
            Self::Job { escrow, field, equals } => write!(
                out,
                "{{\"call\":{{\"address\":\"{escrow}\",\"args\":[\"claim.jobId\"],\"field\":\"{field}\",\"fn\":\"getJob(uint256)\"}},\
                 \"equals\":\"{equals}\"}}"
            ),
        };
    }
}

/// What a verifier compares with the decoded log.
pub fn binds(rule: &EventRule) -> Vec<Bind> {
    let bound = rule.facts.iter().filter(|fact| fact.is_bound);
    bound.map(|fact| Bind::Log { argument: fact.argument, equals: fact.reference }).collect()
}

/// Whether a decoded argument is the stated value: numbers and decimal texts by their digits, addresses and hashes in any case. The
/// zero hash is 0, as an absent one is.
pub fn same(logged: &Value, stated: &Value) -> bool {
    match (digits(logged), digits(stated)) {
        (Some(logged), Some(stated)) => logged == stated,
        _ => match (logged, stated) {
            (Value::String(logged), Value::String(stated)) => {
                logged == stated || is_hex(logged) && is_hex(stated) && logged.eq_ignore_ascii_case(stated)
            }
            (Value::String(logged), Value::Number(zero)) if zero.as_i64() == Some(0) => {
                is_hex(logged) && logged.bytes().skip(2).all(|digit| digit == b'0')
            }
            (logged, stated) => logged == stated,
        },
    }
}

/// Addresses and hashes: no text that someone chose has one of these lengths by chance and another case.
fn is_hex(text: &str) -> bool {
    let is_length = text.len() == 42 || text.len() == 66;
    is_length && text.strip_prefix("0x").is_some_and(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

fn digits(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::Number(number) => Some(number.to_string().into()),
        Value::String(text) => {
            let bare = text.strip_prefix('-').unwrap_or(text);
            let is_number = !bare.is_empty() && bare.len() <= 78 && bare.bytes().all(|digit| digit.is_ascii_digit());
            is_number.then(|| text.as_str().into())
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn the_evidence_of_a_log_is_canonical() {
        let rule = super::super::vocabulary::Kind::find("EscrowJob").unwrap().events.first().unwrap();
        let log = StoredLog {
            block: 5,
            time_s: 7,
            tx: Hash256([1; 32]),
            log_index: 3,
            contract: rule.contract.to_owned(),
            address: Address([0x5a; 20]),
            event: rule.name().to_owned(),
            topic0: rule.topic0(),
            args: Arguments::default(),
            is_too_large: false,
        };
        let job = Bind::Job { escrow: log.address, field: "agentId", equals: "subject.agentId" };
        let told = Bind::Log { argument: "jobId", equals: "claim.jobId" };
        let mut expected = json!({
            "trust": "chain", "provenance": "chain", "proven": true, "chainId": 3961, "address": log.address,
            "contract": rule.contract, "block": 5, "ts": 7, "tx": log.tx, "blockLogIndex": 3, "event": rule.event,
            "topic0": rule.topic0(), "method": "eth_getTransactionReceipt",
        });
        let canonical = |value: &Value| serde_json_canonicalizer::to_string(value).unwrap();
        assert_eq!(log.evidence(rule, 3961, &[]), canonical(&expected));
        expected["bind"] = json!([
            { "log": "jobId", "equals": "claim.jobId" },
            {
                "call": { "address": log.address, "fn": "getJob(uint256)", "args": ["claim.jobId"], "field": "agentId" },
                "equals": "subject.agentId",
            },
        ]);
        assert_eq!(log.evidence(rule, 3961, &[told, job]), canonical(&expected));
    }

    #[test]
    fn arguments_that_no_rule_compares_are_not_kept() {
        let text = r#"{"jobId":"7","inputURI":"ipfs://x","amount":"5","agentPayout":1}"#;
        let arguments: Arguments = serde_json::from_str(text).unwrap();
        assert_eq!(arguments.0, [("jobId", json!("7")), ("amount", json!("5")), ("agentPayout", json!(1))]);
        assert_eq!(arguments.get("amount"), Some(&json!("5")));
        assert_eq!(arguments.get("inputURI"), None);
    }

    #[test]
    fn values_are_compared_by_what_they_mean() {
        let zero_hash = format!("0x{}", "0".repeat(64));
        for (logged, stated) in [
            (json!("7"), json!(7)),
            (json!(7), json!("7")),
            (json!("-5"), json!("-5")),
            (json!("0x5AAEB6053F3E94C9B9A09F33669435E7EF1BEAED"), json!("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed")),
            (json!(zero_hash), json!(0)),
            (json!(true), json!(true)),
            (json!("Ab"), json!("Ab")),
        ] {
            assert!(same(&logged, &stated), "{logged} {stated}");
        }
        for (logged, stated) in [
            (json!("7"), json!("07")),
            (json!("7"), json!(8)),
            (json!("Ab"), json!("aB")),
            (json!("x"), json!(null)),
            (json!(""), json!(0)),
            (json!(""), json!(null)),
            (json!(1), json!(true)),
        ] {
            assert!(!same(&logged, &stated), "{logged} {stated}");
        }
    }
}
