//! Unknown keys are found in every layer and reported with the key that was probably meant.

use proptest::prelude::*;
use rstest::rstest;

use super::{ConfigFixture, file, variable};
use crate::{Source, schema, variable_name::variable_name};

#[rstest]
#[case("http.lisen = 1", "http.lisen", "did you mean listen? allowed in [http]: body_bytes_max,")]
#[case("[htpp]\nlisten = 1", "htpp", "did you mean http? allowed at the top: activity,")]
#[case("listen = '127.0.0.1:1'", "listen", "did you mean admin.listen or http.listen?")]
#[case("http_listen = '127.0.0.1:1'", "http_listen", "did you mean http.listen?")]
#[case("[log]\ntimeout_ms = 1", "log.timeout_ms", "did you mean egress.timeout_ms?")]
#[case("plugins.fence_fault = 1", "plugins.fence_fault", "did you mean fence_faults?")]
#[case("plugins.forum = false", "plugins.forum", "a section of its own: [plugins.forum]")]
#[case("xyzzy = 1", "xyzzy", "allowed at the top: activity, admin, backup, base_url")]
fn an_unknown_key_in_the_file(#[case] text: &str, #[case] key: &str, #[case] hint: &str) {
    let start = file(text);
    let problem = start.problem();
    assert_eq!(problem.key, key);
    assert_eq!(problem.source, Source::File(start.path("gateway.toml")));
    assert!(problem.message.contains("unknown key"), "{problem}");
    assert!(problem.hint.contains(hint), "{problem}");
}

#[rstest]
#[case("GATEWAY_HTTP__LISEN", "http.lisen", "did you mean GATEWAY_HTTP__LISTEN?")]
#[case("GATEWAY_HTTP_LISTEN", "http_listen", "did you mean GATEWAY_HTTP__LISTEN?")]
#[case("GATEWAY_HTPP__LISTEN", "htpp.listen", "did you mean GATEWAY_HTTP__LISTEN?")]
#[case("GATEWAY_DATADIR", "datadir", "did you mean GATEWAY_DATA_DIR?")]
#[case("GATEWAY_HTTP__XYZZY", "http.xyzzy", "allowed in [http]: body_bytes_max,")]
#[case("GATEWAY_XYZZY", "xyzzy", "allowed at the top: activity,")]
#[case("GATEWAY_PLUGINS__FORUM", "plugins.forum", "GATEWAY_PLUGINS__FORUM__ENABLED")]
#[case("GATEWAY_PLUGINS____ENABLED", "plugins..enabled", "two underscores")]
#[case("GATEWAY_HTTP__LISTEN__PORT", "http.listen.port", "GATEWAY_HTTP__LISTEN")]
#[case("GATEWAY_SERVICE_HOST", "service_host", "enableServiceLinks: false")]
#[case("GATEWAY_PORT_8080_TCP_ADDR", "port_8080_tcp_addr", "enableServiceLinks: false")]
fn an_unknown_variable(#[case] name: &str, #[case] key: &str, #[case] hint: &str) {
    let problem = variable(name, "1").problem();
    assert_eq!(problem.key, key);
    assert_eq!(problem.source, Source::Environment(name.to_owned()));
    assert!(problem.hint.contains(hint), "{problem}");
}

#[test]
fn a_variable_for_a_section_needs_a_key() {
    let problem = variable("GATEWAY_LOG", "debug").problem();
    assert_eq!(problem.key, "log");
    assert!(problem.hint.contains("GATEWAY_LOG__KEY"), "{problem}");
}

#[test]
fn variables_without_the_prefix_are_ignored() {
    ConfigFixture::new().variable("GATEWAYS_X", "1").variable("HTTP__LISTEN", "x").variable("PATH", "/bin").config();
}

#[test]
fn every_key_is_found_under_the_name_of_its_variable() {
    let wrong = "\u{fffd}";
    for key in schema::root().leaf_paths() {
        let name = variable_name(&key);
        let problem = variable(&name, wrong).problem();
        assert_eq!((problem.key, problem.source), (key, Source::Environment(name)));
    }
}

/// A name of letters and single underscores that no section has.
fn unknown_name() -> impl Strategy<Value = String> {
    let known = |name: &String| {
        let root = schema::root();
        root.keys.contains_key(name) || root.leaf_paths().iter().any(|path| path.ends_with(&format!(".{name}")))
    };
    "[a-z]{1,9}(_[a-z]{1,9}){0,2}".prop_filter("known", move |name| !known(name))
}

fn section() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "", "brand", "http", "limits", "admin", "database", "plugins", "egress", "activity", "log",
    ])
}

fn toml_value() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["1", "-1.5", "true", "'text'", "[1, 2]", "1979-05-27", "[]"])
}

proptest! {
    #[test]
    fn a_random_unknown_key_is_reported_with_its_name(
        wrong in prop::collection::btree_map((section(), unknown_name()), toml_value(), 1..5)
    ) {
        let mut text = String::new();
        for ((section, name), value) in &wrong {
            text.push_str(&if section.is_empty() { format!("{name} = {value}\n") } else { format!("{section}.{name} = {value}\n") });
        }
        let mut expected: Vec<String> = wrong
            .keys()
            .map(|(section, name)| if section.is_empty() { name.clone() } else { format!("{section}.{name}") })
            .collect();
        expected.sort();
        let problems = file(&text).problems();
        let keys: Vec<String> = problems.iter().map(|problem| problem.key.clone()).collect();
        prop_assert_eq!(keys, expected);
        prop_assert!(problems.iter().all(|problem| problem.hint.contains("allowed")));
    }

    #[test]
    fn a_random_unknown_variable_is_reported_with_its_name(section in section(), name in unknown_name()) {
        let key = if section.is_empty() { name } else { format!("{section}.{name}") };
        let name = variable_name(&key);
        let problem = variable(&name, "1").problem();
        prop_assert_eq!(problem.key, key);
        prop_assert_eq!(problem.source, Source::Environment(name));
    }

    #[test]
    fn no_file_makes_it_panic(text in "([a-z_]{1,8}|http|plugins|log|level|[\\[\\].='\" 0-9\n-]){0,40}") {
        let _either = file(&text).load();
    }
}
