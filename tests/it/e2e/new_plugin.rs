//! `gateway plugins new`: what it writes, and what it leaves as it is. That the plugin works is tested by `plugin_outside`.

use super::setup;
use gateway_tests::process::{CommandOutput, Setup};
use plugin_api::abi::{ABI_MAJOR, ABI_MINOR};
use plugin_testing::json;
use std::{fs, path::Path};

const OK: Option<i32> = Some(0);
const FAILURE: Option<i32> = Some(1);
const USAGE: Option<i32> = Some(2);

fn new(setup: &Setup, arguments: &[&str]) -> CommandOutput {
    setup.run(&[&["plugins", "new"], arguments].concat()).unwrap()
}

fn entries(folder: &Path) -> usize {
    fs::read_dir(folder).unwrap().count()
}

#[test]
fn a_plugin_is_written_and_the_next_steps_are_printed() {
    let setup = setup();
    let made = new(&setup, &["price_feed", "--dir", "a/b"]);
    assert_eq!(made.code, OK, "{made:?}");
    for said in [
        "a/b/price_feed is a plugin now",
        "src/routes/create_note.rs",
        "cargo test",
        "gateway plugins enable price_feed",
    ] {
        assert!(made.stdout.contains(said), "{said} is missing in {}", made.stdout);
    }
    let folder = setup.folder().join("a/b/price_feed");
    let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let (plugin_api, kit) = (format!("{ABI_MAJOR}.{ABI_MINOR}"), env!("CARGO_PKG_VERSION"));
    for (package, version) in [("plugin-api", plugin_api.as_str()), ("plugin-test-kit", kit)] {
        let line = format!("\n{package} = {{ version = \"{version}\" }}\n");
        assert!(manifest.contains(&line), "{line} is missing in {manifest}");
    }
    assert!(fs::read_to_string(folder.join("src/lib.rs")).unwrap().contains("export_plugin!(PriceFeed);"));
    assert!(fs::read_to_string(folder.join("README.md")).unwrap().contains("cp target/release/libprice_feed.so"));

    let told = new(&setup, &["weather", "--json"]).json().unwrap();
    assert_eq!((&told["name"], &told["folder"]), (&json!("weather"), &json!("./weather")));
    assert!(told["files"].as_array().unwrap().contains(&json!("tests/notes.rs")), "{told}");
    assert_eq!(told["next"][1], "cargo test");
}

#[test]
fn the_dependencies_are_those_of_the_folder_that_is_named() {
    let setup = setup();
    let plugin_api = Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugin-api").canonicalize().unwrap();
    assert_eq!(new(&setup, &["notes", "--plugin-api", plugin_api.to_str().unwrap()]).code, OK);
    let manifest = fs::read_to_string(setup.folder().join("notes/Cargo.toml")).unwrap();
    for (package, folder) in [("plugin-api", plugin_api.clone()), ("plugin-test-kit", plugin_api.join("test-kit"))] {
        let line = format!("\n{package} = {{ path = \"{}\" }}\n", folder.display());
        assert!(manifest.contains(&line), "{line} is missing in {manifest}");
    }

    let refused = new(&setup, &["other", "--plugin-api", "/tmp"]);
    assert_eq!(refused.code, USAGE, "{refused:?}");
    assert!(refused.stderr.contains("/tmp is not the folder of the package plugin-api"), "{}", refused.stderr);
    assert!(!setup.folder().join("other").exists());
}

#[test]
fn it_needs_no_configuration_and_no_valid_one() {
    for config in ["", "[http]\nlissen = 1\n", "no TOML at all"] {
        let setup = setup().with_config(config).unwrap().set("log.level", "loud");
        let made = new(&setup, &["notes"]);
        assert_eq!((made.code, made.stderr.as_str()), (OK, ""), "{config:?}");
    }
    let setup = setup().set("config", "/no/such/file.toml");
    assert_eq!(new(&setup, &["notes"]).code, OK);
    assert_eq!(setup.run(&["check"]).unwrap().code, Some(3), "the file is missed by commands that need it");
}

#[test]
fn nothing_is_overwritten() {
    let setup = setup();
    fs::create_dir(setup.folder().join("notes")).unwrap();
    fs::write(setup.folder().join("notes/mine"), "mine").unwrap();
    fs::write(setup.folder().join("paper"), "mine").unwrap();
    std::os::unix::fs::symlink("/no/such/folder", setup.folder().join("link")).unwrap();
    for name in ["notes", "paper", "link"] {
        let refused = new(&setup, &[name]);
        assert_eq!(refused.code, FAILURE, "{refused:?}");
        assert!(
            refused.stderr.contains(&format!("./{name} exists already: choose another name")),
            "{}",
            refused.stderr
        );
    }
    assert_eq!(entries(&setup.folder().join("notes")), 1);
    assert_eq!(fs::read_to_string(setup.folder().join("paper")).unwrap(), "mine");
}

#[test]
fn a_name_that_no_plugin_can_have_is_refused_with_the_reason() {
    let setup = setup();
    let before = entries(setup.folder());
    for (name, reason) in [
        ("My-Plugin", "is no plugin name: a-z, 0-9 and _"),
        ("../notes", "is no plugin name"),
        ("", "is no plugin name"),
        ("async", "a word of Rust"),
        ("serde", "a crate that plugins use"),
        ("host", "belongs to the gateway and its databases"),
        ("pg_stats", "belongs to the gateway and its databases"),
    ] {
        let refused = new(&setup, &[name]);
        assert_eq!((refused.code, refused.stdout.as_str()), (USAGE, ""), "{refused:?}");
        assert!(refused.stderr.contains(reason), "{name}: {}", refused.stderr);
    }
    assert_eq!(entries(setup.folder()), before);
}
