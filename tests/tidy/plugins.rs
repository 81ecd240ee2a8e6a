//! Plugins: one name everywhere, no runtime, no database driver, no HTTP stack inside.

use crate::repository::{assert_none, exists, files, plugins, read, root};
use plugin_api::abi::is_plugin_name;
use std::process::Command;

/// What only the gateway may link.
const THE_HOSTS_OWN: [&str; 10] =
    ["tokio", "sqlx", "sqlx-core", "hyper", "hyper-util", "rusqlite", "libsqlite3-sys", "reqwest", "axum", "mio"];

#[test]
fn folder_and_package_have_one_name() {
    let mut found = Vec::new();
    for plugin in plugins() {
        let manifest = read(&format!("plugins/{plugin}/Cargo.toml"));
        if !is_plugin_name(&plugin) {
            found.push(format!("{plugin} is no plugin name"));
        }
        if !manifest.contains(&format!("[package]\nname = \"{plugin}\"\n")) {
            found.push(format!("plugins/{plugin}/Cargo.toml: the package has another name"));
        }
        if !manifest.contains("crate-type = [\"cdylib\", \"rlib\"]") {
            found.push(format!("plugins/{plugin}/Cargo.toml: crate-type = [\"cdylib\", \"rlib\"] is missing"));
        }
    }
    assert_none("a plugin is its folder, package, config key, table prefix, log target and metric label", &found);
}

/// What may be in a plugin's `src`, as plugin-api/README.md says. A folder has a file per subject.
const FILES: [&str; 5] = ["lib.rs", "config.rs", "error.rs", "limits.rs", "topic.rs"];
const FILE_OR_FOLDER: [&str; 5] = ["chain", "contributions", "jobs", "model", "store"];
/// A file that is longer has two subjects.
const FILE_LINES_MAX: usize = 250;
/// The same of a file in a folder, which has one subject already.
const NESTED_FILE_LINES_MAX: usize = 420;

#[test]
fn plugins_have_the_same_files() {
    let mut found = Vec::new();
    for plugin in plugins() {
        for entry in std::fs::read_dir(root().join(format!("plugins/{plugin}/src"))).unwrap().map(Result::unwrap) {
            let name = entry.file_name().into_string().unwrap();
            let (stem, path) = (name.trim_end_matches(".rs"), format!("plugins/{plugin}/src/{name}"));
            let is_folder = entry.file_type().unwrap().is_dir();
            if !(FILES.contains(&name.as_str()) || FILE_OR_FOLDER.contains(&stem) || is_folder && name == "routes") {
                found.push(format!("{path}: the README of plugin-api has no such file"));
            }
            if is_folder && name != "routes" && std::fs::read_dir(entry.path()).unwrap().count() < 2 {
                found.push(format!("{path}/mod.rs is alone: make it {stem}.rs"));
            }
            if !is_folder && read(&path).lines().count() > FILE_LINES_MAX {
                found.push(format!("{path} has more than {FILE_LINES_MAX} lines: make it a folder"));
            }
        }
        for needed in ["src/lib.rs", "src/routes/mod.rs", "README.md", "tests/it/main.rs"] {
            if !exists(&format!("plugins/{plugin}/{needed}")) {
                found.push(format!("plugins/{plugin}/{needed} is missing"));
            }
        }
    }
    for file in files().iter().filter(|file| file.path.starts_with("plugins/") && file.path.contains("/src/")) {
        if file.is_rust() && file.text.lines().count() > NESTED_FILE_LINES_MAX {
            found.push(format!("{} has more than {NESTED_FILE_LINES_MAX} lines: split it by subject", file.path));
        }
    }
    assert_none("all plugins have the same files", &found);
}

/// Readers find routes and configuration of every plugin under the same headings.
#[test]
fn plugins_have_the_same_readme() {
    let mut found = Vec::new();
    for plugin in plugins() {
        let readme = read(&format!("plugins/{plugin}/README.md"));
        let has_heading = |heading: &str| readme.lines().any(|line| line.starts_with(heading));
        if !readme.starts_with(&format!("# {plugin}\n")) {
            found.push(format!("plugins/{plugin}/README.md does not begin with `# {plugin}`"));
        }
        for (heading, cause) in [("## Routes", "src/routes/mod.rs"), ("## Configuration", "src/config.rs")] {
            if exists(&format!("plugins/{plugin}/{cause}")) && !has_heading(heading) {
                found.push(format!("plugins/{plugin}/README.md has no `{heading}`, and there is a {cause}"));
            }
        }
    }
    assert_none("the README of a plugin says its routes and its configuration", &found);
}

/// `coverage.rs` calls each operation; the plugin's own tests of one are found by its name.
#[test]
fn each_operation_has_its_test_file() {
    let mut found = Vec::new();
    for plugin in plugins() {
        let Ok(routes) = std::fs::read_dir(root().join(format!("plugins/{plugin}/src/routes"))) else { continue };
        let names = routes.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        for name in names.filter(|name| name.ends_with(".rs") && name != "mod.rs") {
            let is_route = read(&format!("plugins/{plugin}/src/routes/{name}")).contains("pub fn route()");
            let tests = format!("plugins/{plugin}/tests/it/{name}");
            if is_route && !(exists(&tests) && ["test]", "::test("].iter().any(|mark| read(&tests).contains(mark))) {
                found.push(format!("{tests} is missing, or has no test"));
            }
        }
    }
    assert_none("an operation's tests are called like it", &found);
}

#[test]
fn tables_carry_the_plugins_name() {
    let mut found = Vec::new();
    for plugin in plugins() {
        let Ok(entries) = std::fs::read_dir(root().join(format!("plugins/{plugin}/migrations"))) else { continue };
        for entry in entries.map(Result::unwrap) {
            let text = std::fs::read_to_string(entry.path()).unwrap();
            let foreign = created_tables(&text).filter(|table| !table.starts_with(&format!("{plugin}_")));
            found.extend(foreign.map(|table| format!("{}: {table}", entry.path().display())));
        }
    }
    assert_none("a plugin's tables begin with its name and an underscore", &found);
}

/// A migration that is in no list never runs.
#[test]
fn the_definition_names_every_migration() {
    let mut found = Vec::new();
    for plugin in plugins() {
        let Ok(entries) = std::fs::read_dir(root().join(format!("plugins/{plugin}/migrations"))) else { continue };
        let (library, mut files) = (read(&format!("plugins/{plugin}/src/lib.rs")), 0);
        for name in entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()) {
            files += 1;
            let stem = name.split('.').next().unwrap();
            // Without its dialects: what the list names and is missing does not compile.
            if !library.contains(&format!("\"{stem}\"")) && !library.contains(&format!("/{name}\"")) {
                found.push(format!("plugins/{plugin}/migrations/{name}"));
            }
        }
        assert!(files > 0, "{plugin} has an empty folder of migrations");
    }
    assert_none("add it to the migrations in src/lib.rs", &found);
}

/// Names behind `CREATE TABLE` and `CREATE VIRTUAL TABLE`.
fn created_tables(sql: &str) -> impl Iterator<Item = String> {
    let words: Vec<String> =
        sql.split(|character: char| character.is_whitespace() || character == '(').map(str::to_lowercase).collect();
    let is_noise = |word: &String| word.is_empty() || ["if", "not", "exists"].contains(&word.as_str());
    let words: Vec<String> = words.into_iter().filter(|word| !is_noise(word)).collect();
    let tables: Vec<String> = words
        .windows(3)
        .filter(|words| (words[0] == "create" || words[0] == "virtual") && words[1] == "table")
        .map(|words| words[2].clone())
        .collect();
    tables.into_iter()
}

#[test]
fn tables_are_found_in_sql() {
    let sql = "CREATE TABLE IF NOT EXISTS forum_a(id {{id}});\ncreate table forum_b (x TEXT);\nCREATE VIRTUAL TABLE forum_c USING fts5(x);";
    assert_eq!(created_tables(sql).collect::<Vec<_>>(), ["forum_a", "forum_b", "forum_c"]);
}

#[test]
fn plugins_link_nothing_of_the_hosts() {
    let mut found = Vec::new();
    for plugin in plugins() {
        let linked = dependencies(&plugin);
        assert!(
            linked.iter().any(|name| name == "plugin-api"),
            "cargo tree of {plugin} shows no plugin-api: {linked:?}"
        );
        let wrong = linked.into_iter().filter(|name| THE_HOSTS_OWN.contains(&name.as_str()));
        found.extend(wrong.map(|name| format!("{plugin} links {name}")));
    }
    assert_none("a plugin asks the gateway for this instead of bringing its own", &found);
}

/// Names of everything in the package's library, at any depth.
fn dependencies(package: &str) -> Vec<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let tree = Command::new(cargo)
        .current_dir(root())
        .args(["tree", "--locked", "--edges", "normal", "--prefix", "none", "--format", "{p}", "--package", package])
        .output()
        .unwrap();
    assert!(tree.status.success(), "cargo tree: {}", String::from_utf8_lossy(&tree.stderr));
    let lines = String::from_utf8(tree.stdout).unwrap();
    lines.lines().filter_map(|line| line.split(' ').next()).map(ToOwned::to_owned).collect()
}

#[test]
fn tests_depend_on_every_plugin() {
    // Otherwise cargo does not rebuild its library for the tests, which then load an old one.
    let manifest = read("tests/Cargo.toml");
    let lacking = |name: &String| !manifest.contains(&format!("{name} = {{ path = \"../plugins/{name}\" }}"));
    assert_none("tests/Cargo.toml lacks a dev-dependency", &plugins().into_iter().filter(lacking).collect::<Vec<_>>());
}

#[test]
fn every_plugin_is_documented() {
    let readme = read("README.md");
    let mut found = Vec::new();
    for plugin in plugins() {
        if !exists(&format!("plugins/{plugin}/README.md")) {
            found.push(format!("plugins/{plugin}/README.md is missing"));
        }
        if !readme.contains(&format!("| [{plugin}](plugins/{plugin}/README.md) |")) {
            found.push(format!(
                "README.md: the table of plugins has no row `| [{plugin}](plugins/{plugin}/README.md) |`"
            ));
        }
    }
    assert_none("a plugin is documented", &found);
}

#[test]
fn the_template_and_plugin_api_agree_on_names() {
    // The template has no dependencies, so the rule stands there a second time.
    let letters = ["", "a", "ab", "A", "aB", "_a", "a_", "a-b", "9a", "a9", "ä", "aä", "a b", "a/b", "..", "a\0"];
    let long = [30, 31, 32].map(|length| "a".repeat(length));
    for name in letters.into_iter().chain(long.iter().map(String::as_str)) {
        assert_eq!(plugin_template::is_plugin_name(name), is_plugin_name(name), "{name:?}");
    }
}
