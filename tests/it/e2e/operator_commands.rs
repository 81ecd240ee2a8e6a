//! Commands that an operator types from the first day on: init, status, config show, completions, man.

use super::{setup, site::Site};
use gateway_tests::process::LIMIT;
use plugin_testing::{Value, json};
use reqwest::Method;
use rstest::rstest;
use std::{fs, os::unix::fs::PermissionsExt as _, path::Path};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap_or_else(|error| panic!("{}: {error}", path.display())).permissions().mode() & 0o777
}

/// No colour and no other escape where nobody looks at a terminal.
fn assert_plain(text: &str) {
    assert!(!text.contains('\u{1b}') && text.ends_with('\n'), "{text:?}");
}

#[test]
fn init_writes_a_documented_configuration_and_a_key_and_overwrites_nothing() {
    let setup = setup();
    let folder = setup.folder().join("new");
    let shown = folder.display().to_string();
    let made = setup.run(&["init", &shown]).unwrap();
    assert_eq!(made.code, Some(0), "{made:?}");
    assert_plain(&made.stdout);
    let (config, key) = (folder.join("config/gateway.toml"), folder.join("data/gateway.key"));
    let documented = Path::new(env!("CARGO_MANIFEST_DIR")).join("../config/gateway.toml");
    assert_eq!(fs::read_to_string(&config).unwrap(), fs::read_to_string(documented).unwrap());
    assert_eq!((mode(&folder.join("data")), mode(&key)), (0o700, 0o600));
    assert!(made.stdout.contains("gateway check") && made.stdout.contains("0x"), "{}", made.stdout);

    let before = (fs::read(&config).unwrap(), fs::read(&key).unwrap());
    let again = setup.run(&["init", &shown]).unwrap();
    assert_eq!((again.code, again.stdout.as_str()), (Some(1), ""), "{again:?}");
    assert!(again.stderr.contains("nothing is overwritten"), "{again:?}");
    assert_eq!((fs::read(&config).unwrap(), fs::read(&key).unwrap()), before);
    // A key of before is kept, and what the gateway signs with.
    fs::remove_file(&config).unwrap();
    let kept = setup.run(&["init", &shown, "--json"]).unwrap().json().unwrap();
    assert!(made.stdout.contains(kept["signer"].as_str().unwrap()), "{kept}");
}

#[tokio::test]
async fn status_names_what_is_not_well_and_its_code_is_for_scripts() {
    let mut gateway = setup().set("plugins.required", "forum").start().await.unwrap();
    let (setup, admin) = (gateway.setup().clone(), gateway.admin_url().to_owned());
    let status = |more: &[&str]| setup.run(&[&["status", "--admin", &admin], more].concat()).unwrap();
    let well = status(&[]);
    assert_eq!(well.code, Some(0), "{well:?}");
    assert_plain(&well.stdout);
    assert!(
        well.stdout.contains("ready      yes\n") && well.stdout.contains("plugins    4 serving\n"),
        "{}",
        well.stdout
    );

    let lines: Vec<&str> = well.stdout.lines().collect();
    let replicas = lines.iter().position(|line| *line == "replicas   1, 0 silent").unwrap();
    assert!(lines[replicas + 1].contains("REPLICA") && lines[replicas + 2].contains("this one"), "{}", well.stdout);

    let disable = async |plugin: &str| {
        let path = format!("/plugins/{plugin}/disable");
        let request = Site::at(&admin).request(Method::POST, &path).header("x-gateway-admin", "1");
        assert_eq!(request.send().await.unwrap().status(), 200, "{plugin}");
    };
    disable("hello").await;
    let one_off = status(&[]);
    assert_eq!(one_off.code, Some(0), "nobody requires hello: {one_off:?}");
    assert!(one_off.stdout.contains("3 serving, 1 disabled\n"), "{}", one_off.stdout);
    assert!(one_off.stdout.contains("hello: disabled (switched off by an operator)\n"), "{}", one_off.stdout);
    disable("forum").await;
    let not_ready = status(&["--json"]);
    assert_eq!(not_ready.code, Some(5), "{not_ready:?}");
    let said = not_ready.json().unwrap();
    assert_eq!(said["ready"]["ok"], json!(false), "{said}");
    assert!(said["ready"]["plugins"][0].as_str().unwrap().contains("forum"), "{said}");
    let this = &said["replicas"][0];
    assert_eq!((&this["isThis"], &this["plugins"]["forum"]), (&json!(true), &json!("disabled")), "{said}");
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap();
    let port = gateway.address().rsplit(':').next().unwrap().to_owned();
    assert_eq!(this["address"], json!(format!("{}:{port}", machine.trim())), "{said}");

    gateway.terminate(LIMIT).await.unwrap();
    let gone = status(&[]);
    assert_eq!((gone.code, gone.stdout.as_str()), (Some(1), ""), "{gone:?}");
    assert!(gone.stderr.contains("no gateway answers at"), "{gone:?}");
}

#[test]
fn config_show_says_where_each_value_comes_from_and_hides_secrets() {
    let setup = setup().with_config("[http]\nidle_timeout_ms = 5000\n").unwrap();
    let secret = "ab".repeat(32);
    let variables = [("GATEWAY_SECRETS__KEY", secret.as_str())];
    let text = setup.run_with(&["config", "show"], &variables).unwrap();
    assert_eq!(text.code, Some(0), "{text:?}");
    assert_plain(&text.stdout);
    assert!(!text.stdout.contains(&secret), "{}", text.stdout);
    let line = |key: &str| {
        let found = text.stdout.lines().find(|line| line.starts_with(&format!("{key} = ")));
        found.unwrap_or_else(|| panic!("{key} is missing in\n{}", text.stdout)).to_owned()
    };
    assert!(line("http.idle_timeout_ms").contains("5000") && line("http.idle_timeout_ms").ends_with("/gateway.toml"));
    assert!(line("http.listen").ends_with("# environment variable GATEWAY_HTTP__LISTEN"));
    assert!(line("http.body_bytes_max").ends_with("# default"));
    assert!(line("secrets.key").contains("(set, not shown)"));
    let set = setup.run(&["config", "show", "--set", "--json"]).unwrap().json().unwrap();
    let sources: Vec<&Value> = set.as_array().unwrap().iter().map(|value| &value["source"]).collect();
    assert!(!sources.is_empty() && !sources.contains(&&json!("default")), "{set}");
    let wrong = setup.run_with(&["config", "show"], &[("GATEWAY_LOG__LEVEL", "loud")]).unwrap();
    assert_eq!((wrong.code, wrong.stdout.as_str()), (Some(3), ""), "{wrong:?}");
}

#[rstest]
#[case::on_a_terminal("", true)]
#[case::unless_forbidden("1", false)]
fn the_log_has_colours(#[case] no_color: &str, #[case] expected: bool) {
    let printed = setup().run_on_terminal(&["run"], &[("NO_COLOR", no_color)], "INFO").unwrap();
    assert!(printed.contains("INFO"), "{printed}");
    assert_eq!(printed.contains('\u{1b}'), expected, "{printed:?}");
}

#[test]
fn completions_and_manual_pages_know_every_command() {
    let setup = setup();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = setup.run(&["completions", shell]).unwrap();
        assert_eq!((script.code, script.stderr.as_str()), (Some(0), ""), "{shell}");
        assert!(script.stdout.contains("mark-restored") && script.stdout.contains("reindex"), "{shell}");
    }
    assert_eq!(setup.run(&["completions", "cmd"]).unwrap().code, Some(2));
    let folder = setup.folder().join("man");
    let pages = setup.run(&["man", &folder.display().to_string(), "--json"]).unwrap().json().unwrap();
    assert!(pages["pages"].as_array().unwrap().len() > 20, "{pages}");
    let page = fs::read_to_string(folder.join("gateway-plugins-list.1")).unwrap();
    assert!(page.starts_with(".ie") && page.contains("\\-\\-admin"), "{page}");
    assert!(fs::read_to_string(folder.join("gateway.1")).unwrap().contains("the configuration has problems"));
}
