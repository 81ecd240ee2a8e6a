//! What is published, for authors of plugins and for who embeds the verifiers: what each package says and holds. `plugin_outside` in tests/it
//! compiles those of authors.

use crate::{process, repository, test::PACKAGES};

/// Where each of them lies.
const FOLDERS: [&str; 6] = [
    "plugin-api/macros",
    "plugin-api",
    "plugin-api/signing",
    "plugin-api/test-kit",
    "host/audit-verify",
    "host/cv-verify",
];
/// Folders of packages below plugin-api.
const OTHER_PACKAGES: [&str; 5] = ["macros/", "signing/", "template/", "test-kit/", "testing/"];
/// The files that each needs, besides its sources.
const NEEDED: [&str; 4] = ["Cargo.toml", "LICENSE-APACHE", "LICENSE-MIT", "README.md"];

fn cargo(arguments: &[&str]) -> String {
    let packaged = repository::root().and_then(|root| {
        let mut cargo = process::cargo();
        cargo.current_dir(root).args(["package", "--offline", "--locked", "--allow-dirty"]).args(arguments);
        process::output(&mut cargo)
    });
    packaged.unwrap_or_else(|failure| failure)
}

fn text(path: &str) -> String {
    repository::root().and_then(|root| repository::read(&root.join(path))).unwrap_or_else(|failure| failure)
}

#[test]
fn packages_have_licences_and_a_readme() {
    for name in PACKAGES {
        let listed = cargo(&["--package", name, "--list"]);
        let files: Vec<&str> = listed.lines().collect();
        for needed in NEEDED {
            assert!(files.contains(&needed), "{name} lacks {needed}:\n{listed}");
        }
        let is_strange = |file: &&&str| OTHER_PACKAGES.iter().any(|folder| file.starts_with(folder));
        assert_eq!(files.iter().find(is_strange), None, "{name} has files of another package");
    }
}

/// None depends on what is not published, and each names versions.
#[test]
fn packages_can_be_made() {
    let folder = repository::root().unwrap_or_default().join("target/packages/made");
    let folder = folder.display().to_string();
    let mut arguments = vec!["--quiet", "--no-verify", "--target-dir", &folder];
    arguments.extend(PACKAGES.iter().flat_map(|name| ["--package", name]));
    assert_eq!(cargo(&arguments), "");
}

/// What a registry shows, and what docs.rs builds with.
#[test]
fn packages_say_what_they_are() {
    for (name, folder) in PACKAGES.into_iter().zip(FOLDERS) {
        let manifest = text(&format!("{folder}/Cargo.toml"));
        let documentation = format!("documentation = \"https://docs.rs/{name}\"");
        let name = format!("name = \"{name}\"");
        let whole =
            [name.as_str(), documentation.as_str(), "license.workspace = true", "rust-version.workspace = true"];
        let whole = whole.into_iter().chain(["readme = \"README.md\"", "[package.metadata.docs.rs]"]);
        let lacking: Vec<&str> = whole.filter(|line| !manifest.lines().any(|said| said == *line)).collect();
        assert!(lacking.is_empty(), "{folder}/Cargo.toml lacks {lacking:?}");
        for key in ["description = \"", "keywords = [\"", "categories = [\""] {
            assert!(manifest.lines().any(|line| line.starts_with(key)), "{folder}/Cargo.toml lacks {key}");
        }
    }
}

/// The version that authors read about is the one that cargo asks for.
#[test]
fn the_pages_name_the_version_of_rust_that_packages_ask_for() {
    let manifest = text("Cargo.toml");
    let version = manifest.lines().find_map(|line| line.strip_prefix("rust-version = ")).unwrap_or_default();
    let said = format!("Rust {}", version.trim_matches('"'));
    for page in ["README.md", "docs/plugin-outside.md", ".ci/run"] {
        assert!(!version.is_empty() && text(page).contains(&format!("{said} ")), "{page} does not say {said}");
    }
}

/// A registry shows the README without the repository around it.
#[test]
fn readmes_link_to_nothing_outside_of_their_package() {
    for folder in FOLDERS {
        let readme = text(&format!("{folder}/README.md"));
        let targets = readme.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let outside: Vec<&str> =
            targets.filter(|target| target.starts_with("../") || target.starts_with('/')).collect();
        assert!(outside.is_empty(), "{folder}/README.md links to {outside:?}");
    }
}
