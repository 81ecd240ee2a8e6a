//! What operators install: unit, samples, alerts and dashboard in `config/packaging`, judged by the programs that will read them.
//!
//! The rule: a program that this machine does not have is named and its check is left out; docs/packaging.md lists them.

use crate::e2e::{Site, check_jsonschema, setup};
use gateway_tests::process::LIMIT;
use plugin_testing::TestGateway;
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};
use tempfile::TempDir;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/packaging").canonicalize().unwrap()
}

fn read(file: &str) -> String {
    fs::read_to_string(folder().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"))
}

/// The program, or `None` with a line that says what is not checked here.
fn program(name: &str, variable: &str) -> Option<PathBuf> {
    let named = std::env::var_os(variable).map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).chain([PathBuf::from("/usr/sbin")]);
    let found = named.or_else(|| folders.map(|folder| folder.join(name)).find(|file| file.is_file()));
    if found.is_none() {
        eprintln!("skipped: {name} is not installed (or named by {variable})");
    }
    found
}

#[track_caller]
fn succeeds(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{command:?}\n{said}\n{complained}");
    output
}

/// The unit with a program that is there, because systemd looks for it.
fn unit_for_this_machine() -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let unit = folder.path().join("gateway.service");
    fs::write(&unit, read("systemd/gateway.service").replace("/usr/bin/gateway", "/bin/true")).unwrap();
    (folder, unit)
}

#[test]
fn systemd_finds_nothing_wrong_with_the_unit_and_calls_it_hardened() {
    let Some(analyze) = program("systemd-analyze", "SYSTEMD_ANALYZE") else { return };
    let (_folder, unit) = unit_for_this_machine();
    let verified = succeeds(Command::new(&analyze).args(["verify", "--man=no"]).arg(&unit));
    let complaints = String::from_utf8_lossy(&verified.stderr).into_owned();
    // What is said about other units of the machine is not ours.
    assert!(!complaints.contains("gateway.service"), "{complaints}");
    // Of 100; a unit without any hardening has 96.
    let judge = ["security", "--offline=true", "--no-pager", "--threshold=20"];
    succeeds(Command::new(&analyze).args(judge).arg(&unit));
}

/// Longer than the gateway takes to stop by itself, so that systemd and Docker do not kill it while it drains.
#[test]
fn a_stop_has_the_time_that_the_gateway_needs() {
    let drain_s = gateway_config::Config::default().http.drain_timeout_ms / 1000;
    let needed_s = 3 * drain_s + 15;
    let seconds = |file: &str, label: &str| -> u64 {
        let line = read(file).lines().find_map(|line| line.trim().strip_prefix(label).map(str::to_owned));
        line.unwrap_or_else(|| panic!("{file} has no {label}")).trim_end_matches('s').trim().parse().unwrap()
    };
    assert!(seconds("systemd/gateway.service", "TimeoutStopSec=") >= needed_s);
    assert!(seconds("docker/compose.yaml", "stop_grace_period:") >= needed_s);
}

/// Samples of web servers fit the gateway's own limits.
#[test]
fn the_samples_wait_longer_than_the_gateway_and_take_what_it_takes() {
    let config = gateway_config::Config::default();
    let (body_kib, request_s) = (config.http.body_bytes_max / 1024, config.http.request_timeout_ms / 1000);
    for file in ["nginx/gateway.conf", "docker/nginx.conf"] {
        let text = read(file);
        assert!(text.contains(&format!("client_max_body_size {body_kib}k;")), "{file}");
        let wait = text.split("proxy_read_timeout ").nth(1).and_then(|rest| rest.split('s').next()).unwrap();
        let wait: u64 = wait.parse().unwrap();
        assert!(wait > request_s && wait > config.activity.heartbeat_s, "{file}: {wait}");
        assert!(text.contains("proxy_buffering off;") && text.contains("X-Forwarded-For"), "{file}");
        let idle = text.split("keepalive_timeout ").nth(1).and_then(|rest| rest.split('s').next()).unwrap();
        assert!(idle.parse::<u64>().unwrap() * 1000 < config.http.idle_timeout_ms, "{file}: {idle}");
    }
    let caddy = read("caddy/Caddyfile");
    assert!(caddy.contains(&format!("max_size {body_kib}KiB")) && caddy.contains("flush_interval -1"), "{caddy}");
}

#[test]
fn nginx_takes_the_samples() {
    let nginx = program("nginx", "NGINX").expect("nginx is installed by .ci/run");
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let mut certificate = Command::new("openssl");
    certificate.args(["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]);
    certificate.args(["-subj", "/CN=gateway.example", "-keyout", &at("privkey.pem"), "-out", &at("fullchain.pem")]);
    succeeds(&mut certificate);
    for file in ["nginx/gateway.conf", "docker/nginx.conf"] {
        let sample = read(file).replace("/etc/ssl/gateway", &folder.path().display().to_string());
        // The names of the compose file are known in its network only.
        let sample =
            (1..=3).fold(sample, |sample, n| sample.replace(&format!("server gateway{n}:"), "server 127.0.0.1:"));
        fs::write(at("sample.conf"), sample).unwrap();
        let whole =
            format!("pid {};\nevents {{}}\nhttp {{ access_log off; include {}; }}\n", at("pid"), at("sample.conf"));
        fs::write(at("nginx.conf"), whole).unwrap();
        succeeds(Command::new(&nginx).args(["-t", "-p", &at(""), "-e", &at("error.log"), "-c", &at("nginx.conf")]));
    }
}

#[test]
fn caddy_takes_the_sample() {
    let Some(caddy) = program("caddy", "CADDY") else { return };
    let home = tempfile::tempdir().unwrap();
    let mut validate = Command::new(caddy);
    validate.args(["validate", "--adapter", "caddyfile", "--config"]).arg(folder().join("caddy/Caddyfile"));
    succeeds(validate.env("HOME", home.path()));
}

#[test]
fn prometheus_takes_the_alerts() {
    let Some(promtool) = program("promtool", "PROMTOOL") else { return };
    succeeds(Command::new(promtool).args(["check", "config"]).arg(folder().join("prometheus/scrape.yml")));
}

#[test]
fn the_compose_file_fits_the_compose_specification() {
    let folder = tempfile::tempdir().unwrap();
    let check = |text: &str| {
        let file = folder.path().join("compose.yaml");
        fs::write(&file, text).unwrap();
        check_jsonschema().args(["--builtin-schema", "vendor.compose-spec"]).arg(file).output().unwrap()
    };
    let text = read("docker/compose.yaml");
    for hardening in ["read_only: true", "cap_drop: [ALL]"] {
        assert!(text.contains(hardening), "the gateways have {hardening}");
    }
    let right = check(&text);
    assert!(right.status.success(), "{}", String::from_utf8_lossy(&right.stdout));
    let wrong = check(&text.replace("condition: service_healthy", "condition: service_is_well"));
    assert!(String::from_utf8_lossy(&wrong.stdout).contains("$.services.gateway1.depends_on"), "{wrong:?}");
}

/// Docker resolves what the schema does not know, without a daemon.
#[test]
fn docker_takes_the_compose_file() {
    let Some(docker) = program("docker", "DOCKER") else { return };
    let has_compose = Command::new(&docker).args(["compose", "version"]).output().unwrap().status.success();
    if !has_compose {
        return eprintln!("skipped: docker has no compose");
    }
    succeeds(
        Command::new(docker).args(["compose", "-f"]).arg(folder().join("docker/compose.yaml")).args(["config", "-q"]),
    );
}

/// The image is made from the folder of `cargo xtask dist`, which has no other files.
#[test]
fn the_image_copies_what_dist_makes() {
    let file = read("docker/Dockerfile");
    let copied: BTreeSet<&str> = file
        .lines()
        .filter(|line| line.starts_with("COPY "))
        .filter_map(|line| line.split_whitespace().nth(2))
        .collect();
    assert_eq!(copied, BTreeSet::from(["config/gateway.toml", "gateway", "plugins"]));
    assert!(file.contains("\nUSER 10001:10001\n"), "it does not run as root");
}

/// Words that begin as metrics of the gateway or its process do.
fn metrics_in(text: &str) -> BTreeSet<String> {
    let words = text.split(|character: char| !character.is_ascii_alphanumeric() && character != '_');
    words.filter(|word| word.starts_with("gateway_") || word.starts_with("process_")).map(str::to_owned).collect()
}

/// What the PromQL of alerts and dashboard names.
fn named_metrics() -> BTreeSet<String> {
    let dashboard: serde_json::Value = serde_json::from_str(&read("grafana/gateway.json")).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let mut named: BTreeSet<String> = targets.flat_map(|target| metrics_in(target["expr"].as_str().unwrap())).collect();
    let alerts = read("prometheus/alerts.yml");
    named.extend(metrics_in(&alerts));
    named
}

/// Also of what has no sample yet: a scrape names every metric with its kind and meaning from the start on.
#[tokio::test]
async fn alerts_and_dashboard_name_metrics_that_a_running_gateway_has() {
    let gateway = setup().start().await.unwrap();
    let operator = Site::at(gateway.admin_url());
    let text = operator.get("/metrics").await.text();
    let kinds: Vec<(&str, &str)> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' ')).collect();
    let mut known = BTreeSet::new();
    for (name, kind) in &kinds {
        assert!(text.contains(&format!("# HELP {name} ")), "{name} has no HELP");
        let is_ours = ["gateway_", "process_", "plugin_"].iter().any(|prefix| name.starts_with(prefix));
        assert!(is_ours, "{name} has another prefix");
        known.insert((*name).to_owned());
        if *kind == "histogram" {
            known.extend(["bucket", "sum", "count"].map(|part| format!("{name}_{part}")));
        }
    }
    let named = named_metrics();
    assert!(named.len() > 25, "{named:?}");
    let unknown: Vec<_> = named.difference(&known).collect();
    assert!(unknown.is_empty(), "no gateway has {unknown:?}");
    assert!(text.contains("gateway_build_info{version=\""), "{text}");
}

/// What an operator reads on the terminal and in the journal.
#[tokio::test]
async fn the_log_says_what_an_operator_has_to_know_and_no_empty_lines() {
    let gateway = setup().set("log.level", "info").start().await.unwrap();
    let site = Site::of(&gateway);
    for _ in 0..2 {
        let forwarded = site.request(reqwest::Method::GET, "/api/health").header("x-forwarded-for", "203.0.113.7");
        assert_eq!(forwarded.send().await.unwrap().status(), 200);
    }
    gateway.sighup().unwrap();
    let is_read = async || gateway.setup().log().contains("the configuration is read again");
    TestGateway::eventually(LIMIT, "the configuration is read again", is_read).await;
    let in_audit = async || Site::at(gateway.admin_url()).get("/audit").await.text().contains("SIGHUP");
    TestGateway::eventually(LIMIT, "the reload is complete", in_audit).await;
    let log = gateway.setup().log();
    assert_eq!(log.matches("X-Forwarded-For arrives").count(), 1, "once, with the remedy:\n{log}");
    let lines: Vec<serde_json::Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(lines.len() > 3, "{log}");
    let empty: Vec<_> = lines.iter().filter(|line| line["message"] == "").collect();
    assert!(empty.is_empty(), "{empty:?}");
    let latencies: Vec<f64> = lines.iter().filter_map(|line| line["latency_ms"].as_f64()).collect();
    assert!(!latencies.is_empty(), "{log}");
    for latency_ms in latencies {
        let shown = latency_ms.to_string();
        let digits = shown.split_once('.').map_or(0, |(_, fraction)| fraction.len());
        assert!(digits <= 3, "{shown} ms");
    }
}
