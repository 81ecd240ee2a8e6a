//! The files of a new plugin: a table, three routes, a job and tests that work as they are.
//!
//! The rule: no dependencies (`cargo xtask` builds in seconds), and nothing that exists is overwritten. What a plugin in the gateway's
//! repository and one outside of it have in common is in `files/` once.

mod dependencies;
mod plugin_name;
mod report;
mod write;

pub use dependencies::{Dependencies, DependenciesError};
pub use plugin_name::{NameError, check_name, is_plugin_name};
pub use report::report;
pub use write::{WriteError, write};

/// How the new plugin is built.
#[derive(Clone, Debug)]
pub enum PackageKind {
    /// A member of the gateway's own workspace, tested with `plugin-testing`.
    Repository,
    /// A crate of its own, tested with `plugin-test-kit`.
    Outside(Dependencies),
}

/// One file of a plugin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateFile {
    /// Inside the plugin's folder.
    pub path: &'static str,
    pub text: String,
}

macro_rules! templates {
    ($folder:literal: $($path:literal)*) => {
        [$(($path, include_str!(concat!("../files/", $folder, $path, ".in")))),*]
    };
}

/// `@name@` is the plugin, `@Name@` its type; `@plugin-api@` and `@plugin-test-kit@` are where cargo finds these; `@build@` is the end of the
/// plugin's README.
const COMMON: [(&str, &str); 12] = templates!("":
    "README.md" "migrations/0001_create.sql" "src/lib.rs" "src/config.rs" "src/error.rs" "src/model.rs" "src/store.rs" "src/jobs.rs"
    "src/routes/mod.rs" "src/routes/create_note.rs" "src/routes/get_note.rs" "src/routes/list_notes.rs");
const REPOSITORY: [(&str, &str); 2] = templates!("repository/": "Cargo.toml" "tests/notes.rs");
const OUTSIDE: [(&str, &str); 3] = templates!("outside/": "Cargo.toml" "tests/notes.rs" ".gitignore");
/// The lines of the template are as long as those of this repository.
const FORMAT_OUTSIDE: (&str, &str) = (".rustfmt.toml", include_str!("../../../.rustfmt.toml"));
const BUILD_OUTSIDE: &str = include_str!("../files/outside/build.md.in");

/// The files of the plugin `name`, sorted by path.
pub fn files(name: &str, kind: &PackageKind) -> Vec<TemplateFile> {
    let (own, build, dependencies) = match kind {
        PackageKind::Repository => (REPOSITORY.to_vec(), "", None),
        PackageKind::Outside(dependencies) => {
            ([OUTSIDE.as_slice(), &[FORMAT_OUTSIDE]].concat(), BUILD_OUTSIDE, Some(dependencies))
        }
    };
    let fill = |template: &str| {
        let mut text = template.replace("@build@", build).replace("@name@", name).replace("@Name@", &type_name(name));
        if let Some(dependencies) = dependencies {
            text = text
                .replace("@plugin-api@", &dependencies.plugin_api)
                .replace("@plugin-test-kit@", &dependencies.test_kit);
        }
        text
    };
    let mut files: Vec<TemplateFile> =
        COMMON.iter().chain(&own).map(|(path, template)| TemplateFile { path, text: fill(template) }).collect();
    files.sort_by_key(|file| file.path);
    files
}

/// `price_feed` → `PriceFeed`.
fn type_name(name: &str) -> String {
    let capitalised = |word: &str| {
        let mut letters = word.chars();
        letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<String>()
    };
    name.split('_').map(capitalised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds() -> [PackageKind; 2] {
        [PackageKind::Repository, PackageKind::Outside(Dependencies::published("2.0"))]
    }

    #[test]
    fn type_names() {
        assert_eq!(type_name("forum"), "Forum");
        assert_eq!(type_name("price_feed_2"), "PriceFeed2");
    }

    #[test]
    fn templates_are_filled_without_a_rest() {
        for kind in kinds() {
            for TemplateFile { path, text } in files("price_feed", &kind) {
                let rest = text.split('@').skip(1).step_by(2).find(|word| !word.contains(char::is_whitespace));
                assert_eq!(rest, None, "{path}");
                assert!(!text.contains("hello") && !text.contains("Hello"), "{path} is left over from the tutorial");
            }
        }
    }

    /// The manifest, what the README says of it and the tests: nothing else may differ.
    #[test]
    fn both_kinds_have_the_same_code() {
        let [repository, outside] = kinds().map(|kind| files("price_feed", &kind));
        for file in outside.iter().filter(|file| file.path.starts_with("src/") || file.path.starts_with("migrations/"))
        {
            assert!(repository.contains(file), "{}", file.path);
        }
    }

    #[test]
    fn a_plugin_outside_asks_for_the_published_crates() {
        let files = files("price_feed", &kinds()[1]);
        let manifest =
            files.iter().find(|file| file.path == "Cargo.toml").map(|file| file.text.as_str()).unwrap_or_default();
        assert!(manifest.contains("\nplugin-api = { version = \"2.0\" }\n"), "{manifest}");
        let kit = format!("\nplugin-test-kit = {{ version = \"{}\" }}\n", env!("CARGO_PKG_VERSION"));
        assert!(manifest.contains(&kit), "{manifest}");
    }

    /// Job and configuration are no part of the resource.
    #[test]
    fn list_create_and_get_of_a_resource_fit_one_page() {
        let is_resource = |path: &str| path.starts_with("src/") && !["src/config.rs", "src/jobs.rs"].contains(&path);
        let is_code = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with("//");
        let resource: Vec<&(&str, &str)> = COMMON.iter().filter(|(path, _)| is_resource(path)).collect();
        let lines: usize = resource.iter().map(|(_, template)| template.lines().filter(is_code).count()).sum();
        assert!(resource.len() == 8 && (100..=150).contains(&lines), "{lines} lines of code in {resource:#?}");
    }
}
