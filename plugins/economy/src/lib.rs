//! The economy: streams, plans, subscriptions, disputes, agent tokens and agent accounts, derived from chain events.
//!
//! README.md has the details. The rule that must not break: stored rows follow from events alone (`index/`); what depends on the
//! time is computed at read time (`model/`).

#![forbid(unsafe_code)]

mod contributions;
mod deployment;
mod error;
mod filter;
mod index;
mod model;
mod routes;
mod store;

use plugin_api::{ConfigError, Definition, HostHandle, Migration, NoConfig, Plugin, Skill, export_plugin, point};

pub struct Economy;

impl Plugin for Economy {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        let definition = Definition::new()
            .tag("Economy")
            .routes([
                routes::list_streams::route(),
                routes::list_plans::route(),
                routes::list_subs::route(),
                routes::list_disputes::route(),
                routes::list_tokens::route(),
                routes::list_accounts::route(),
            ])
            .migrations([Migration::new(1, "create", include_str!("../migrations/0001_create.sql"))])
            .publishes(&index::EVENT_TYPES)
            .skill(Skill::new(
                "See who pays whom by the second or by subscription, which jobs are disputed, which agents have a token \
                 or an account that is a contract",
                &["streams", "subscriptions", "disputes", "tokens", "accounts"],
            ))
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::PAYLOAD_REFERENCES, contributions::payload_references);
        index::subscribe(definition)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Economy);

#[cfg(test)]
mod tests {
    use crate::plugin_module;
    use plugin_testing::manifest;

    #[test]
    fn a_handler_of_events_writes_tables_of_this_plugin_only() {
        for subscription in manifest(plugin_module()).subscriptions {
            assert!(!subscription.derived_tables.is_empty(), "{}", subscription.event);
            for table in subscription.derived_tables {
                let create = format!("CREATE TABLE {table} ");
                assert!(include_str!("../migrations/0001_create.sql").contains(&create), "{table}");
            }
        }
    }
}
