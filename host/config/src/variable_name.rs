//! Names of environment variables: `GATEWAY_HTTP__LISTEN` sets `http.listen`.

/// Names the file; it is not a key.
pub(super) const CONFIG_FILE: &str = "GATEWAY_CONFIG";
/// What tests of plugins read (`plugin-test-kit`, `plugin-testing`): authors export them where they run a gateway, too.
const TEST_VARIABLES: [&str; 2] = ["GATEWAY_BIN", "GATEWAY_TEST_POSTGRES"];
pub(super) const PREFIX: &str = "GATEWAY_";
pub(super) const LEVEL_SEPARATOR: &str = "__";

/// The variable that sets a key.
pub(super) fn variable_name(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', LEVEL_SEPARATOR).to_uppercase())
}

/// The key that a variable would set, level by level; `None` for variables that set none.
pub(super) fn key_path(variable: &str) -> Option<Vec<String>> {
    let key =
        variable.strip_prefix(PREFIX).filter(|_| variable != CONFIG_FILE && !TEST_VARIABLES.contains(&variable))?;
    Some(key.to_lowercase().split(LEVEL_SEPARATOR).map(ToOwned::to_owned).collect())
}
