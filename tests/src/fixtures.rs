//! Plugins that a gateway must meet one day: built against other versions of plugin-api than today's.
//!
//! Each workspace below is written to `target/fixtures/work/<name>`: a copy of plugin-api with small edits, and
//! packages of `tests/fixtures/plugins`. All build into one target folder, so that dependencies compile once.
//! The rule: an edit whose place is gone is an error, never a fixture that tests nothing.

use crate::plugins::target_dir;
use anyhow::{Context as _, ensure};
use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
};

/// A plugin built against plugin-api of the next minor version, which has methods and an entry point more.
pub fn newer_minor() -> anyhow::Result<PathBuf> {
    NEWER_MINOR.build("newer_minor")
}

/// A program that loads a plugin as a gateway of the next minor version does: `newer_gateway FILE DATA_DIR`.
pub fn newer_gateway() -> anyhow::Result<PathBuf> {
    NEWER_MINOR.build("newer_gateway")
}

/// A plugin built against plugin-api of the next major version.
pub fn next_major() -> anyhow::Result<PathBuf> {
    NEXT_MAJOR.build("next_major")
}

/// A plugin built against plugin-api of the major version before.
pub fn previous_major() -> anyhow::Result<PathBuf> {
    PREVIOUS_MAJOR.build("previous_major")
}

/// A plugin built against a plugin-api that somebody changed without changing its version.
pub fn other_layout() -> anyhow::Result<PathBuf> {
    OTHER_LAYOUT.build("other_layout")
}

/// A plugin of today that panics when it is asked for its manifest.
pub fn panics_in_manifest() -> anyhow::Result<PathBuf> {
    TODAY.build("panics_in_manifest")
}

/// A plugin of today whose library hangs while it is mapped.
pub fn hangs_in_load() -> anyhow::Result<PathBuf> {
    TODAY.build("hangs_in_load")
}

/// A plugin of today whose library ends the process while it is mapped.
pub fn dies_in_load() -> anyhow::Result<PathBuf> {
    TODAY.build("dies_in_load")
}

/// A plugin of today that hangs when it is asked for its manifest.
pub fn hangs_in_manifest() -> anyhow::Result<PathBuf> {
    TODAY.build("hangs_in_manifest")
}

/// A plugin of today whose second migration breaks a constraint.
pub fn fails_to_migrate() -> anyhow::Result<PathBuf> {
    TODAY.build("fails_to_migrate")
}

/// A plugin of today whose handlers and job panic and hang.
pub fn misbehaves() -> anyhow::Result<PathBuf> {
    TODAY.build("misbehaves")
}

/// A plugin of today that claims what hello, the forum and the gateway have.
pub fn grabs() -> anyhow::Result<PathBuf> {
    TODAY.build("grabs")
}

/// The plugin of `tests/hostile` as a shared library.
pub fn hostile() -> anyhow::Result<PathBuf> {
    TODAY.build("hostile")
}

/// The plugin of `tests/keeper` as a shared library.
pub fn keeper() -> anyhow::Result<PathBuf> {
    TODAY.build("keeper")
}

/// A shared library that is no plugin.
pub fn no_stamp() -> anyhow::Result<PathBuf> {
    TODAY.build("no_stamp")
}

/// They lie in `tests/hostile` and `tests/keeper`: the tests also link them.
const HOSTILE: &str = "hostile";
const KEEPER: &str = "keeper";

struct Workspace {
    name: &'static str,
    packages: &'static [Package],
    version: Version,
    edits: &'static [Edit],
}

struct Package {
    name: &'static str,
    /// Folder below `tests/fixtures/plugins`; its package name becomes `name`.
    source: &'static str,
}

enum Version {
    Same,
    NextMinor,
    NextMajor,
    PreviousMajor,
}

/// `after` takes the place of `before`, which must be there exactly once.
struct Edit {
    file: &'static str,
    before: &'static str,
    after: &'static str,
}

const TODAY: Workspace = Workspace {
    name: "today",
    packages: &[
        Package { name: "panics_in_manifest", source: "panics_in_manifest" },
        Package { name: "hangs_in_load", source: "hangs_in_load" },
        Package { name: "dies_in_load", source: "dies_in_load" },
        Package { name: "hangs_in_manifest", source: "hangs_in_manifest" },
        Package { name: "fails_to_migrate", source: "fails_to_migrate" },
        Package { name: "no_stamp", source: "no_stamp" },
        Package { name: "misbehaves", source: "misbehaves" },
        Package { name: "grabs", source: "grabs" },
        Package { name: HOSTILE, source: HOSTILE },
        Package { name: KEEPER, source: KEEPER },
    ],
    version: Version::Same,
    edits: &[],
};

const NEWER_MINOR: Workspace = Workspace {
    name: "newer_minor",
    packages: &[
        Package { name: "newer_minor", source: "sample" },
        Package { name: "newer_gateway", source: "newer_gateway" },
    ],
    version: Version::NextMinor,
    edits: &[
        Edit {
            file: "src/abi/host.rs",
            before: "}\npub type HostBox",
            after: "    fn appended(&self, number: u32) -> u32 { number + 1 }\n}\npub type HostBox",
        },
        Edit {
            file: "src/abi/plugin.rs",
            before: "}\npub type PluginBox",
            after: "    fn appended(&self, number: u32) -> u32 { number + 1 }\n}\npub type PluginBox",
        },
        Edit {
            file: "src/abi/plugin.rs",
            before: "}\n\nimpl RootModule for PluginModule_Ref",
            after: "    #[sabi(missing_field(option))]\n    pub appended: extern \"C\" fn() -> u32,\n}\n\
                    pub extern \"C\" fn appended() -> u32 { 1 }\n\nimpl RootModule for PluginModule_Ref",
        },
        Edit {
            file: "src/sdk/export.rs",
            before: "construct: object_new::<P> }",
            after: "construct: object_new::<P>, appended: crate::abi::appended }",
        },
    ],
};

const NEXT_MAJOR: Workspace = Workspace {
    name: "next_major",
    packages: &[Package { name: "next_major", source: "sample" }],
    version: Version::NextMajor,
    edits: &[],
};

const PREVIOUS_MAJOR: Workspace = Workspace {
    name: "previous_major",
    packages: &[Package { name: "previous_major", source: "sample" }],
    version: Version::PreviousMajor,
    edits: &[],
};

const OTHER_LAYOUT: Workspace = Workspace {
    name: "other_layout",
    packages: &[Package { name: "other_layout", source: "sample" }],
    version: Version::Same,
    edits: &[Edit {
        file: "src/abi/exchange.rs",
        before: "pub struct Request {\n",
        after: "pub struct Request {\n    pub deadline_ms: u64,\n",
    }],
};

impl Workspace {
    /// Builds one package and returns its library or program.
    fn build(&self, package: &str) -> anyhow::Result<PathBuf> {
        let fixtures = target_dir()?.join("fixtures");
        fs::create_dir_all(&fixtures)?;
        // Tests are processes of their own: one at a time writes sources. (cargo has its own lock for the builds.)
        let lock = File::create(fixtures.join("lock"))?;
        lock.lock()?;
        let folder = fixtures.join("work").join(self.name);
        self.write(&folder).with_context(|| format!("writes the fixture workspace {}", self.name))?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let output = Command::new(cargo)
            .args(["build", "--quiet", "--offline", "--package", package])
            .env("CARGO_TARGET_DIR", &fixtures)
            // Nobody looks for lines in what is compiled here.
            .env("CARGO_PROFILE_DEV_DEBUG", "0")
            // Of `cargo xtask test`, whose lints are for this workspace.
            .env_remove("RUSTC_WORKSPACE_WRAPPER")
            .current_dir(&folder)
            .output()?;
        let messages = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "the fixture {package} does not build:\n{messages}");
        let profile = fixtures.join("debug");
        let library = profile.join(format!("lib{package}{}", std::env::consts::DLL_SUFFIX));
        Ok(if library.is_file() { library } else { profile.join(package) })
    }

    fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let gateway = Path::new(env!("CARGO_MANIFEST_DIR")).parent().context("tests lie in the gateway")?;
        write_if_changed(&folder.join("Cargo.toml"), &self.manifest(&gateway.join("Cargo.toml"))?)?;
        copy_lock(gateway, folder)?;
        for edit in self.edits {
            ensure!(gateway.join("plugin-api").join(edit.file).is_file(), "plugin-api has no {} to edit", edit.file);
        }
        // cargo tells packages apart by name, version and path below the workspace: without a folder of its own, this
        // plugin-api would be another workspace's.
        let members = folder.join(self.name);
        copy_folder(&gateway.join("plugin-api"), &members.join("plugin-api"), &|file, text| self.edit(file, text))?;
        let macros = "plugin-api/macros";
        copy_folder(&gateway.join(macros), &members.join(macros), &|_, text| Ok(text))?;
        remove_gone(&gateway.join("plugin-api"), &members.join("plugin-api"))?;
        self.packages.iter().try_for_each(|package| package.write(gateway, &members))
    }

    /// The gateway's own manifest with other members, so that packages find what they inherit.
    fn manifest(&self, gateway: &Path) -> anyhow::Result<String> {
        let text = fs::read_to_string(gateway)?;
        let start = text.find("[workspace.package]").context("the gateway's manifest has [workspace.package]")?;
        let end = text.find("[profile.").context("the gateway's manifest has profiles at its end")?;
        let packages = self.packages.iter().map(|package| package.name);
        let members: Vec<String> =
            std::iter::once("plugin-api").chain(packages).map(|package| format!("{}/{package}", self.name)).collect();
        let inherited = &text[start..end];
        Ok(format!(
            "[workspace]\nresolver = \"3\"\nmembers = {members:?}\n\n{inherited}\n[profile.dev]\ndebug = false\n"
        ))
    }

    /// One file of plugin-api, as this workspace has it.
    fn edit(&self, file: &Path, text: String) -> anyhow::Result<String> {
        let mut text = text;
        if file == Path::new("Cargo.toml") {
            text = self.version.apply(&text)?;
        }
        for edit in self.edits.iter().filter(|edit| file == Path::new(edit.file)) {
            text = replace_once(&text, edit.before, edit.after).with_context(|| {
                format!("plugin-api/{} changed: adapt the edit in tests/src/fixtures.rs", edit.file)
            })?;
        }
        Ok(text)
    }
}

impl Package {
    fn write(&self, gateway: &Path, folder: &Path) -> anyhow::Result<()> {
        let folder = folder.join(self.name);
        if [HOSTILE, KEEPER].contains(&self.source) {
            return copy_folder(&gateway.join("tests").join(self.source), &folder, &as_library);
        }
        let source = gateway.join("tests/fixtures/plugins").join(self.source);
        let rename = |file: &Path, text: String| {
            let is_manifest = file == Path::new("Cargo.toml");
            if is_manifest { replace_once(&text, &name_line(self.source), &name_line(self.name)) } else { Ok(text) }
        };
        copy_folder(&source, &folder, &rename)?;
        if self.source == "newer_gateway" {
            let loading =
                ["copy", "inspect", "load", "load_error"].map(|module| format!("plugins/src/loading/{module}.rs"));
            for file in loading.iter().map(String::as_str).chain(["storage/src/replace_file.rs"]) {
                let file = gateway.join("host").join(file);
                let name = file.file_name().context("a module has a name")?;
                write_if_changed(&folder.join("src").join(name), &fs::read_to_string(&file)?)?;
            }
        }
        Ok(())
    }
}

impl Version {
    fn apply(&self, manifest: &str) -> anyhow::Result<String> {
        let line =
            manifest.lines().find(|line| line.starts_with("version = \"")).context("plugin-api has a version")?;
        let numbers: Vec<u32> = line.split(['"', '.']).filter_map(|part| part.parse().ok()).collect();
        let [major, minor, _] = numbers.as_slice() else {
            anyhow::bail!("plugin-api's version has three numbers: {line}")
        };
        let version = match self {
            Self::Same => return Ok(manifest.to_owned()),
            Self::NextMinor => format!("{major}.{}.0", minor + 1),
            Self::NextMajor => format!("{}.0.0", major + 1),
            Self::PreviousMajor => format!("{}.0.0", major - 1),
        };
        replace_once(manifest, line, &format!("version = \"{version}\""))
    }
}

/// A member of the gateway's own workspace, as a library to load.
fn as_library(file: &Path, text: String) -> anyhow::Result<String> {
    if file != Path::new("Cargo.toml") {
        return Ok(text);
    }
    let text = replace_once(&text, "crate-type = [\"rlib\"]", "crate-type = [\"cdylib\"]")?;
    replace_once(&text, "plugin-api.workspace = true", "plugin-api = { path = \"../plugin-api\" }")
}

fn name_line(package: &str) -> String {
    format!("name = \"{package}\"")
}

fn replace_once(text: &str, before: &str, after: &str) -> anyhow::Result<String> {
    let count = text.matches(before).count();
    ensure!(count == 1, "expected `{before}` once, found it {count} times");
    Ok(text.replacen(before, after, 1))
}

/// The same versions as the gateway. cargo drops what the workspace does not use, so the original is kept beside it.
fn copy_lock(gateway: &Path, folder: &Path) -> anyhow::Result<()> {
    let lock = fs::read_to_string(gateway.join("Cargo.lock"))?;
    let original = folder.join("Cargo.lock.gateway");
    if fs::read_to_string(&original).is_ok_and(|present| present == lock) {
        return Ok(());
    }
    write_if_changed(&folder.join("Cargo.lock"), &lock)?;
    write_if_changed(&original, &lock)
}

/// Copies text files; `edit` sees each with its path inside the folder. Packages inside the package stay out.
fn copy_folder(from: &Path, to: &Path, edit: &dyn Fn(&Path, String) -> anyhow::Result<String>) -> anyhow::Result<()> {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(from.join(&folder))? {
            let entry = entry?;
            let inside = folder.join(entry.file_name());
            let is_package = entry.path().join("Cargo.toml").exists();
            if entry.file_type()?.is_dir() {
                if !is_package {
                    folders.push(inside);
                }
            } else {
                let text = fs::read_to_string(entry.path()).with_context(|| entry.path().display().to_string())?;
                write_if_changed(&to.join(&inside), &edit(&inside, text)?)?;
            }
        }
    }
    Ok(())
}

/// Removes what was copied once and is gone since: a module that became a folder would have two files.
fn remove_gone(from: &Path, to: &Path) -> anyhow::Result<()> {
    let mut folders = vec![PathBuf::new()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(to.join(&folder))? {
            let entry = entry?;
            let inside = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                folders.push(inside);
            } else if !from.join(&inside).exists() {
                fs::remove_file(entry.path())?;
            }
        }
    }
    Ok(())
}

/// An unchanged file keeps its time, so that cargo does not build again.
fn write_if_changed(file: &Path, text: &str) -> anyhow::Result<()> {
    if fs::read_to_string(file).is_ok_and(|present| present == text) {
        return Ok(());
    }
    fs::create_dir_all(file.parent().context("a file lies in a folder")?)?;
    fs::write(file, text).with_context(|| file.display().to_string())
}
