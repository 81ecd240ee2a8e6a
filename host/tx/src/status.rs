//! What `/api/status` reports of keys and transactions. The rule: `tx` is ok while signed transactions get into blocks.

use super::{journal::Journal, report::AccountReport};
use gateway_signers::{Key, KeySource, Signers};
use plugin_api::point::ServiceStatus;
use serde_json::{Map, json};
use std::{collections::BTreeMap, sync::Arc};

/// An intent that waits longer than this is reported.
const WAIT_MAX_S: i64 = 120;

impl Journal {
    /// The service `tx` when a chain is configured, and `signers`.
    pub fn services(&self) -> BTreeMap<String, ServiceStatus> {
        let mut services = BTreeMap::from([("signers".to_owned(), signers(&self.signers))]);
        if self.chains.iter().next().is_some() {
            let accounts = self.accounts();
            let problems: Vec<String> = accounts.iter().filter_map(problem).collect();
            let detail = (!problems.is_empty()).then(|| problems.join("; "));
            // The wire's name of nonce queues.
            let numbers = Map::from_iter([("lanes".to_owned(), json!(accounts))]);
            services.insert("tx".to_owned(), ServiceStatus { ok: problems.is_empty(), enabled: None, detail, numbers });
        }
        services
    }
}

fn problem(account: &AccountReport) -> Option<String> {
    let age_s = account.oldest_age_s?;
    let waits = || (age_s > WAIT_MAX_S).then(|| format!("the oldest transaction has waited for {age_s} s"));
    let problem = account.reason.clone().or_else(waits)?;
    let name = if account.roles.is_empty() { account.address.to_string() } else { account.roles.join(", ") };
    Some(format!("{name}: {problem}"))
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
