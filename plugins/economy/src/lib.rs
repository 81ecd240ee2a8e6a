//! The economy: streams, plans, subscriptions, disputes, agent tokens and agent accounts, derived from chain events.
//!
//! README.md has the details. The rule that must not break: stored rows follow from events alone (`chain/`); what depends on the
//! time is computed at read time (`model/`).

#![forbid(unsafe_code)]

mod chain;
mod contributions;
mod error;
mod model;
mod routes;
mod store;

use plugin_api::{ConfigError, Definition, HostHandle, NoConfig, Plugin, Skill, export_plugin, migrations, point};

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
            .migrations(migrations!["0001_create", "0002_count_rows", "0003_records"])
            .publishes(&chain::EVENT_TYPES)
            .audits(&chain::EVENT_TYPES)
            .skill(Skill::new(
                "See who pays whom by the second or by subscription, which jobs are disputed, which agents have a token \
                 or an account that is a contract",
                &["streams", "subscriptions", "disputes", "tokens", "accounts"],
            ))
            .contributes(point::CV_CLAIMS, contributions::cv_claims)
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .references_payloads(&[
                "SELECT id, evidence_uri FROM economy_disputes WHERE id > $1 ORDER BY id LIMIT 1000",
                "SELECT id, uri FROM economy_evidence WHERE id > $1 ORDER BY id LIMIT 1000",
                "SELECT id, metadata_uri FROM economy_plans WHERE id > $1 ORDER BY id LIMIT 1000",
            ]);
        chain::subscribe(definition)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Economy);
