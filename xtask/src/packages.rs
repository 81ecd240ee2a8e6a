//! What is published for authors of plugins: each crate's package is complete by itself.

use crate::{process, repository};

/// In the order in which they are published.
const PACKAGES: [&str; 4] = ["plugin-api-macros", "plugin-api", "request-signing", "plugin-test-kit"];
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

/// Without their compilation, which takes a minute.
#[test]
fn they_can_be_packaged_together() {
    let target = std::env::temp_dir().join(format!("gateway-packages-{}", std::process::id()));
    let folder = target.display().to_string();
    let mut arguments = vec!["--no-verify", "--target-dir", &folder];
    arguments.extend(PACKAGES.iter().flat_map(|package| ["--package", package]));
    let said = cargo(&arguments);
    let made = std::fs::read_dir(target.join("package")).map(|entries| {
        let names = entries.filter_map(Result::ok).map(|entry| entry.file_name().to_string_lossy().into_owned());
        names.filter(|name| name.ends_with(".crate")).count()
    });
    // Left behind by a failure only.
    let removed = std::fs::remove_dir_all(&target);
    assert_eq!(made.ok(), Some(PACKAGES.len()), "{said}");
    assert!(removed.is_ok(), "{removed:?}");
}
