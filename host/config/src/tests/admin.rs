//! `[admin]`: the token comes from its variable or a file, and no message shows it.

use secrecy::ExposeSecret as _;

use super::{ConfigFixture, file, variable};
use crate::is_key;

const TOKEN: &str = "9c1f0b7a5e6b4d3f2f8d0c7a5e6b4d3f";
const SECRET: &str = "9c1f0b7a";

#[test]
fn the_token_comes_from_its_variable_or_a_file_and_is_never_shown() {
    let config = variable("gateway_ADMIN__token", TOKEN).config();
    assert_eq!(config.admin.token.as_ref().unwrap().expose_secret(), TOKEN);
    assert!(!format!("{config:?}").contains(SECRET) && !serde_json::to_string(&config).unwrap().contains(SECRET));
    assert!(is_key("GATEWAY_ADMIN__TOKEN") && is_key("gateway_admin__token") && !is_key("GATEWAY_ADMIN__TOKEN_FILE"));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("token");
    std::fs::write(&path, format!("{TOKEN}\n")).unwrap();
    let named = format!("admin.token_file = '{}'", path.display());
    assert_eq!(file(&named).config().admin.token.unwrap().expose_secret(), TOKEN, "without the end of the line");
    let twice = file(&named).variable("GATEWAY_ADMIN__TOKEN", TOKEN).problems();
    assert!(twice.iter().any(|problem| problem.message.contains("is set as well")), "{twice:?}");
    assert!(!format!("{twice:?}").contains(SECRET), "{twice:?}");
    assert!(ConfigFixture::new().config().admin.token.is_none());
}

#[test]
fn a_token_that_can_be_guessed_or_read_in_the_file_is_a_problem() {
    for token in ["", "short", "0123456789012345678", "9c1f0b7a 5e6b4d3f2f8d0c7a5e6b4d3f", "9c1f0b7a5e6b4d3f2f8d0cé"] {
        let problem = variable("GATEWAY_ADMIN__TOKEN", token).problem();
        assert_eq!(problem.key, "admin.token", "{token}");
        assert!(token.is_empty() || !problem.message.contains(token), "{problem}");
    }
    let misplaced = file(&format!("[admin]\ntoken = '{TOKEN}'")).problems();
    assert!(misplaced.iter().any(|problem| problem.key.starts_with("admin")), "{misplaced:?}");
    assert!(!format!("{misplaced:?}").contains(SECRET), "{misplaced:?}");
    let missing = file("admin.token_file = '/nowhere/token'").problem();
    assert_eq!(missing.key, "admin.token_file");
}

#[test]
fn hosts_are_names_and_a_login_proxy_needs_a_token() {
    for host in ["https://ops.example.com", "ops.example.com:8443", "", "a b", "ann@ops.example.com"] {
        let problem = file(&format!("admin.allowed_hosts = ['{host}']")).problem();
        assert_eq!(problem.key, "admin.allowed_hosts", "{host}");
    }
    let config = file("admin.allowed_hosts = ['ops.example.com']").config();
    assert_eq!(config.admin.allowed_hosts, ["ops.example.com"]);
    let with_token =
        |header: &str| file(&format!("admin.user_header = '{header}'")).variable("GATEWAY_ADMIN__TOKEN", TOKEN);
    assert!(with_token("X-Forwarded-User").config().admin.user_header.is_some());
    assert_eq!(with_token("X Forwarded").problem().key, "admin.user_header");
    let problem = file("admin.user_header = 'X-Forwarded-User'").problem();
    assert!(problem.key == "admin.user_header" && problem.message.contains("no token"), "{problem}");
}
