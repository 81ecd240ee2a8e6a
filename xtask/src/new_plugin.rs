//! `cargo xtask new-plugin NAME`: a plugin that works as it is. Rule: nothing that exists is overwritten.

use crate::{Failure, plugin_name::is_plugin_name, process, repository};
use std::path::Path;

/// What a file of the new plugin is called, and its template. `@name@` is the plugin, `@Name@` its type.
const FILES: &[(&str, &str)] = &[
    ("Cargo.toml", include_str!("../templates/plugin/Cargo.toml.in")),
    ("README.md", include_str!("../templates/plugin/README.md.in")),
    ("migrations/0001_create.sql", include_str!("../templates/plugin/migrations/0001_create.sql.in")),
    ("src/lib.rs", include_str!("../templates/plugin/src/lib.rs.in")),
    ("src/config.rs", include_str!("../templates/plugin/src/config.rs.in")),
    ("src/error.rs", include_str!("../templates/plugin/src/error.rs.in")),
    ("src/model.rs", include_str!("../templates/plugin/src/model.rs.in")),
    ("src/store.rs", include_str!("../templates/plugin/src/store.rs.in")),
    ("src/jobs.rs", include_str!("../templates/plugin/src/jobs.rs.in")),
    ("src/routes/mod.rs", include_str!("../templates/plugin/src/routes/mod.rs.in")),
    ("src/routes/create_note.rs", include_str!("../templates/plugin/src/routes/create_note.rs.in")),
    ("src/routes/get_note.rs", include_str!("../templates/plugin/src/routes/get_note.rs.in")),
    ("src/routes/list_notes.rs", include_str!("../templates/plugin/src/routes/list_notes.rs.in")),
    ("tests/notes.rs", include_str!("../templates/plugin/tests/notes.rs.in")),
];

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let [name] = arguments else { return Err("usage: cargo xtask new-plugin NAME".to_owned()) };
    if !is_plugin_name(name) {
        return Err(format!("{name:?} is no plugin name: a-z, 0-9 and _, first a letter, 2 to 31 characters"));
    }
    let root = repository::root()?;
    let folder = root.join("plugins").join(name);
    if folder.exists() {
        return Err(format!("plugins/{name} exists already: choose another name"));
    }
    let tests = root.join("tests/Cargo.toml");
    let manifest = with_dependency(&repository::read(&tests)?, name)?;
    for (file, template) in FILES {
        repository::write(&folder.join(file), &fill(template, name))?;
    }
    repository::write(&tests, &manifest)?;
    // Long names break lines, and the lock file lists every package.
    process::run(process::cargo().current_dir(&root).args(["fmt", "--package", name]))?;
    process::output(process::cargo().current_dir(&root).args(["metadata", "--format-version", "1"]))?;
    print_next_steps(&root, name);
    Ok(())
}

fn fill(template: &str, name: &str) -> String {
    template.replace("@name@", name).replace("@Name@", &type_name(name))
}

/// `price_feed` → `PriceFeed`.
fn type_name(name: &str) -> String {
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.split('_').map(capitalised).collect()
}

/// tests/Cargo.toml depends on every plugin, so that `cargo test` builds its library. The plugins stand in one block.
fn with_dependency(manifest: &str, name: &str) -> Result<String, Failure> {
    let mut lines: Vec<&str> = manifest.lines().collect();
    let is_plugin = |line: &&str| line.contains("{ path = \"../plugins/");
    let first = lines.iter().position(is_plugin).ok_or("tests/Cargo.toml: no plugin stands in [dev-dependencies]")?;
    let block = lines[first..].iter().take_while(|line| is_plugin(line)).count();
    let added = format!("{name} = {{ path = \"../plugins/{name}\" }}");
    let mut plugins = lines[first..first + block].to_vec();
    plugins.push(&added);
    plugins.sort_unstable();
    lines.splice(first..first + block, plugins);
    Ok(lines.join("\n") + "\n")
}

fn print_next_steps(root: &Path, name: &str) {
    println!("{} is a plugin now:\n", root.join("plugins").join(name).display());
    FILES.iter().for_each(|(file, _)| println!("  {file}"));
    println!("\nNext:\n");
    let steps = [
        (format!("cargo xtask test {name}"), "its tests, on both databases"),
        ("cargo xtask dev".to_owned(), "the gateway with it"),
        (format!("curl http://127.0.0.1:8080/api/{name}/notes"), "its answer, in another terminal"),
    ];
    let width = steps.iter().map(|(step, _)| step.len()).max().unwrap_or_default();
    steps.iter().for_each(|(step, what)| println!("  {step:<width$}   {what}"));
    println!();
    println!("Add a row for it to the table \"Plugins\" in README.md. plugin-api/README.md explains each part.");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn type_names() {
        assert_eq!(type_name("forum"), "Forum");
        assert_eq!(type_name("price_feed_2"), "PriceFeed2");
    }

    #[test]
    fn dependencies_stay_sorted() {
        let manifest = "[dev-dependencies]\n# why\nforum = { path = \"../plugins/forum\" }\nhello = { path = \"../plugins/hello\" }\nhost.workspace = true\n";
        let changed = with_dependency(manifest, "greenhouse").unwrap_or_default();
        let expected = "[dev-dependencies]\n# why\nforum = { path = \"../plugins/forum\" }\ngreenhouse = { path = \"../plugins/greenhouse\" }\nhello = { path = \"../plugins/hello\" }\nhost.workspace = true\n";
        assert_eq!(changed, expected);
    }

    #[test]
    fn templates_are_filled_without_a_rest() {
        for (file, template) in FILES {
            let text = fill(template, "price_feed");
            assert!(!text.contains("@name@") && !text.contains("@Name@"), "{file}");
            assert!(!text.contains("hello") && !text.contains("Hello"), "{file} is left over from the tutorial");
        }
    }
    #[test]
    fn list_create_and_get_of_a_resource_fit_one_page() {
        let is_resource = |file: &str| {
            file.starts_with("src/routes/") || ["src/model.rs", "src/store.rs", "src/error.rs"].contains(&file)
        };
        let lines: usize =
            FILES.iter().filter(|(file, _)| is_resource(file)).map(|(_, template)| template.lines().count()).sum();
        assert!(lines <= 150, "{lines} lines");
    }
}
