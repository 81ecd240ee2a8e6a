//! Where cargo finds `plugin-api` and the test kit for a plugin outside of the gateway's repository.

use std::{
    fmt, fs, io,
    path::{Path, PathBuf},
};

/// The two dependencies, as they are written in a manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependencies {
    pub(crate) plugin_api: String,
    pub(crate) test_kit: String,
}

/// Why a folder cannot be the dependency.
#[derive(Debug)]
pub enum DependenciesError {
    Unreadable {
        path: PathBuf,
        source: io::Error,
    },
    /// The folder has no package of this name.
    NotThePackage {
        path: PathBuf,
        package: &'static str,
    },
    /// A manifest is text.
    NotText {
        path: PathBuf,
    },
}

impl fmt::Display for DependenciesError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { path, source } => write!(out, "{}: {source}", path.display()),
            Self::NotThePackage { path, package } => write!(
                out,
                "{} is not the folder of the package {package}: name the folder plugin-api in a copy of the gateway's repository",
                path.display()
            ),
            Self::NotText { path } => {
                write!(out, "{}: a path in Cargo.toml has to be UTF-8 without control characters", path.display())
            }
        }
    }
}

impl std::error::Error for DependenciesError {}

impl Dependencies {
    /// From a registry: this version of `plugin-api`, and the test kit of this release.
    pub fn published(plugin_api_version: &str) -> Self {
        let version = |version: &str| format!("{{ version = \"{version}\" }}");
        Self { plugin_api: version(plugin_api_version), test_kit: version(env!("CARGO_PKG_VERSION")) }
    }

    /// The folder of `plugin-api`, with the test kit below it.
    pub fn in_folder(plugin_api: &Path) -> Result<Self, DependenciesError> {
        let folder = fs::canonicalize(plugin_api)
            .map_err(|source| DependenciesError::Unreadable { path: plugin_api.to_owned(), source })?;
        let dependency = |folder: &Path, package| {
            let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap_or_default();
            if !manifest.lines().any(|line| line == format!("name = \"{package}\"")) {
                return Err(DependenciesError::NotThePackage { path: folder.to_owned(), package });
            }
            let path = folder.to_str().filter(|path| !path.contains(char::is_control));
            let path = path.ok_or_else(|| DependenciesError::NotText { path: folder.to_owned() })?;
            Ok(format!("{{ path = \"{}\" }}", path.replace('\\', "\\\\").replace('"', "\\\"")))
        };
        Ok(Self {
            plugin_api: dependency(&folder, "plugin-api")?,
            test_kit: dependency(&folder.join("test-kit"), "plugin-test-kit")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_named_by_its_whole_path() -> Result<(), DependenciesError> {
        let dependencies = Dependencies::in_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join(".."))?;
        assert!(
            dependencies.plugin_api.ends_with("/plugin-api\" }") && dependencies.plugin_api.starts_with("{ path = \"/")
        );
        assert!(dependencies.test_kit.ends_with("/plugin-api/test-kit\" }"));
        Ok(())
    }

    #[test]
    fn another_folder_is_refused_with_what_to_name() {
        let said = |path: &str| Dependencies::in_folder(Path::new(path)).err().map(|error| error.to_string());
        let said = [said(env!("CARGO_MANIFEST_DIR")), said("/no/such/folder")].map(Option::unwrap_or_default);
        assert!(
            said[0].contains("is not the folder of the package plugin-api: name the folder plugin-api"),
            "{}",
            said[0]
        );
        assert!(said[1].starts_with("/no/such/folder: "), "{}", said[1]);
    }
}
