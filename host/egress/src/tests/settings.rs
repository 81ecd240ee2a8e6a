//! Settings that cannot work are refused by name, all at once.

use rstest::rstest;

use crate::{Egress, EgressSettings};

#[test]
fn every_setting_has_a_default() {
    let settings = EgressSettings::default();
    assert_eq!(settings.validate().unwrap(), crate::AllowList::default());
    assert_eq!((settings.timeout_ms, settings.per_plugin_concurrency), (10_000, 64));
    assert!(Egress::new(settings).is_ok());
}

#[rstest]
#[case(|settings: &mut EgressSettings| settings.timeout_ms = 0, "timeout_ms")]
#[case(|settings: &mut EgressSettings| settings.timeout_ms = 70_000, "timeout_ms")]
#[case(|settings: &mut EgressSettings| settings.timeout_max_ms = 99_999_999_999, "timeout_max_ms")]
#[case(|settings: &mut EgressSettings| settings.connect_timeout_ms = 0, "connect_timeout_ms")]
#[case(|settings: &mut EgressSettings| settings.response_bytes_max = 0, "response_bytes_max")]
#[case(|settings: &mut EgressSettings| settings.request_bytes_max = 0, "request_bytes_max")]
#[case(|settings: &mut EgressSettings| settings.per_plugin_concurrency = 0, "per_plugin_concurrency")]
#[case(|settings: &mut EgressSettings| settings.per_plugin_concurrency = 99_999_999_999, "per_plugin_concurrency")]
#[case(|settings: &mut EgressSettings| settings.per_destination_concurrency = 0, "per_destination_concurrency")]
#[case(|settings: &mut EgressSettings| settings.per_destination_per_second = 10_001, "per_destination_per_second")]
#[case(|settings: &mut EgressSettings| settings.per_answering_destination_concurrency = 0, "per_answering_destination_concurrency")]
#[case(|settings: &mut EgressSettings| settings.per_answering_destination_per_second = 0, "per_answering_destination_per_second")]
#[case(|settings: &mut EgressSettings| settings.unanswered_interval_ms = 0, "unanswered_interval_ms")]
#[case(|settings: &mut EgressSettings| settings.resolve_interval_ms = 3_600_001, "resolve_interval_ms")]
#[case(|settings: &mut EgressSettings| settings.user_agent = String::new(), "user_agent")]
#[case(|settings: &mut EgressSettings| settings.user_agent = "a\r\nHost: b".to_owned(), "user_agent")]
#[case(|settings: &mut EgressSettings| settings.allow_hosts = vec!["fine.test".to_owned(), "*".to_owned()], "allow_hosts")]
fn an_invalid_setting_is_reported_by_name(#[case] change: fn(&mut EgressSettings), #[case] key: &str) {
    let mut settings = EgressSettings::default();
    change(&mut settings);
    let problems = settings.validate().unwrap_err();
    assert!(problems.len() == 1 && problems[0].starts_with(key), "{problems:?}");
}

#[test]
fn every_problem_is_reported_at_once() {
    let settings = EgressSettings {
        timeout_ms: 0,
        user_agent: String::new(),
        allow_hosts: vec!["*".to_owned(), "a b".to_owned()],
        ..EgressSettings::default()
    };
    assert_eq!(settings.validate().unwrap_err().len(), 4);
    let Err(error) = Egress::new(settings) else { panic!("must not be built") };
    assert_eq!(error.code(), "settings");
    assert!(error.to_string().contains("timeout_ms") && error.to_string().contains("\"a b\""), "{error}");
}
