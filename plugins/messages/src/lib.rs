//! Messages from wallet to wallet, signed by the sender, with a copy to the recipient's agent.
//!
//! README.md has the details. The rule that must not break: a message is stored first and forwarded afterwards, only from the
//! outbox (`forwarding.rs`), so no agent can delay or fail a write.

#![forbid(unsafe_code)]

mod contributions;
mod error;
mod forwarding;
mod model;
mod routes;
mod store;

use plugin_api::{
    ConfigError, Definition, Grants, HostHandle, Migration, NoConfig, Plugin, Skill, export_plugin, point,
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
            .jobs([forwarding::job()])
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
    use plugin_api::manifest::{Auth, RateLimit};
    use plugin_testing::manifest;

    #[test]
    fn the_events_are_those_of_the_specification() {
        assert_eq!(manifest(plugin_module()).event_types, ["message.send"]);
    }

    #[test]
    fn a_write_is_used_up_and_an_inbox_may_be_read_again() {
        let routes = manifest(plugin_module()).routes;
        assert!(matches!(routes[0].auth, Auth::SignedBody { .. }));
        assert_eq!(routes[0].rate_limits, [RateLimit::commons_writes()]);
        assert!(matches!(routes[1].auth, Auth::SignedQuery { .. }));
        assert!(!routes[1].auth.is_guarded() && !routes[1].cached && routes[1].rate_limits.is_empty());
    }
}
