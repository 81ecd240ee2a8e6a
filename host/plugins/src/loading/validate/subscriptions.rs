//! The contract events that a manifest subscribes to.

use gateway_config::MAIN;
use plugin_api::{
    Address,
    manifest::{IndexedValue, Manifest},
};
use serde_json::json;
use std::collections::HashSet;

pub(crate) fn check_subscriptions(manifest: &Manifest, problems: &mut Vec<String>) {
    let prefix = format!("{}_", manifest.name);
    for subscription in &manifest.subscriptions {
        let mut problem = |text: String| {
            problems.push(format!("subscription {} {}: {text}", subscription.contract, subscription.event));
        };
        if subscription.contract.is_empty() {
            problem("names no contract".to_owned());
        }
        match gateway_chain::EventDecoder::parse(&subscription.event) {
            Err(reason) => {
                problem(format!("event: expected a signature like `Registered(uint256 indexed agentId)`: {reason}"));
            }
            Ok(decoder) => {
                // The addresses of contracts are not known here.
                let value = |value: &IndexedValue| match value {
                    IndexedValue::Value(value) => value.clone(),
                    IndexedValue::Contract(_) => json!(Address::ZERO),
                };
                let values = |(argument, values): (&String, &Vec<IndexedValue>)| {
                    (argument.clone(), values.iter().map(value).collect())
                };
                let values = subscription.indexed.iter().map(values).collect();
                if let Err(reason) = decoder.indexed_topics(&values) {
                    problem(format!("indexed arguments: {reason}"));
                }
            }
        }
        let chain = &subscription.chain;
        if chain != MAIN && !manifest.grants.chains.contains(chain) {
            problem(format!("chain `{chain}`: expected main, or a chain of the plugin's grants"));
        }
        for table in subscription.derived_tables.iter().filter(|table| !table.starts_with(&prefix)) {
            problem(format!("derived table `{table}`: expected a table of its own, `{prefix}…`"));
        }
        // Said once of the two.
        let others = manifest.subscriptions.iter().filter(|other| other.chain < *chain);
        let other_tables: HashSet<&String> = others.flat_map(|other| &other.derived_tables).collect();
        for table in subscription.derived_tables.iter().filter(|table| other_tables.contains(table)) {
            problem(format!(
                "derived table `{table}`: it belongs to one chain, and a subscription on another derives it, too"
            ));
        }
    }
}
