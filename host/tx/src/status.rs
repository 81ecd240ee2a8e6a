//! What `/api/status` says of keys and transactions. The rule: a key is well when what it signs comes into blocks.

use super::{Facts, Journal};
use gateway_chain::Chain;
use gateway_signers::{KeySource, Signers};
use plugin_api::point::ServiceStatus;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// Something that waits longer than this, in seconds, is stuck.
const AGE_MAX_S: i64 = 120;

impl Journal {
    /// The service `tx` when a chain is configured, and `signers`.
    pub fn services(&self) -> BTreeMap<String, ServiceStatus> {
        let mut services = BTreeMap::from([("signers".to_owned(), signers(&self.signers))]);
        let mut lanes = Vec::new();
        let mut stuck = Vec::new();
        for chain in self.chains.iter() {
            for lane in self.lanes_of(chain) {
                stuck.extend(self.trouble(&lane.facts).map(|trouble| format!("{}: {trouble}", lane.roles.join(", "))));
                lanes.push(self.numbers(chain, &lane));
            }
        }
        if self.chains.iter().next().is_some() {
            let numbers = Map::from_iter([("lanes".to_owned(), Value::from(lanes))]);
            let detail = (!stuck.is_empty()).then(|| stuck.join("; "));
            services.insert("tx".to_owned(), ServiceStatus { ok: stuck.is_empty(), enabled: None, detail, numbers });
        }
        services
    }

    fn lanes_of(&self, chain: &Chain) -> Vec<LaneFacts> {
        let mut lanes: Vec<LaneFacts> = Vec::new();
        for (role, key) in self.signers.ready() {
            match lanes.iter_mut().find(|lane| lane.sender == key.address()) {
                Some(lane) => lane.roles.push(role.to_owned()),
                None => lanes.push(LaneFacts {
                    sender: key.address(),
                    roles: vec![role.to_owned()],
                    facts: self.facts(chain.chain_id, key.address()).unwrap_or_default(),
                }),
            }
        }
        lanes
    }

    fn age_s(&self, facts: &Facts) -> Option<i64> {
        facts.oldest_ms.map(|oldest_ms| (self.clock.now_ms() - oldest_ms).max(0) / 1000)
    }

    fn trouble(&self, facts: &Facts) -> Option<String> {
        let age_s = self.age_s(facts)?;
        match &facts.reason {
            Some(reason) => Some(reason.clone()),
            None => (age_s > AGE_MAX_S).then(|| format!("the oldest transaction waits since {age_s} s")),
        }
    }

    fn numbers(&self, chain: &Chain, lane: &LaneFacts) -> Value {
        let facts = &lane.facts;
        json!({
            "chain": chain.name,
            "address": lane.sender.to_checksum(None),
            "roles": lane.roles,
            "balanceWei": facts.balance.map(|wei| wei.to_string()),
            "queued": facts.queued,
            "pending": facts.pending,
            "oldestAgeS": self.age_s(facts),
            "reason": facts.reason,
        })
    }
}

struct LaneFacts {
    sender: alloy_primitives::Address,
    roles: Vec<String>,
    facts: Facts,
}

/// A key that is configured and cannot be used is a fault; one that is not configured is a choice.
fn signers(signers: &Signers) -> ServiceStatus {
    let faults = signers.faults();
    let detail = (!faults.is_empty()).then(|| faults.join("; "));
    let role = |(role, key): (&str, &std::sync::Arc<gateway_signers::Key>)| {
        let source = match signers.source(role) {
            Some(KeySource::Environment) => "environment",
            Some(KeySource::Keystore(_)) => "keystore",
            Some(KeySource::Generated { .. }) => "created here",
            None => "",
        };
        (role.to_owned(), json!({ "address": key.address().to_checksum(None), "source": source }))
    };
    ServiceStatus { ok: faults.is_empty(), enabled: None, detail, numbers: signers.ready().map(role).collect() }
}
