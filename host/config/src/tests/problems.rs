//! Wrong values: each kind is reported with its key and source, and all of them in one run.

use rstest::rstest;

use super::{ConfigFixture, file};
use crate::{Config, Problem, Source};

fn keys(problems: &[Problem]) -> Vec<&str> {
    problems.iter().map(|problem| problem.key.as_str()).collect()
}

#[rstest]
// kinds
#[case("http.listen = 8080", "http.listen", "it is the number 8080", "such as 127.0.0.1:8080")]
#[case("http.http2 = 'yes'", "http.http2", "it is the text \"yes\"", "true or false")]
#[case(
    "http.body_timeout_ms = '5s'",
    "http.body_timeout_ms",
    "it is the text \"5s\"",
    "a whole number from 1 to 3600000"
)]
#[case("http.body_timeout_ms = 1.5", "http.body_timeout_ms", "it is the number 1.5", "a whole number")]
#[case("limits.allow = '10.0.0.0/8'", "limits.allow", "it is the text", "a list of texts")]
#[case("limits.allow = [1]", "limits.allow", "a list is refused", "a list of texts")]
#[case("http = 5", "http", "it is the number 5", "a section, written [http]")]
#[case("[log.level]\na = 1", "log.level", "it is a section", "expected: text")]
#[case("database.synchronous = 1", "database.synchronous", "it is the number 1", "one of full, normal")]
// values
#[case("http.listen = 'localhost'", "http.listen", "\"localhost\" is refused", "such as 127.0.0.1:8080")]
#[case("admin.listen = 'no'", "admin.listen", "\"no\" is refused", "such as 127.0.0.1:8081")]
#[case("limits.allow = ['::1', 'x', '10.0.0.0/99']", "limits.allow", "\"x\", \"10.0.0.0/99\"", "10.0.0.0/8")]
#[case("database.synchronous = 'ful'", "database.synchronous", "\"ful\" is not allowed", "did you mean full?")]
#[case("log.format = 'xml'", "log.format", "\"xml\" is not allowed", "one of auto, text, json")]
#[case("http.connections_max = -1", "http.connections_max", "the number -1 is out of range", "a whole number from 1")]
#[case(
    "http.http2_concurrent_streams_max = 5000000000",
    "http.http2_concurrent_streams_max",
    "out of range",
    "to 10000"
)]
#[case("http.drain_timeout_ms = 0", "http.drain_timeout_ms", "0 is too small", "from 1 to")]
#[case("http.header_bytes_max = 100", "http.header_bytes_max", "100 is too small", "from 8192 to")]
#[case("http.trusted_proxy_hops = 17", "http.trusted_proxy_hops", "17 is too large", "from 0 to 16")]
#[case("database.staleness_ms = 1001", "database.staleness_ms", "1001 is too large", "from 0 to 1000")]
#[case("database.slow_statement_ms = 3600001", "database.slow_statement_ms", "too large", "from 0 to 3600000")]
#[case("chain_id = 0", "chain_id", "0 is too small", "such as 3961")]
#[case("activity.heartbeat_s = 0", "activity.heartbeat_s", "0 is too small", "from 1")]
// validation
#[case("base_url = 'gateway.example'", "base_url", "no http or https URL", "https://gateway.example")]
#[case("base_url = 'https://u:p@gateway.example'", "base_url", "no http or https URL", "without user")]
#[case("base_url = 'ftp://gateway.example'", "base_url", "no http or https URL", "")]
#[case("network_name = ''", "network_name", "not one line", "1 to 100")]
#[case("brand.message_line = \"a\\nb\"", "brand.message_line", "not one line", "line breaks")]
#[case("brand.header_prefix = 'X Service'", "brand.header_prefix", "cannot begin a header name", "X-Service")]
#[case("brand.header_prefix = 'X-Service-'", "brand.header_prefix", "cannot begin a header name", "X-Service")]
#[case("brand.marker = '../x'", "brand.marker", "cannot name the manifest", "such as service")]
#[case("database.statement_timeout_ms = 6000", "database.statement_timeout_ms", "more than", "raise")]
#[case("database.url = 'mysql://h/d'", "database.url", "neither sqlite: nor postgres://", "sqlite:./data")]
#[case("database.url = 'sqlite::memory:'", "database.url", "in memory", "name a file")]
#[case("database.url = 'sqlite:'", "database.url", "names no file", "sqlite:./data")]
#[case("database.url = 'sqlite:a.db?mode=rwc'", "database.url", "parameters", "remove them")]
#[case("database.listen_url = 'sqlite:x.db'", "database.listen_url", "no PostgreSQL URL", "postgres://user@host")]
#[case("database.read_urls = ['sqlite:x.db']", "database.read_urls", "no PostgreSQL URL", "postgres://user@host")]
#[case("database.read_urls = ['postgres://h/d']", "database.read_urls", "database.url is no", "that they follow")]
#[case("database.url = 'postgres://h:port/d'", "database.url", "malformed", "percent-encoded")]
#[case("plugins.dir = '/nowhere/plugins'", "plugins.dir", "/nowhere/plugins cannot be read", "create it")]
#[case(
    "http.tls = { certificate = 'a.pem', key = \"-----BEGIN PRIVATE KEY-----\" }",
    "http.tls.key",
    "it is PEM text",
    "name the file"
)]
#[case(
    "base_url = 'http://gateway.example'\nhttp.tls = { certificate = 'a.pem', key = 'b.pem' }",
    "base_url",
    "begins with http://",
    "https://"
)]
#[case("data_dir = '/dev/null/data'", "data_dir", "/dev/null is not a folder", "name another")]
#[case("data_dir = '/dev/null'", "data_dir", "/dev/null cannot be read", "name another")]
#[case(
    "[chains.main]\nrpc = ['http://node:8545', 'http://NODE:8545/']",
    "chains.main.rpc",
    "the address at place 2 is in the list before",
    "name each server once"
)]
#[case("egress.connect_timeout_ms = 20000", "egress.connect_timeout_ms", "more than egress.timeout_ms", "raise")]
#[case(
    "egress.per_answering_destination_concurrency = 7",
    "egress.per_answering_destination_concurrency",
    "(8)",
    "at least"
)]
#[case(
    "egress.per_answering_destination_per_second = 19",
    "egress.per_answering_destination_per_second",
    "(20)",
    "at least"
)]
#[case("egress.allow_hosts = ['http://localhost']", "egress.allow_hosts", "is no host", "localhost")]
#[case("log.level = 'inof'", "log.level", "\"inof\" is no level", "target=level")]
#[case("log.level = 'info,host=lots'", "log.level", "host=lots", "target=level")]
#[case("log.level = ''", "log.level", "empty", "info")]
fn a_wrong_value_is_named(#[case] text: &str, #[case] key: &str, #[case] message: &str, #[case] hint: &str) {
    let start = file(text);
    let problem = start.problem();
    assert_eq!(problem.key, key, "{problem}");
    assert!(problem.message.contains(message), "{problem}");
    assert!(problem.hint.contains(hint), "{problem}");
    assert_eq!(problem.source, Source::File(start.path("gateway.toml")), "{problem}");
}

#[rstest]
#[case("http.connections_max = 10", "http.connections_per_ip_max", "more than http.connections_max (10)", "raise")]
#[case("limits.streams_max = 2", "limits.streams_per_ip_max", "more than limits.streams_max (2)", "raise")]
#[case("http.tls.certificate = 'a.pem'", "http.tls.key", "http.tls.certificate is set", "set both")]
#[case("http.tls.key = 'a.pem'", "http.tls.certificate", "http.tls.key is set", "set both")]
fn values_that_contradict_each_other(#[case] text: &str, #[case] key: &str, #[case] message: &str, #[case] hint: &str) {
    let problem = file(text).problem();
    assert_eq!(problem.key, key, "{problem}");
    assert!(problem.message.contains(message), "{problem}");
    assert!(problem.hint.contains(hint), "{problem}");
}

#[test]
fn a_date_is_text() {
    assert_eq!(file("network_name = 1979-05-27").config().network_name, "1979-05-27");
}

#[rstest]
#[case("127.0.0.1:8080", "127.0.0.1:8080", true)]
#[case("0.0.0.0:8080", "127.0.0.1:8080", true)]
#[case("127.0.0.1:8080", "[::]:8080", true)]
#[case("0.0.0.0:8080", "[::1]:8080", false)]
#[case("127.0.0.1:8080", "127.0.0.2:8080", false)]
#[case("127.0.0.1:8080", "127.0.0.1:8081", false)]
#[case("127.0.0.1:0", "127.0.0.1:0", false)]
#[case("127.0.0.1:8080", "off", false)]
fn two_listeners_need_two_ports(#[case] http: &str, #[case] admin: &str, #[case] clash: bool) {
    let start = file(&format!("http.listen = '{http}'\nadmin.listen = '{admin}'"));
    if clash {
        let problem = start.problem();
        assert_eq!(problem.key, "admin.listen");
        assert!(problem.message.contains("http.listen"), "{problem}");
    } else {
        start.config();
    }
}

#[test]
fn all_problems_are_reported_at_once_and_sorted() {
    let start = file(
        "colour = 'red'\nchain_id = 0\n[http]\nlisten = 'x'\nlisten_port = 3\nbody_timeout_ms = 0\nhttp2 = 3\ncors = 'no'\n\
         [limits]\nallow = ['x']\nstreams_max = -3\n[log]\nlevel = 'loud'\nformat = 'xml'\n[plugins.forum]\nenabled = 3\n",
    )
    .variable("GATEWAY_HTTP__NOTHING_KNOWN", "1")
    .variable("GATEWAY_EGRESS__TIMEOUT_MS", "soon")
    .flags(|flags| flags.admin_listen = Some("nowhere".to_owned()));
    let problems = start.problems();
    let expected = [
        "admin.listen",
        "chain_id",
        "colour",
        "egress.timeout_ms",
        "http.body_timeout_ms",
        "http.cors",
        "http.http2",
        "http.listen",
        "http.listen_port",
        "http.nothing_known",
        "limits.allow",
        "limits.streams_max",
        "log.format",
        "log.level",
        "plugins.forum.enabled",
    ];
    assert_eq!(keys(&problems), expected);
    assert_eq!(problems[0].source, Source::Flag("--admin-listen".to_owned()));
    assert_eq!(problems[3].source, Source::Environment("GATEWAY_EGRESS__TIMEOUT_MS".to_owned()));
}

#[test]
fn the_report_is_for_people() {
    let start = file("http.lisen = '127.0.0.1:1'\nchain_id = 0");
    let path = start.path("gateway.toml");
    let expected = format!(
        "2 problems in the configuration:\n\n  chain_id ({path}): 0 is too small\n    expected: a whole number from 1, such \
         as 3961\n\n  http.lisen ({path}): unknown key in [http]\n    did you mean listen? allowed in [http]: ",
        path = path.display()
    );
    let report = start.load().unwrap_err().to_string();
    assert!(report.starts_with(&expected), "{report}");
}

#[test]
fn the_report_is_for_programs() {
    let problems = file("chain_id = 0").load().unwrap_err();
    let json = serde_json::to_value(&problems).unwrap();
    assert_eq!(json[0]["key"], "chain_id");
    assert!(json[0]["source"].as_str().unwrap().ends_with("gateway.toml"));
    assert_eq!(json[0]["message"], "0 is too small");
    assert!(json[0]["hint"].is_string());
}

#[test]
fn a_wrong_value_that_a_stronger_layer_hides_does_not_matter() {
    let config = file("log.format = 'xml'").variable("GATEWAY_LOG__FORMAT", "json").config();
    assert_eq!(config.log.format, crate::LogFormat::Json);
}

#[test]
fn a_file_that_is_no_toml_says_where_and_the_rest_is_still_checked() {
    let start = file("chain_id = 1\nhttp.listen = \n").variable("GATEWAY_NOTHING_KNOWN", "1");
    let problems = start.problems();
    assert_eq!(keys(&problems), ["config", "nothing_known"]);
    assert_eq!(problems[0].source, Source::File(start.path("gateway.toml")));
    assert!(problems[0].message.contains("line 2"), "{}", problems[0]);
}

#[test]
fn a_key_twice_is_refused() {
    let problem = file("chain_id = 1\nchain_id = 2\n").problem();
    assert!(problem.message.contains("duplicate"), "{problem}");
}

#[test]
fn a_configuration_made_in_code_is_validated_too() {
    let mut config = Config::default();
    assert_eq!(config.validate(), Ok(()));
    config.http.idle_timeout_ms = 0;
    config.log.level = "loud".to_owned();
    let problems: Vec<Problem> = config.validate().unwrap_err().iter().cloned().collect();
    assert_eq!(keys(&problems), ["http.idle_timeout_ms", "log.level"]);
    assert_eq!(problems[0].source, Source::Default);
}

#[test]
fn a_folder_as_file_is_refused() {
    let start = ConfigFixture::new();
    let folder = start.path(".");
    let problem = start.flags(|flags| flags.config = Some(folder)).problem();
    assert!(problem.message.contains("cannot be read"), "{problem}");
}
