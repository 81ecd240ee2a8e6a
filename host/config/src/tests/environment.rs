//! How the text of a variable becomes a value of its key's kind.

use rstest::rstest;

use super::variable;

#[test]
fn numbers() {
    assert_eq!(variable("GATEWAY_HTTP__BODY_BYTES_MAX", " 4096 ").config().http.body_bytes_max, 4096);
    assert_eq!(variable("GATEWAY_ACTIVITY__HEARTBEAT_S", "30").config().activity.heartbeat_s, 30);
}

#[rstest]
#[case("5s", "\"5s\" is no whole number")]
#[case("1.5", "\"1.5\" is no whole number")]
#[case("", "\"\" is no whole number")]
#[case("-5", "the number -5 is out of range")]
#[case("0", "0 is too small")]
fn wrong_numbers(#[case] text: &str, #[case] message: &str) {
    let problem = variable("GATEWAY_HTTP__BODY_TIMEOUT_MS", text).problem();
    assert_eq!(problem.key, "http.body_timeout_ms");
    assert_eq!(problem.message, message);
    assert!(problem.hint.contains("a whole number from 1 to 3600000"), "{problem}");
}

#[rstest]
#[case("true", true)]
#[case("1", true)]
#[case("On", true)]
#[case("yes", true)]
#[case("FALSE", false)]
#[case("0", false)]
#[case("off", false)]
#[case("no", false)]
fn booleans(#[case] text: &str, #[case] expected: bool) {
    assert_eq!(variable("GATEWAY_HTTP__CORS", text).config().http.cors, expected);
}

#[test]
fn wrong_booleans() {
    let problem = variable("GATEWAY_HTTP__CORS", "maybe").problem();
    assert_eq!(problem.message, "\"maybe\" is neither true nor false");
}

#[rstest]
#[case("10.0.0.0/8, ::1,192.168.1.1", &["10.0.0.0/8", "::1/128", "192.168.1.1/32"])]
#[case("::1", &["::1/128"])]
#[case("", &[])]
fn lists(#[case] text: &str, #[case] expected: &[&str]) {
    let allow = variable("GATEWAY_LIMITS__ALLOW", text).config().limits.allow;
    assert_eq!(allow.iter().map(ToString::to_string).collect::<Vec<_>>(), expected);
}

#[test]
fn brackets_in_a_host_are_not_a_list() {
    let hosts = variable("GATEWAY_EGRESS__ALLOW_HOSTS", "[::1]:9000,localhost").config().egress.allow_hosts;
    assert_eq!(hosts, ["[::1]:9000", "localhost"]);
}

/// Text stays text, even if it looks like a number or JSON.
#[rstest]
#[case("123")]
#[case("true")]
#[case("{a}")]
#[case("\"quoted\"")]
fn text(#[case] name: &str) {
    assert_eq!(variable("GATEWAY_NETWORK_NAME", name).config().network_name, name);
}

/// An author of a plugin exports these for its tests, and runs the gateway in the same shell.
#[test]
fn variables_of_tests_set_no_key() {
    let start = variable("GATEWAY_BIN", "/opt/gateway").variable("GATEWAY_TEST_POSTGRES", "postgres://u:hunter2@h/d");
    assert_eq!(start.config().http.listen, super::ConfigFixture::new().config().http.listen);
}
