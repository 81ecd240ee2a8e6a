//! `Config::effective`: each key with its source, and no secret.

use super::super::{Config, Overrides, Source};

#[test]
fn each_key_says_where_it_comes_from_and_no_secret_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("gateway.toml");
    let toml = "[http]\nidle_timeout_ms = 5000\n[chains.main]\nchain_id = 3961\nrpc = [\"https://rpc.example/v3/hunter2\"]\n\
                [plugins.a2a]\nenabled = true\nupstream_secret = \"hunter2hunter2hunter2\"\n";
    std::fs::write(&file, toml).unwrap();
    let flags =
        Overrides { config: Some(file.clone()), listen: Some("127.0.0.1:9".to_owned()), ..Overrides::default() };
    let variables = [
        ("GATEWAY_DATABASE__URL", "postgres://gateway:hunter2@host/db"),
        ("GATEWAY_DATABASE__READ_URLS", "postgres://gateway:hunter2@standby/db"),
        ("GATEWAY_SECRETS__KEY", "1234567890abcdef1234567890abcdef1234567890abcdef1234567890hunter2"),
        ("GATEWAY_LIMITS__STREAMS_MAX", "9"),
    ];
    let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
    let config = Config::load_from(&flags, variables, &[]).unwrap();
    let values = config.effective();
    let text = serde_json::to_string(&values).unwrap();
    assert!(!text.contains("hunter2"), "{text}");
    let of = |key: &str| {
        let value = values.iter().find(|value| value.key == key).unwrap_or_else(|| panic!("{key} is missing: {text}"));
        (value.value.to_string(), value.source.clone(), value.is_hidden)
    };
    let environment = |name: &str| Source::Environment(name.to_owned());
    assert_eq!(of("http.idle_timeout_ms"), ("5000".to_owned(), Source::File(file.clone()), false));
    assert_eq!(of("http.listen"), ("\"127.0.0.1:9\"".to_owned(), Source::Flag("--listen".to_owned()), false));
    assert_eq!(of("limits.streams_max").1, environment("GATEWAY_LIMITS__STREAMS_MAX"));
    assert_eq!(of("http.body_bytes_max"), ("262144".to_owned(), Source::Default, false));
    assert!(of("chains.main.rpc").2, "its URL may hold a key");
    assert_eq!(of("plugins.a2a.enabled").0, "true");
    assert_eq!(of("plugins.a2a.upstream_secret"), ("null".to_owned(), Source::File(file), true));
    assert_eq!(of("database.url"), ("null".to_owned(), environment("GATEWAY_DATABASE__URL"), true));
    assert_eq!(of("database.read_urls"), ("null".to_owned(), environment("GATEWAY_DATABASE__READ_URLS"), true));
    assert_eq!(of("secrets.key"), ("null".to_owned(), environment("GATEWAY_SECRETS__KEY"), true));
    assert!(values.is_sorted_by(|one, next| one.key < next.key), "sorted, each once: {text}");
}
