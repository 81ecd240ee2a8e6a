//! An event of a contract: its signature, and what its arguments say about agents and addresses.

use super::contracts::{ESCROW, REGISTRY};
use plugin_api::{Address, Hash256};
use serde_json::{Map, Value, value::RawValue};

/// An event that is stored.
pub struct WatchedEvent {
    pub contract: &'static str,
    pub name: String,
    /// For example `JobCompleted(uint256,uint256,uint256,uint8)`.
    pub signature: String,
    pub topic0: Hash256,
    /// Arguments of the type address.
    addresses: Vec<&'static str>,
    /// The argument that names the agent; without one, perhaps that of a job.
    agent: Option<&'static str>,
    by_agent: Option<&'static str>,
    job: Option<&'static str>,
}

/// What a log names.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct LogMentions {
    pub agent: Option<i64>,
    pub by_agent: Option<i64>,
    pub job: Option<i64>,
    /// Lower case, each once.
    pub addresses: Vec<String>,
}

impl WatchedEvent {
    /// `declaration` is the event with the names of its arguments.
    pub fn new(contract: &'static str, declaration: &'static str) -> Self {
        let (name, arguments) = declaration.trim_end_matches(')').split_once('(').unwrap_or((declaration, ""));
        let arguments: Vec<(&str, &str)> = arguments.split(',').filter_map(argument).collect();
        let types: Vec<&str> = arguments.iter().map(|(kind, _)| *kind).collect();
        let signature = format!("{name}({})", types.join(","));
        let named = |wanted: &str| arguments.iter().map(|(_, name)| *name).find(|name| *name == wanted);
        // `id` is an agent's in the registry alone: it is that of a stream or an endorsement elsewhere.
        let own = if contract == REGISTRY { named("id") } else { None };
        Self {
            contract,
            name: name.to_owned(),
            topic0: Hash256::keccak(signature.as_bytes()),
            signature,
            addresses: arguments.iter().filter(|(kind, _)| *kind == "address").map(|(_, name)| *name).collect(),
            agent: own.or_else(|| ["agentId", "toAgentId", "tokenId"].into_iter().find_map(named)),
            by_agent: named("fromAgentId"),
            job: named("jobId"),
        }
    }

    pub fn is_of_registry_or_escrow(&self) -> bool {
        [REGISTRY, ESCROW].contains(&self.contract)
    }

    /// Whether it says which agent a job is for.
    pub fn is_job_request(&self) -> bool {
        self.contract == ESCROW && self.agent.is_some() && self.job.is_some()
    }

    pub fn facts(&self, args: &RawValue) -> LogMentions {
        // The gateway makes an object of the arguments; anything else would name nothing.
        let args: Map<String, Value> = serde_json::from_str(args.get()).unwrap_or_default();
        let id = |argument: Option<&'static str>| args.get(argument?).and_then(integer);
        let address = |name: &&str| args.get(*name)?.as_str()?.parse::<Address>().ok();
        let mut addresses: Vec<String> = self.addresses.iter().filter_map(address).map(lower_case).collect();
        addresses.sort_unstable();
        addresses.dedup();
        LogMentions { agent: id(self.agent), by_agent: id(self.by_agent), job: id(self.job), addresses }
    }
}

/// Type and name of an argument such as `uint256 indexed id`.
fn argument(text: &'static str) -> Option<(&'static str, &'static str)> {
    let mut words = text.split_whitespace();
    let kind = words.next()?;
    Some((kind, words.next_back().unwrap_or_default()))
}

/// An id. One that has more than 63 bits belongs to no agent and no job.
fn integer(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.parse().ok())
}

/// As addresses are stored that logs are looked up by.
pub fn lower_case(address: Address) -> String {
    address.to_string().to_ascii_lowercase()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::EVENTS;
    use serde_json::{json, value::to_raw_value};
    use std::collections::BTreeSet;

    fn event(contract: &str, name: &str) -> WatchedEvent {
        let is_it = |(of, text): &(&str, &str)| *of == contract && text.split('(').next() == Some(name);
        let (contract, declaration) = EVENTS.into_iter().find(is_it).unwrap();
        WatchedEvent::new(contract, declaration)
    }

    fn facts(contract: &str, name: &str, args: &Value) -> LogMentions {
        event(contract, name).facts(&to_raw_value(args).unwrap())
    }

    /// The first topics of the network's interfaces, one event a line: topic, contract, event.
    #[test]
    fn the_hash_of_each_signature_is_the_topic_of_the_contract() {
        let interfaces: BTreeSet<String> = include_str!("topics.txt").lines().map(str::to_owned).collect();
        let line = |(contract, declaration): (&'static str, &'static str)| {
            format!("{} {contract} {declaration}", WatchedEvent::new(contract, declaration).topic0)
        };
        assert_eq!(EVENTS.into_iter().map(line).collect::<BTreeSet<_>>(), interfaces);
    }

    #[test]
    fn a_signature_has_types_alone() {
        assert_eq!(event("escrow", "JobCompleted").signature, "JobCompleted(uint256,uint256,uint256,uint8)");
        assert_eq!(event("identity8004", "MetadataSet").signature, "MetadataSet(uint256,string,string,bytes)");
        assert_eq!(WatchedEvent::new("x", "Nothing()").signature, "Nothing()");
    }

    #[test]
    fn each_contract_names_agents_in_its_own_way() {
        let id = |contract, name, args: &Value| facts(contract, name, args).agent;
        assert_eq!(id("registry", "BondChanged", &json!({ "id": "7", "bond": "1" })), Some(7));
        assert_eq!(id("streamPay", "StreamClaimed", &json!({ "id": "7" })), None);
        assert_eq!(id("identity8004", "Transfer", &json!({ "tokenId": "7" })), Some(7));
        assert_eq!(id("memoryAnchor", "AnchorerSet", &json!({ "agentId": 7 })), Some(7));
        let endorsed = facts("endorsements", "Endorsed", &json!({ "id": "1", "fromAgentId": "2", "toAgentId": "3" }));
        assert_eq!((endorsed.by_agent, endorsed.agent), (Some(2), Some(3)));
        let requested = facts("escrow", "JobRequested", &json!({ "jobId": "1", "agentId": "2" }));
        assert_eq!((requested.job, requested.agent), (Some(1), Some(2)));
        assert!(event("escrow", "JobRequested").is_job_request());
        assert!(!event("escrow", "JobDisputed").is_job_request());
        assert!(!event("reputation8004", "EscrowSynced").is_job_request());
        assert_eq!(id("registry", "BondChanged", &json!({ "id": "9223372036854775808" })), None, "it is no agent");
    }

    #[test]
    fn addresses_are_those_of_the_type_and_texts_are_none() {
        let (a, b) = (format!("0x{}", "Ab".repeat(20)), format!("0x{}", "12".repeat(20)));
        let slashed = facts("registry", "AgentSlashed", &json!({ "id": "1", "to": b, "reason": a }));
        assert_eq!(slashed.addresses, std::slice::from_ref(&b));
        let twice = facts("x402Vault", "Settled", &json!({ "payer": a, "payee": a, "ref": "0x" }));
        assert_eq!(twice.addresses, [a.to_lowercase()]);
    }
}
