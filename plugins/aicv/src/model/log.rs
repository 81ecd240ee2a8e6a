//! Logs of the chain as the plugin `audit` stores them, and the evidence that one is.

use super::vocabulary::{EventRule, Fact};
use plugin_api::{Address, AgentId, Hash256, json_text};
use serde::Deserialize;
use serde_json::{Map, Value, json};

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
    pub args: Map<String, Value>,
    /// Its arguments were not read.
    pub is_too_large: bool,
}

/// Whom the claims are about.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    pub agent_id: AgentId,
    pub owner: Address,
}

impl StoredLog {
    /// Whether it is an event of this rule, of the contract that is configured.
    pub fn is_of(&self, rule: &EventRule, configured: Option<Address>) -> bool {
        self.contract.eq_ignore_ascii_case(rule.contract)
            && self.event == rule.name()
            && Some(self.address) == configured
            && self.topic0 == Hash256::keccak(rule.event.as_bytes())
    }

    /// Whether the event says what the claim states.
    pub fn proves(&self, rule: &EventRule, subject: Subject, fields: &Map<String, Value>) -> bool {
        let holds = |fact: &Fact| {
            let stated = resolve(fact.reference, subject, fields);
            let stated = match (stated, fact.reference.ends_with("|0")) {
                (Value::Null, true) => json!(0),
                (stated, _) => stated,
            };
            self.args.get(fact.argument).is_some_and(|logged| same(logged, &stated))
        };
        rule.facts.iter().all(holds) && rule.time.is_none_or(|time| fields.get(time) == Some(&json!(self.time_s)))
    }

    /// The evidence of the log: what verifiers look up. `binds` tells them what to compare, for the deciding event.
    pub fn evidence(&self, rule: &EventRule, chain_id: u64, binds: Option<Vec<Value>>) -> Map<String, Value> {
        let mut evidence = Map::new();
        let mut set = |name: &str, value: Value| evidence.insert(name.to_owned(), value);
        set("trust", "chain".into());
        set("provenance", "chain".into());
        set("proven", true.into());
        set("chainId", chain_id.into());
        set("address", json!(self.address));
        set("contract", rule.contract.into());
        set("block", self.block.into());
        set("ts", self.time_s.into());
        set("tx", json!(self.tx));
        set("blockLogIndex", self.log_index.into());
        set("event", rule.event.into());
        set("topic0", json!(self.topic0));
        set("method", "eth_getTransactionReceipt".into());
        if let Some(binds) = binds {
            set("bind", binds.into());
        }
        evidence
    }
}

/// What a verifier compares with the decoded log.
pub fn binds(rule: &EventRule) -> Vec<Value> {
    let bound = rule.facts.iter().filter(|fact| fact.is_bound);
    bound.map(|fact| json!({ "log": fact.argument, "equals": fact.reference })).collect()
}

/// What a verifier compares with a call of the escrow.
pub fn job_bind(escrow: Address, field: &str, reference: &str) -> Value {
    json!({
        "call": { "address": escrow, "fn": "getJob(uint256)", "args": ["claim.jobId"], "field": field },
        "equals": reference,
    })
}

/// What a reference stands for.
pub fn resolve(reference: &str, subject: Subject, fields: &Map<String, Value>) -> Value {
    match reference {
        "subject.agentId" => json!(subject.agent_id),
        "subject.address" => json!(subject.owner),
        other => {
            let member = other.trim_start_matches("claim.").trim_end_matches("|0");
            fields.get(member).cloned().unwrap_or_default()
        }
    }
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

fn digits(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => Some(number.to_string()),
        Value::String(text) => {
            let bare = text.strip_prefix('-').unwrap_or(text);
            let is_number = !bare.is_empty() && bare.len() <= 78 && bare.bytes().all(|digit| digit.is_ascii_digit());
            is_number.then(|| text.clone())
        }
        _ => None,
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

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
