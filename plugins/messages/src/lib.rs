//! Messages from wallet to wallet, signed by the sender, with a copy to the recipient's agent.
//!
//! README.md has the details. The rule that must not break: a message is stored first and forwarded afterwards, only from the
//! outbox (`jobs/forward_messages.rs`), so no agent can delay or fail a write.

#![forbid(unsafe_code)]

mod contributions;
mod error;
mod jobs;
mod model;
mod routes;
mod store;

use plugin_api::{
    ConfigError, Definition, Event, Grants, HostHandle, Migration, NoConfig, Plugin, Skill, export_plugin, point,
};

pub struct Messages;

impl Plugin for Messages {
    type Config = NoConfig;

    fn define() -> Definition<Self> {
        Definition::new()
            .tag("Messages")
            .requires(&["agents"])
            .routes([routes::create_message::route(), routes::list_inbox::route()])
            .migrations([Migration::new(1, "create", include_str!("../migrations/0001_create.sql"))])
            .jobs([jobs::forward_messages::job()])
            .grants(Grants { egress: true, ..Grants::default() })
            .publishes(&[model::MessageSent::TYPE])
            .skill(Skill::new("Write to an address or an agent, and read your own inbox", &["messages", "inbox"]))
            .contributes(point::STATS, contributions::counters)
            .contributes(point::STATUS, contributions::status)
            .contributes(point::PAYLOAD_REFERENCES, contributions::payload_references)
    }

    fn new(_: NoConfig, _: &HostHandle) -> Result<Self, ConfigError> {
        Ok(Self)
    }
}

export_plugin!(Messages);

#[cfg(test)]
mod tests {
    use crate::plugin_module;
    use plugin_testing::{assert_writes_are_guarded, manifest};

    #[test]
    fn the_write_is_guarded_and_shares_the_limit_of_the_commons() {
        assert_writes_are_guarded(&manifest(plugin_module()));
    }
}
