//! No route without its tests: each operation of each plugin has a file of its own, with the good way and what it refuses.
//!
//! What must stand in the file follows from what the route itself declares. It is a search for words, which shows what was
//! forgotten; whether a test is a good one, its reader sees.

use gateway_plugins::{LoadedPlugin, loading::open};
use gateway_tests::plugins::plugin_file;
use plugin_api::manifest::{Auth, RouteSpec};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn plugins_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins")
}

pub fn plugins() -> Vec<String> {
    let entries = fs::read_dir(plugins_folder()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() >= 3, "{names:?}");
    names
}

fn routes(plugin: &str) -> Vec<RouteSpec> {
    let data_dir = tempfile::tempdir().unwrap();
    let file = open(&plugin_file(plugin).unwrap(), None).unwrap();
    LoadedPlugin::load(&file, data_dir.path()).unwrap().manifest.routes.clone()
}

/// What the file of an operation must have, and has not.
fn gaps(route: &RouteSpec, tests: &str) -> Vec<&'static str> {
    let is_signed = !matches!(route.auth, Auth::Public | Auth::Own { .. });
    let is_written = matches!(route.auth, Auth::SignedBody { .. });
    let has = |text: &str| tests.contains(text);
    let demands = [
        (true, has("#[tokio::test") || has("#[test]"), "has no test"),
        (is_signed, has("401"), "sees no request without a good signature (401)"),
        (is_written, has("400") || has("413"), "sees no payload that breaks a rule (400, 413)"),
        (route.parent.is_some(), has("404"), "sees no parent that is not there (404)"),
    ];
    demands.into_iter().filter(|(is_due, is_met, _)| *is_due && !is_met).map(|(_, _, gap)| gap).collect()
}

/// Errors that a plugin declares and that none of its tests sees, by status and code.
fn unseen(routes: &[RouteSpec], tests: &str) -> BTreeSet<(u16, String)> {
    let answers = routes.iter().flat_map(|route| &route.answers).filter(|answer| answer.status >= 400);
    let errors = answers.flat_map(|answer| answer.codes.iter().map(|code| (answer.status, code.clone())));
    let is_seen = |code: &str| tests.contains(&format!("\"{code}\""));
    errors.filter(|(status, code)| !is_seen(code) || !tests.contains(&status.to_string())).collect()
}

fn read_tests(plugin: &str, file: &str) -> Option<String> {
    fs::read_to_string(plugins_folder().join(plugin).join("tests/it").join(file)).ok()
}

fn all_tests(plugin: &str) -> String {
    let folder = fs::read_dir(plugins_folder().join(plugin).join("tests/it")).unwrap();
    folder.map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn every_operation_has_its_tests() {
    let mut found = Vec::new();
    for plugin in plugins() {
        for route in routes(&plugin) {
            let file = format!("{}.rs", route.operation);
            let place = format!("plugins/{plugin}/tests/it/{file}");
            match read_tests(&plugin, &file) {
                Some(tests) => found.extend(gaps(&route, &tests).into_iter().map(|gap| format!("{place} {gap}"))),
                None => found.push(format!("{place} is missing")),
            }
        }
    }
    assert!(found.is_empty(), "operations lack tests:\n  {}", found.join("\n  "));
}

#[test]
fn every_declared_error_is_seen() {
    let mut found = Vec::new();
    for plugin in plugins() {
        let unseen = unseen(&routes(&plugin), &all_tests(&plugin));
        found.extend(unseen.into_iter().map(|(status, code)| format!("plugins/{plugin}/tests/it: {status} {code}")));
    }
    assert!(found.is_empty(), "errors that no test sees:\n  {}", found.join("\n  "));
}

#[test]
fn gaps_are_found() {
    let routes = routes("forum");
    let create_post = routes.iter().find(|route| route.operation == "create_post").unwrap();
    let complete = "#[tokio::test] 400 401 404";
    assert_eq!(gaps(create_post, complete), Vec::<&str>::new());
    for missing in complete.split(' ') {
        let gaps = gaps(create_post, &complete.replace(missing, ""));
        assert_eq!(gaps.len(), 1, "{missing}: {gaps:?}");
    }
    let seen = "(400, \"bad_request\") (404, \"not_found\") (413, \"too_large\")";
    assert_eq!(unseen(&routes, seen), BTreeSet::new());
    for missing in ["413", "\"too_large\""] {
        assert_eq!(unseen(&routes, &seen.replace(missing, "")), BTreeSet::from([(413, "too_large".to_owned())]));
    }
}
