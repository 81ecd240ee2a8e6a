//! No route without its tests: each operation of each plugin has a file of its own, with the good way and what it refuses.
//!
//! What must stand in the file follows from what the route itself declares: its status when all is well, each error of its
//! own by code, and the 401 of a route that wants a signature.

use gateway_tests::plugins::plugin_file;
use host::plugins::{LoadedPlugin, inspect};
use plugin_api::manifest::{Answer, Auth, RouteSpec};
use std::{
    fs,
    path::{Path, PathBuf},
};

fn plugins_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../plugins")
}

fn plugins() -> Vec<String> {
    let entries = fs::read_dir(plugins_folder()).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<String> = folders.map(|entry| entry.file_name().into_string().unwrap()).collect();
    names.sort();
    assert!(names.len() >= 3, "{names:?}");
    names
}

fn routes(plugin: &str) -> Vec<RouteSpec> {
    let data_dir = tempfile::tempdir().unwrap();
    let inspection = inspect(&plugin_file(plugin).unwrap(), None).unwrap();
    LoadedPlugin::load(inspection, data_dir.path()).unwrap().manifest.routes.clone()
}

/// What the file of an operation must speak of, and does not.
fn gaps(route: &RouteSpec, tests: &str) -> Vec<String> {
    let mut gaps = Vec::new();
    let has_test = |name: &str| tests.contains(name);
    if !has_test("#[tokio::test]") && !has_test("#[test]") {
        gaps.push("has no test".to_owned());
    }
    for Answer { status, codes, .. } in route.answers.iter().filter(|answer| answer.status >= 400) {
        for code in codes.iter().filter(|code| !has_test(&format!("\"{code}\""))) {
            gaps.push(format!("never sees {status} {code}"));
        }
    }
    let is_signed = !matches!(route.auth, Auth::Public | Auth::Own { .. });
    if is_signed && !has_test("401") {
        gaps.push("never sees a request without a good signature (401)".to_owned());
    }
    gaps
}

#[test]
fn every_operation_has_its_tests() {
    let mut found = Vec::new();
    for plugin in plugins() {
        for route in routes(&plugin) {
            let file = format!("plugins/{plugin}/tests/it/{}.rs", route.operation);
            match fs::read_to_string(plugins_folder().join("..").join(&file)) {
                Ok(tests) => found.extend(gaps(&route, &tests).into_iter().map(|gap| format!("{file} {gap}"))),
                Err(_) => found.push(format!("{file} is missing")),
            }
        }
    }
    assert!(found.is_empty(), "operations lack tests:\n  {}", found.join("\n  "));
}

#[test]
fn gaps_are_found() {
    let route = routes("hello").into_iter().find(|route| route.operation == "create_guest").unwrap();
    let complete = r#"#[tokio::test] 401 "empty_message" "long_message""#;
    assert_eq!(gaps(&route, complete), Vec::<String>::new());
    for (missing, gap) in
        [("#[tokio::test]", "has no test"), ("401", "401"), ("\"long_message\"", "never sees 400 long_message")]
    {
        let gaps = gaps(&route, &complete.replace(missing, ""));
        assert!(gaps.len() == 1 && gaps[0].contains(gap), "{missing}: {gaps:?}");
    }
}
