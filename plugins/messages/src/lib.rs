//! Messages from wallet to wallet, signed by the sender, with a copy to the recipient's agent.
//!
//! README.md has the details. The rule that must not break: a message is stored first and forwarded afterwards, only from the
//! queue (`jobs/`), so no agent can delay or fail a write.

#![forbid(unsafe_code)]

mod contributions;
mod error;
mod jobs;
mod limits;
mod model;
mod routes;
mod store;

use plugin_api::{
    ConfigError, Definition, Event, Grants, HostHandle, NoConfig, Plugin, Skill, export_plugin, migrations, point,
};

pub struct Messages;

impl Plugin for Messages {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Messages")
            .requires(&["agents"])
            .routes([routes::create_message::route(), routes::list_inbox::route()])
            .migrations(migrations![
                "0001_create",
                "0002_outbox_host",
                "0003_count_rows",
                per_dialect("0004_no_foreign_keys"),
                "0005_publish_views",
                per_dialect("0006_forward_by_queue"),
            ])
            .private_views(&["messages_v1"])
            .on_queue(store::copies::COPIES, store::copies::settings, jobs::forward_message::forward_message)
            .grants(Grants { egress: true, ..Grants::default() })
            .publishes(&[model::MessageSent::TYPE])
            .audits(&[model::MessageSent::TYPE])
            .skill(Skill::new("Write to an address or an agent, and read your own inbox", &["messages", "inbox"]))
            .contributes(point::CV_CLAIMS, async |_, _: point::CvClaimsInput| {
                Ok(point::CvRecord::of_activity(&[model::MessageSent::TYPE]))
            })
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .references_payloads(&[
                "SELECT id, subject || ' ' || body FROM messages_messages WHERE id > $1 ORDER BY id LIMIT 200",
            ])
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Messages);
