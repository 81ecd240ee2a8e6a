//! Defaults < file < environment < flags, and which file is read.

use std::{net::SocketAddr, path::Path};

use super::{ConfigFixture, file, variable};
use crate::{Config, Source};

fn port(config: &Config) -> u16 {
    config.http.listen.port()
}

#[test]
fn each_layer_overrides_the_one_before() {
    let text = "http.listen = '127.0.0.1:2'";
    assert_eq!(port(&ConfigFixture::new().config()), 8080);
    assert_eq!(port(&file(text).config()), 2);
    let with_variable = file(text).variable("GATEWAY_HTTP__LISTEN", "127.0.0.1:3");
    assert_eq!(port(&with_variable.config()), 3);
    let with_flag = with_variable.flags(|flags| flags.listen = Some("127.0.0.1:4".to_owned()));
    assert_eq!(port(&with_flag.config()), 4);
}

#[test]
fn layers_meet_key_by_key() {
    let config = file("[http]\nhttp2 = false\nconnections_max = 900\n")
        .variable("GATEWAY_HTTP__CONNECTIONS_MAX", "800")
        .config();
    assert!(!config.http.http2, "from the file");
    assert_eq!(config.http.connections_max, 800, "from the environment");
    assert_eq!(config.http.body_bytes_max, 262_144, "the default");
}

#[test]
fn every_flag_sets_its_key() {
    let start = ConfigFixture::new();
    let (data, plugins) = (start.path("data"), start.path("."));
    let config = start
        .flags(|flags| {
            flags.listen = Some("127.0.0.1:4".to_owned());
            flags.admin_listen = Some("off".to_owned());
            flags.data_dir = Some(data.display().to_string());
            flags.plugins_dir = Some(plugins.display().to_string());
            flags.database_url = Some("postgres://host/name".into());
            flags.log_level = Some("debug".to_owned());
        })
        .config();
    assert_eq!(port(&config), 4);
    assert_eq!(config.admin.listen, None);
    assert_eq!(config.data_dir, data);
    assert_eq!(config.plugins.folder().unwrap(), plugins);
    assert!(matches!(config.database_target(), Ok(crate::DatabaseTarget::Postgres(_))));
    assert_eq!(config.log.level, "debug");
    assert_eq!(config.sources().of("admin.listen"), Source::Flag("--admin-listen".to_owned()));
}

#[test]
fn each_key_knows_its_layer() {
    let start =
        file("[http]\nhttp2 = false\n[plugins.forum.quota]\nper_day = 4\n").variable("GATEWAY_LOG__LEVEL", "warn");
    let config = start.config();
    let from_file = Source::File(start.path("gateway.toml"));
    let sources = config.sources();
    assert_eq!(sources.of("http.http2"), from_file);
    assert_eq!(sources.of("log.level"), Source::Environment("GATEWAY_LOG__LEVEL".to_owned()));
    assert_eq!(sources.of("http.listen"), Source::Default);
    assert_eq!(sources.of("plugins.forum"), from_file, "a section takes the place of its keys");
    assert_eq!(config.file(), Some(start.path("gateway.toml").as_path()));
}

#[test]
fn a_file_named_by_flag_wins_over_one_named_by_variable_over_a_candidate() {
    let start = file("chain_id = 1");
    std::fs::write(start.path("by_variable.toml"), "chain_id = 2").unwrap();
    std::fs::write(start.path("by_flag.toml"), "chain_id = 3").unwrap();
    let (by_variable, by_flag) = (start.path("by_variable.toml"), start.path("by_flag.toml"));
    assert_eq!(start.config().chain_id, 1);
    let start = start.variable("GATEWAY_CONFIG", by_variable.to_str().unwrap());
    assert_eq!(start.config().chain_id, 2);
    let start = start.flags(|flags| flags.config = Some(by_flag));
    assert_eq!(start.config().chain_id, 3);
}

#[test]
fn a_named_file_must_be_there() {
    let by_variable = variable("GATEWAY_CONFIG", "/nowhere/gateway.toml").problem();
    assert_eq!(by_variable.key, "config");
    assert_eq!(by_variable.source, Source::Environment("GATEWAY_CONFIG".to_owned()));
    assert!(by_variable.message.contains("/nowhere/gateway.toml"), "{by_variable}");
    let by_flag = ConfigFixture::new().flags(|flags| flags.config = Some("/nowhere/b.toml".into())).problem();
    assert_eq!(by_flag.source, Source::Flag("--config".to_owned()));
}

#[test]
fn without_any_file_the_defaults_hold() {
    let config = ConfigFixture::new().config();
    assert_eq!(config.file(), None);
    assert_eq!(format!("{config:?}"), format!("{:?}", Config::default()));
}

#[test]
fn relative_paths_start_in_the_working_folder_not_beside_the_file() {
    let config = file("data_dir = 'var/x'").config();
    assert_eq!(config.data_dir, Path::new("var/x"));
    let target = config.database_target().unwrap();
    assert!(matches!(target, crate::DatabaseTarget::Sqlite(path) if path == Path::new("var/x/gateway.db")));
}

#[test]
fn plugins_are_looked_for_beside_the_binary() {
    let beside = std::env::current_exe().unwrap();
    assert_eq!(Config::default().plugins.folder().unwrap(), beside.parent().unwrap());
}

#[test]
fn the_public_url_follows_the_bound_address_unless_it_is_set() {
    let url = |text: &str, bound: &str| file(text).config().public_url(bound.parse::<SocketAddr>().unwrap());
    assert_eq!(url("", "127.0.0.1:1234"), "http://127.0.0.1:1234");
    assert_eq!(url("", "0.0.0.0:1234"), "http://localhost:1234");
    assert_eq!(url("base_url = 'https://a.example/'", "127.0.0.1:1234"), "https://a.example");
}
