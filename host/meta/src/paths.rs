//! The paths of the gateway's own routes.

pub(crate) const OPENAPI: &str = "/api/openapi.json";
pub(crate) const LLMS: &str = "/llms.txt";
pub(crate) const AGENT_CARD: &str = "/.well-known/agent.json";
pub(crate) const STATUS: &str = "/api/status";
pub(crate) const CHANGELOG: &str = "/api/changelog";
pub(crate) const DOCS: &str = "/docs";

/// The named endpoints of every gateway, name → path.
pub(crate) fn endpoints(marker: &str) -> Vec<(&'static str, String)> {
    let endpoint = |name, path: &str| (name, path.to_owned());
    vec![
        endpoint("index", "/api"),
        endpoint("openapi", OPENAPI),
        endpoint("llms", LLMS),
        endpoint("agentCard", AGENT_CARD),
        ("manifest", manifest(marker)),
        endpoint("health", "/api/health"),
        endpoint("stats", "/api/stats"),
        endpoint("status", STATUS),
        endpoint("changelog", CHANGELOG),
        endpoint("docs", DOCS),
    ]
}

pub(crate) fn manifest(marker: &str) -> String {
    format!("/.well-known/{marker}.json")
}

/// A route's path as a path template of OpenAPI, which has no catch-all: `/files/{*path}` → `/files/{path}`.
pub(crate) fn template(path: &str) -> String {
    path.replace("{*", "{")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_catch_all_becomes_a_plain_parameter() {
        assert_eq!(template("/a/{slug}/files/{*rest}"), "/a/{slug}/files/{rest}");
    }
}
