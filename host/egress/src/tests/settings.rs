//! The `[egress]` section as an operator writes it.

use rstest::rstest;

use crate::{Egress, EgressSettings};

fn read(json: &str) -> Result<EgressSettings, serde_json::Error> {
    serde_json::from_str(json)
}

#[test]
fn every_setting_has_a_default() {
    let settings = read("{}").unwrap();
    assert_eq!(settings.validate().unwrap(), crate::AllowList::default());
    assert_eq!((settings.timeout_ms, settings.per_plugin_concurrency), (10_000, 64));
    assert!(Egress::new(settings).is_ok());
}

#[test]
fn an_unknown_key_is_refused() {
    let error = read(r#"{"allow_host": ["a"]}"#).unwrap_err();
    assert!(error.to_string().contains("allow_host"), "{error}");
}

#[rstest]
#[case(r#"{"timeout_ms": 0}"#, "timeout_ms")]
#[case(r#"{"timeout_ms": 70000}"#, "timeout_ms")]
#[case(r#"{"timeout_max_ms": 99999999999}"#, "timeout_max_ms")]
#[case(r#"{"connect_timeout_ms": 0}"#, "connect_timeout_ms")]
#[case(r#"{"response_bytes_max": 0}"#, "response_bytes_max")]
#[case(r#"{"request_bytes_max": 0}"#, "request_bytes_max")]
#[case(r#"{"per_plugin_concurrency": 0}"#, "per_plugin_concurrency")]
#[case(r#"{"per_plugin_concurrency": 99999999999}"#, "per_plugin_concurrency")]
#[case(r#"{"per_destination_concurrency": 0}"#, "per_destination_concurrency")]
#[case(r#"{"per_destination_per_second": 10001}"#, "per_destination_per_second")]
#[case(r#"{"per_answering_destination_concurrency": 0}"#, "per_answering_destination_concurrency")]
#[case(r#"{"per_answering_destination_per_second": 0}"#, "per_answering_destination_per_second")]
#[case(r#"{"unanswered_interval_ms": 0}"#, "unanswered_interval_ms")]
#[case(r#"{"resolve_interval_ms": 3600001}"#, "resolve_interval_ms")]
#[case(r#"{"user_agent": ""}"#, "user_agent")]
#[case(r#"{"user_agent": "a\r\nHost: b"}"#, "user_agent")]
#[case(r#"{"allow_hosts": ["fine.test", "*"]}"#, "allow_hosts")]
fn an_invalid_setting_is_reported_by_name(#[case] json: &str, #[case] key: &str) {
    let problems = read(json).unwrap().validate().unwrap_err();
    assert!(problems.len() == 1 && problems[0].starts_with(key), "{problems:?}");
}

#[test]
fn every_problem_is_reported_at_once() {
    let settings = read(r#"{"timeout_ms": 0, "user_agent": "", "allow_hosts": ["*", "a b"]}"#).unwrap();
    assert_eq!(settings.validate().unwrap_err().len(), 4);
    let Err(error) = Egress::new(settings) else { panic!("must not be built") };
    assert_eq!(error.code(), "settings");
    assert!(error.to_string().contains("timeout_ms") && error.to_string().contains("\"a b\""), "{error}");
}
