//! What `/api/status` reports of keys and transactions. The rule: `tx` is ok while signed transactions get into blocks.

use super::journal::{AccountStatus, Journal};
use alloy_primitives::Address;
use gateway_chain::Chain;
use gateway_signers::{Key, KeySource, Signers};
use plugin_api::point::ServiceStatus;
use serde_json::{Map, Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// An intent that waits longer than this is reported.
const WAIT_MAX_S: i64 = 120;

struct QueueStatus {
    sender: Address,
    roles: Vec<String>,
    account: AccountStatus,
}

impl Journal {
    /// The service `tx` when a chain is configured, and `signers`.
    pub fn services(&self) -> BTreeMap<String, ServiceStatus> {
        let mut services = BTreeMap::from([("signers".to_owned(), signers(&self.signers))]);
        let mut queues = Vec::new();
        let mut problems = Vec::new();
        for chain in self.chains.iter() {
            for queue in self.queues_of(chain) {
                let problem = self.problem(&queue.account);
                problems.extend(problem.map(|problem| format!("{}: {problem}", queue.roles.join(", "))));
                queues.push(self.queue_json(chain, &queue));
            }
        }
        if self.chains.iter().next().is_some() {
            let numbers = Map::from_iter([("lanes".to_owned(), Value::from(queues))]);
            let detail = (!problems.is_empty()).then(|| problems.join("; "));
            services.insert("tx".to_owned(), ServiceStatus { ok: problems.is_empty(), enabled: None, detail, numbers });
        }
        services
    }

    fn queues_of(&self, chain: &Chain) -> Vec<QueueStatus> {
        let mut queues: Vec<QueueStatus> = Vec::new();
        for (role, key) in self.signers.ready() {
            match queues.iter_mut().find(|queue| queue.sender == key.address()) {
                Some(queue) => queue.roles.push(role.to_owned()),
                None => queues.push(QueueStatus {
                    sender: key.address(),
                    roles: vec![role.to_owned()],
                    account: self.account_status(chain.chain_id, key.address()).unwrap_or_default(),
                }),
            }
        }
        queues
    }

    fn age_s(&self, account: &AccountStatus) -> Option<i64> {
        account.oldest_ms.map(|oldest_ms| (self.clock.now_ms() - oldest_ms).max(0) / 1000)
    }

    fn problem(&self, account: &AccountStatus) -> Option<String> {
        let age_s = self.age_s(account)?;
        match &account.blocked_reason {
            Some(reason) => Some(reason.clone()),
            None => (age_s > WAIT_MAX_S).then(|| format!("the oldest transaction waits since {age_s} s")),
        }
    }

    fn queue_json(&self, chain: &Chain, queue: &QueueStatus) -> Value {
        let account = &queue.account;
        json!({
            "chain": chain.name,
            "address": queue.sender.to_checksum(None),
            "roles": queue.roles,
            "balanceWei": account.balance.map(|wei| wei.to_string()),
            "queued": account.queued,
            "pending": account.pending,
            "oldestAgeS": self.age_s(account),
            "reason": account.blocked_reason,
        })
    }
}

/// A key that is configured but unusable is a fault; a key that is not configured is the operator's choice.
fn signers(signers: &Signers) -> ServiceStatus {
    let faults = signers.faults();
    let detail = (!faults.is_empty()).then(|| faults.join("; "));
    let role_json = |(role, key): (&str, &Arc<Key>)| {
        let source = match signers.source(role) {
            Some(KeySource::Environment) => "environment",
            Some(KeySource::Keystore(_)) => "keystore",
            Some(KeySource::Generated { .. }) => "created here",
            None => "",
        };
        (role.to_owned(), json!({ "address": key.address().to_checksum(None), "source": source }))
    };
    ServiceStatus { ok: faults.is_empty(), enabled: None, detail, numbers: signers.ready().map(role_json).collect() }
}
