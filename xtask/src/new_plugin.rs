//! `cargo xtask new-plugin NAME`: a plugin that works as it is. Rule: nothing that exists is overwritten.

use crate::{Failure, process, repository};
use plugin_template::{PackageKind, TemplateFile};
use std::path::Path;

pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let [name] = arguments else { return Err("usage: cargo xtask new-plugin NAME".to_owned()) };
    plugin_template::check_name(name).map_err(|error| error.to_string())?;
    let root = repository::root()?;
    let folder = root.join("plugins").join(name);
    let tests = root.join("tests/Cargo.toml");
    let manifest = with_dependency(&repository::read(&tests)?, name)?;
    let files = plugin_template::files(name, &PackageKind::Repository);
    plugin_template::write(&folder, &files).map_err(|error| error.to_string())?;
    repository::write(&tests, &manifest)?;
    // Long names break lines, and the lock file lists every package.
    process::run(process::cargo().current_dir(&root).args(["fmt", "--package", name]))?;
    process::output(process::cargo().current_dir(&root).args(["metadata", "--format-version", "1"]))?;
    print_next_steps(&folder, name, &files);
    Ok(())
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

fn print_next_steps(folder: &Path, name: &str, files: &[TemplateFile]) {
    let steps = [
        (format!("cargo xtask test {name}"), "its tests, on both databases"),
        ("cargo xtask dev".to_owned(), "the gateway with it"),
        (format!("curl http://127.0.0.1:8080/api/{name}/notes"), "its answer, in another terminal"),
    ];
    println!("{}\n", plugin_template::report(folder, files, &steps));
    println!("Add a row for it to the table \"Plugins\" in README.md. plugin-api/README.md explains each part.");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_stay_sorted() {
        let manifest = "[dev-dependencies]\n# why\nforum = { path = \"../plugins/forum\" }\nhello = { path = \"../plugins/hello\" }\nhost.workspace = true\n";
        let changed = with_dependency(manifest, "greenhouse").unwrap_or_default();
        let expected = "[dev-dependencies]\n# why\nforum = { path = \"../plugins/forum\" }\ngreenhouse = { path = \"../plugins/greenhouse\" }\nhello = { path = \"../plugins/hello\" }\nhost.workspace = true\n";
        assert_eq!(changed, expected);
    }
}
