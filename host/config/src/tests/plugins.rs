//! Sections of plugins: which keys the gateway reads, and which it passes on.

use rstest::rstest;
use serde_json::json;

use super::{ConfigFixture, file, variable};
use crate::Source;

const PIN: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

#[test]
fn the_gateway_reads_its_keys_and_passes_on_the_others() {
    let text = format!(
        "[plugins.forum]\nenabled = true\nsha256 = '{}'\ngrants = ['egress', 'chain:main']\n\
         title_max = 200\nratio = 0.5\ntags = ['a', 'b']\nsince = 1979-05-27\n\
         [plugins.forum.quota]\nper_day = 4\n",
        PIN.to_uppercase()
    );
    let settings = file(&text).config().plugins.settings("forum");
    assert_eq!(settings.enabled, Some(true));
    assert_eq!(settings.sha256.as_deref(), Some(PIN));
    assert_eq!(settings.grants, Some(vec!["egress".to_owned(), "chain:main".to_owned()]));
    let expected = json!({
        "title_max": 200, "ratio": 0.5, "tags": ["a", "b"], "since": "1979-05-27", "quota": { "per_day": 4 }
    });
    assert_eq!(serde_json::Value::Object(settings.config), expected);
}

#[test]
fn variables_reach_one_plugin() {
    let config = file("[plugins.forum]\ntitle_max = 200\n[plugins.hello]\n")
        .variable("GATEWAY_PLUGINS__FORUM__ENABLED", "false")
        .variable("GATEWAY_PLUGINS__FORUM__SHA256", PIN)
        .variable("GATEWAY_PLUGINS__FORUM__GRANTS", "egress, signer:relayer")
        .variable("GATEWAY_PLUGINS__FORUM__QUOTA__PER_DAY", "7")
        .config();
    let forum = config.plugins.settings("forum");
    assert_eq!(forum.enabled, Some(false));
    assert_eq!(forum.sha256.as_deref(), Some(PIN));
    assert_eq!(forum.grants, Some(vec!["egress".to_owned(), "signer:relayer".to_owned()]));
    assert_eq!(serde_json::Value::Object(forum.config), json!({ "title_max": 200, "quota": { "per_day": 7 } }));
    assert!(!config.plugins.is_enabled("forum"));
    assert!(config.plugins.is_enabled("hello"));
    assert!(config.plugins.sections.contains_key("hello"));
}

/// The gateway does not know the kind of a plugin's key: valid JSON is read as JSON, everything else as text, and so are
/// numbers that JSON does not carry exactly everywhere: amounts in wei.
#[rstest]
#[case("5", json!(5))]
#[case("1.5", json!(1.5))]
#[case("9007199254740991", json!(9_007_199_254_740_991_u64))]
#[case("9007199254740992", json!("9007199254740992"))]
#[case("-9007199254740992", json!("-9007199254740992"))]
#[case("10000000000000000000", json!("10000000000000000000"))]
#[case("true", json!(true))]
#[case("[\"a\"]", json!(["a"]))]
#[case("{\"a\": 1}", json!({ "a": 1 }))]
#[case("\"5\"", json!("5"))]
#[case("a,b", json!("a,b"))]
#[case("12e5", json!("12e5"))]
#[case("007", json!("007"))]
#[case("null", json!("null"))]
#[case("123456789012345678901234567890", json!("123456789012345678901234567890"))]
#[case("", json!(""))]
fn a_plugins_own_variable(#[case] text: &str, #[case] expected: serde_json::Value) {
    let config = variable("GATEWAY_PLUGINS__FORUM__KEY", text).config();
    assert_eq!(config.plugins.settings("forum").config["key"], expected);
}

#[test]
fn a_plugin_that_no_section_mentions_follows_the_default() {
    let on = file("").config();
    assert!(on.plugins.is_enabled("forum"));
    let off = file("[plugins]\ndefault_enabled = false\n[plugins.hello]\nenabled = true\n").config();
    assert!(!off.plugins.is_enabled("forum"));
    assert!(off.plugins.is_enabled("hello"));
    assert!(off.plugins.settings("forum").config.is_empty());
}

#[rstest]
#[case("[plugins.forum]\nenabled = 'yes'", "plugins.forum.enabled", "it is the text \"yes\"")]
#[case("[plugins.forum]\nsha256 = 5", "plugins.forum.sha256", "it is the number 5")]
#[case("[plugins.forum]\nsha256 = 'abc'", "plugins.forum.sha256", "no SHA-256")]
#[case("[plugins.forum]\ngrants = 'egress'", "plugins.forum.grants", "it is the text \"egress\"")]
#[case("[plugins.forum]\ngrants = [1]", "plugins.forum.grants", "it is a list")]
#[case("[plugins.forum]\ngrants = ['chain:']", "plugins.forum.grants", "\"chain:\" is no grant")]
#[case("[plugins.forum]\ngrants = ['role:relayer']", "plugins.forum.grants", "\"role:relayer\" is no grant")]
#[case("[plugins.forum]\nratio = nan", "plugins.forum.ratio", "not finite")]
#[case("[plugins.forum.deep]\nratio = [inf]", "plugins.forum.deep", "not finite")]
#[case("[plugins.Forum]", "plugins.Forum", "cannot be the name of a plugin")]
#[case("[plugins.a-b]\nx = 1", "plugins.a-b", "cannot be the name of a plugin")]
#[case("[plugins.a__b]\nx = 1", "plugins.a__b", "cannot be the name of a plugin")]
fn a_wrong_plugin_section(#[case] text: &str, #[case] key: &str, #[case] message: &str) {
    let problem = file(text).problem();
    assert_eq!(problem.key, key);
    assert!(problem.message.contains(message), "{problem}");
}

#[test]
fn a_wrong_switch_in_a_variable_is_named() {
    let problem = variable("GATEWAY_PLUGINS__FORUM__ENABLED", "maybe").problem();
    assert_eq!(problem.key, "plugins.forum.enabled");
    assert_eq!(problem.source, Source::Environment("GATEWAY_PLUGINS__FORUM__ENABLED".to_owned()));
}

#[test]
fn a_pin_from_a_variable_stays_text() {
    let digits = "1".repeat(64);
    let start = ConfigFixture::new().variable("GATEWAY_PLUGINS__FORUM__SHA256", &digits);
    assert_eq!(start.config().plugins.settings("forum").sha256, Some(digits));
}
