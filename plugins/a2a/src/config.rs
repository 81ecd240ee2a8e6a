//! `[plugins.a2a]` in the gateway's configuration. Rule: a wrong value stops the plugin, it is never corrected silently.

use plugin_api::{AgentId, ConfigError, JsonSchema};
use serde::Deserialize;
use url::Url;

/// Every key has a default, so the section may be missing.
#[derive(Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Calls that wait for answers of agents at the same time: of all agents, 1 to 10000.
    pub calls_max: usize,
    /// The same of one agent.
    pub calls_per_agent_max: usize,
    /// Seconds that an agent has for its answer, 1 to 60.
    pub answer_timeout_s: u32,
    /// Ids of the operator's own agents: at the origins `upstreams` they are sent `upstream_secret`. Anybody may register an agent with an
    /// endpoint there.
    pub upstream_agents: Vec<AgentId>,
    /// Where the operator's own agents are, such as `https://agents.example`.
    pub upstreams: Vec<String>,
    /// By which the operator's own agents know this gateway: 16 to 256 visible characters, best in the variable
    /// `GATEWAY_PLUGINS__A2A__UPSTREAM_SECRET`. Empty: none is sent.
    pub upstream_secret: String,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            calls_max: 64,
            calls_per_agent_max: 8,
            answer_timeout_s: 60,
            upstream_agents: Vec::new(),
            upstreams: Vec::new(),
            upstream_secret: String::new(),
        }
    }
}

impl Config {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        let Self { calls_max, calls_per_agent_max, answer_timeout_s, upstream_agents, upstreams, upstream_secret } =
            self;
        let outside = |key: &str, value: usize| ConfigError::outside(key, value, 1..=10_000);
        let wrong = upstreams.iter().find(|upstream| origin(upstream).as_ref() != Some(*upstream));
        let is_secret =
            (16..=256).contains(&upstream_secret.len()) && upstream_secret.bytes().all(|b| b.is_ascii_graphic());
        ConfigError::check([
            outside("calls_max", *calls_max),
            outside("calls_per_agent_max", *calls_per_agent_max),
            ConfigError::outside("answer_timeout_s", *answer_timeout_s, 1..=60),
            wrong.map(|upstream| {
                format!("upstreams holds {upstream:?}: an origin is needed, such as https://agents.example")
            }),
            (upstreams.is_empty() != upstream_secret.is_empty() || upstreams.is_empty() != upstream_agents.is_empty())
                .then(|| "upstream_agents, upstreams and upstream_secret: set all of them, or none".to_owned()),
            (!upstream_secret.is_empty() && !is_secret)
                .then(|| "upstream_secret: 16 to 256 visible ASCII characters are needed".to_owned()),
        ])
    }

    /// The secret for the agent at this endpoint, if both are the operator's own.
    pub(crate) fn secret_for(&self, agent: AgentId, endpoint: &str) -> Option<&str> {
        // Most operators have none, and parsing each call's endpoint for nothing costs time.
        let origin = if self.upstream_agents.contains(&agent) { origin(endpoint) } else { None }?;
        self.upstreams.contains(&origin).then_some(self.upstream_secret.as_str())
    }
}

/// `https://host:port`, without a port that is the scheme's own.
fn origin(url: &str) -> Option<String> {
    let url = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https"))?;
    Some(url.origin().ascii_serialization())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn with_upstreams(upstreams: &[&str], secret: &str) -> Config {
        let upstreams: Vec<String> = upstreams.iter().map(|upstream| (*upstream).to_owned()).collect();
        let upstream_agents = if upstreams.is_empty() { Vec::new() } else { vec![AgentId(7)] };
        Config { upstream_agents, upstreams, upstream_secret: secret.to_owned(), ..Config::default() }
    }

    #[test]
    fn wrong_values_are_named() {
        let secret = "0123456789abcdef";
        assert!(Config::default().validate().is_ok());
        assert!(with_upstreams(&["https://a.example", "http://10.0.0.1:9000"], secret).validate().is_ok());
        for (config, part) in [
            (Config { calls_max: 0, ..Config::default() }, "calls_max is 0"),
            (Config { calls_per_agent_max: 10_001, ..Config::default() }, "calls_per_agent_max is 10001"),
            (Config { answer_timeout_s: 0, ..Config::default() }, "answer_timeout_s is 0"),
            (Config { answer_timeout_s: 61, ..Config::default() }, "answer_timeout_s is 61"),
            (with_upstreams(&["https://a.example/"], secret), "upstreams holds"),
            (with_upstreams(&["https://A.example"], secret), "upstreams holds"),
            (with_upstreams(&["ftp://a.example"], secret), "upstreams holds"),
            (with_upstreams(&["https://a.example"], ""), "set all"),
            (with_upstreams(&[], secret), "set all"),
            (Config { upstream_agents: Vec::new(), ..with_upstreams(&["https://a.example"], secret) }, "set all"),
            (Config { upstream_agents: vec![AgentId(7)], ..Config::default() }, "set all"),
            (with_upstreams(&["https://a.example"], "short"), "16 to 256"),
            (with_upstreams(&["https://a.example"], "0123456789\nabcdef"), "16 to 256"),
        ] {
            let ConfigError(reason) = config.validate().unwrap_err();
            assert!(reason.contains(part), "{reason}");
        }
    }

    #[test]
    fn only_the_operators_agents_at_his_origins_get_the_secret() {
        let config = with_upstreams(&["https://a.example", "http://b.example:9000"], "0123456789abcdef");
        for own in ["https://a.example", "https://A.example:443/x?y", "http://b.example:9000/agent"] {
            assert_eq!(config.secret_for(AgentId(7), own), Some("0123456789abcdef"), "{own}");
            assert_eq!(config.secret_for(AgentId(8), own), None, "{own}");
        }
        for other in
            ["http://a.example", "https://a.example:444", "https://a.example.evil", "https://b.example:9000", "x"]
        {
            assert_eq!(config.secret_for(AgentId(7), other), None, "{other}");
        }
        // The host is what stands behind the @.
        assert_eq!(config.secret_for(AgentId(7), "https://a.example@evil.example/"), None);
    }
}
