//! Maps a plugin's library and finds its root module.
//!
//! The rules: only a private copy is mapped, by the descriptor that was checked; a library is never unloaded (its code may still run); one content is one
//! module in the process; a build that differs from the one that serves under its name waits for a restart; a module is
//! used only after its layout was compared with ours.

#![allow(unsafe_code, reason = "mapping foreign code is unsafe by nature; it happens here and nowhere else")]

use super::{
    copy::{PrivateCopy, private_copy},
    inspect::{Inspection, PluginFile},
    load_error::LoadError,
};
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use parking_lot::Mutex;
use plugin_api::{
    abi::{PluginModule_Ref, ROOT_SYMBOL_PREFIX},
    abi_stable::{
        StableAbi,
        abi_stability::abi_checking::{AbiInstabilityErrors, check_layout_compatibility},
        library::{AbiHeader, AbiHeaderRef, LibHeader, LibraryError, RootModule},
        type_layout::{TLFieldOrFunction, TypeLayout},
    },
};
use std::{
    collections::HashMap,
    error::Error as _,
    os::fd::AsRawFd as _,
    path::{Path, PathBuf},
    sync::LazyLock,
};

/// What this process has mapped: libraries are never unloaded.
#[derive(Default)]
struct LoadedModules {
    /// By the sha256 of their file.
    modules: HashMap<String, PluginModule_Ref>,
    /// Plugin name → sha256 of the build that this process runs.
    running: HashMap<String, String>,
}

static LOADED: LazyLock<Mutex<LoadedModules>> = LazyLock::new(Mutex::default);

/// The root module of the inspected file, mapped from a private copy below `data_dir`; the same content is mapped once.
pub fn load(file: &PluginFile, data_dir: &Path) -> Result<PluginModule_Ref, LoadError> {
    let inspection = &file.inspection;
    // Held until the module is there, so that two callers do not map the same content twice.
    let mut loaded = LOADED.lock();
    loaded.refuse_other_build(inspection)?;
    if let Some(module) = loaded.modules.get(&inspection.sha256) {
        return Ok(*module);
    }
    let header = map(private_copy(file, data_dir)?, &inspection.name)?;
    let module = checked_module(header)?;
    loaded.modules.insert(inspection.sha256.clone(), module);
    Ok(module)
}

/// Whether this process has mapped the content already.
pub(super) fn is_loaded(inspection: &Inspection) -> bool {
    LOADED.lock().modules.contains_key(&inspection.sha256)
}

/// Records that this build runs under its name: from now on any other build needs a restart. (A build that was mapped
/// and then refused is not recorded, so that a corrected one can be loaded.)
pub(super) fn claim(inspection: &Inspection) -> Result<(), LoadError> {
    let mut loaded = LOADED.lock();
    loaded.refuse_other_build(inspection)?;
    loaded.running.insert(inspection.name.clone(), inspection.sha256.clone());
    Ok(())
}

impl LoadedModules {
    fn refuse_other_build(&self, inspection: &Inspection) -> Result<(), LoadError> {
        match self.running.get(&inspection.name) {
            Some(running) if *running != inspection.sha256 => {
                Err(LoadError::NeedsRestart { running: running.clone(), found: inspection.sha256.clone() })
            }
            _ => Ok(()),
        }
    }
}

/// Maps the library for the life of the process. Its static constructors run here.
fn map(copy: PrivateCopy, name: &str) -> Result<&'static LibHeader, LoadError> {
    let opened = opened_path(&copy);
    // `RTLD_NOW`: an undefined symbol is an error here, not a crash in the first request that needs it.
    // SAFETY: the file is a shared library for this machine with our stamp, intact (inspected, copied by content).
    // What its static constructors do is beyond our control, as is everything else a plugin does.
    let library = unsafe { Library::open(Some(&opened), RTLD_NOW | RTLD_LOCAL) }
        .map_err(|error| map_error(&error, &opened, &copy.path))?;
    // The linker knows libraries by their names: the number of this descriptor must never name another one.
    std::mem::forget(copy.file);
    let library: &'static Library = Box::leak(Box::new(library));
    let symbol = format!("{ROOT_SYMBOL_PREFIX}{name}");
    // SAFETY: the macro that makes the stamp exports abi_stable's header under this name: a static whose address is an
    // `AbiHeaderRef`. The library is leaked, so the reference stays valid.
    let header = unsafe { library.get::<AbiHeaderRef>(symbol.as_bytes()) };
    let header = *header.map_err(|error| LoadError::NoModule { reason: linker_text(&error) })?;
    header.upgrade().map_err(|error| library_error(&error))
}

/// A name of the open file. Where there is none that the linker follows, the path, whose folder is this user's alone.
fn opened_path(copy: &PrivateCopy) -> PathBuf {
    if cfg!(target_os = "linux") {
        format!("/proc/self/fd/{}", copy.file.as_raw_fd()).into()
    } else {
        copy.path.clone()
    }
}

/// Compares versions and layouts in both directions, then makes the module.
fn checked_module(header: &'static LibHeader) -> Result<PluginModule_Ref, LoadError> {
    let theirs = header
        .layout()
        .ok_or_else(|| LoadError::OtherLayout { difference: "the library does not describe its layout".into() })?;
    check_version(header)?;
    check_layout(theirs, <PluginModule_Ref as StableAbi>::LAYOUT)?;
    // SAFETY: the layouts were compared just above; what only one side has lies behind the common prefix, where both
    // sides look it up by the other's own field count.
    let module = unsafe { header.init_root_module_with_unchecked_layout::<PluginModule_Ref>() };
    module.map_err(|error| library_error(&error))
}

/// A stamp may lie; the version that abi_stable recorded is the one of the crate that was compiled in.
fn check_version(header: &LibHeader) -> Result<(), LoadError> {
    let (found, expected) = (header.version_strings(), PluginModule_Ref::VERSION_STRINGS);
    let major = |version: &str| version.split('.').next().map(str::to_owned);
    if major(found.version.as_str()) == major(expected.version.as_str()) {
        return Ok(());
    }
    Err(LoadError::OtherVersion { found: found.version.to_string(), expected: expected.version.to_string() })
}

/// abi_stable asks whether a *program* may use a *newer library*: the first layout may have fewer fields than the
/// second, never more. A gateway meets older and newer plugins, so either direction will do.
fn check_layout(theirs: &'static TypeLayout, ours: &'static TypeLayout) -> Result<(), LoadError> {
    if check_layout_compatibility(theirs, ours).is_ok() {
        return Ok(());
    }
    check_layout_compatibility(ours, theirs).map_err(|errors| {
        tracing::debug!(%errors, "the plugin's layout differs from the gateway's");
        LoadError::OtherLayout { difference: difference(&errors) }
    })
}

/// abi_stable's report has hundreds of lines; the cause is in the last type it names, the innermost one.
fn difference(errors: &AbiInstabilityErrors) -> String {
    let Some(innermost) = errors.errors.last() else { return "the layouts differ".to_owned() };
    let place = match innermost.stack_trace.last().map(|place| &place.found) {
        Some(TLFieldOrFunction::Field(field)) => field.full_type().to_string(),
        Some(TLFieldOrFunction::Function(function)) => function.to_string(),
        None => "the root module".to_owned(),
    };
    let report = innermost.to_string();
    // Blocks of "too many fields / Expected: 3 / Found: 4"; a count says more than the sizes that follow from it.
    let mut causes = report.split("\nError:").skip(1);
    let counts = causes.clone().find(|cause| cause.starts_with("too many"));
    let cause = counts.or_else(|| causes.next()).unwrap_or("another layout");
    let (what, rest) = cause.split_once("\nExpected:").unwrap_or((cause, ""));
    let (expected, found) = rest.split_once("\nFound:").unwrap_or((rest, ""));
    format!("{} in {}: expected {}, found {}", short(what), short(&place), short(expected), short(found))
}

/// What the dynamic linker said; libloading's own words are only "dlopen failed".
fn linker_text(error: &libloading::Error) -> String {
    reason_line(&error.source().map_or_else(|| error.to_string(), ToString::to_string))
}

fn map_error(error: &libloading::Error, opened: &Path, copy: &Path) -> LoadError {
    let reason = linker_text(error).replace(&*opened.to_string_lossy(), &copy.to_string_lossy());
    let advice = if reason.contains("failed to map segment") {
        "mount the file system of data_dir without noexec"
    } else if reason.contains("No such file") {
        "install the library that it names, or rebuild the plugin without it"
    } else if reason.contains("undefined symbol") || reason.contains("version `") {
        "rebuild the plugin on this machine's system"
    } else {
        "rebuild the plugin for this machine"
    };
    LoadError::Map { reason, advice }
}

fn library_error(error: &LibraryError) -> LoadError {
    tracing::debug!(%error, "the plugin's library is refused");
    match error {
        LibraryError::InvalidAbiHeader(found) => {
            let version = |header: &AbiHeader| format!("{}.{}", header.abi_major, header.abi_minor);
            LoadError::OtherAbiStable { found: version(found), expected: version(&AbiHeader::VALUE) }
        }
        LibraryError::IncompatibleVersionNumber { expected_version, actual_version, .. } => {
            LoadError::OtherVersion { found: actual_version.to_string(), expected: expected_version.to_string() }
        }
        LibraryError::RootModule { err, .. } => LoadError::Module { reason: reason_line(&err.to_string()) },
        other => LoadError::Module { reason: reason_line(&other.to_string()) },
    }
}

/// The text of a library's or a plugin's error, as one line for an error of this crate.
pub(super) fn reason_line(text: &str) -> String {
    collapse_whitespace(text, 300)
}

fn short(text: &str) -> String {
    collapse_whitespace(text, 80)
}

/// Words with one space between, up to a length.
fn collapse_whitespace(text: &str, characters_max: usize) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let line = words.join(" ");
    match line.char_indices().nth(characters_max) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::fs;

    /// The same root module as three versions of an API would define it.
    #[allow(dead_code, non_camel_case_types, reason = "only their layouts are read")]
    mod versions {
        macro_rules! version {
            ($version:ident, $argument:ty $(, $appended:ident)?) => {
                pub mod $version {
                    use plugin_api::abi_stable::StableAbi;
                    #[repr(C)]
                    #[derive(StableAbi)]
                    #[sabi(kind(Prefix(prefix_ref = Module_Ref)))]
                    pub struct Module {
                        pub first: extern "C" fn(u32) -> u32,
                        #[sabi(last_prefix_field)]
                        pub second: extern "C" fn($argument) -> u32,
                        $(#[sabi(missing_field(option))]
                        pub $appended: extern "C" fn(u8) -> u8,)?
                    }
                }
            };
        }
        version!(v1_0, u64);
        version!(v1_1, u64, third);
        version!(changed, i64);
    }
    use versions::{changed, v1_0, v1_1};

    #[test]
    fn appended_fields_fit_in_both_directions() {
        let (older, newer) = (v1_0::Module_Ref::LAYOUT, v1_1::Module_Ref::LAYOUT);
        assert!(check_layout(older, newer).is_ok(), "an older plugin in a newer gateway");
        assert!(check_layout(newer, older).is_ok(), "a newer plugin in an older gateway");
        assert!(check_layout_compatibility(newer, older).is_err(), "one direction alone refuses");
    }

    #[test]
    fn a_changed_field_is_refused_in_one_line() {
        let error = check_layout(changed::Module_Ref::LAYOUT, v1_0::Module_Ref::LAYOUT).unwrap_err().to_string();
        assert!(error.contains("expected u64, found i64"), "{error}");
        assert_eq!(error.lines().count(), 1, "{error}");
    }

    /// Two files that are no libraries: the linker's reason tells which of them it read.
    #[test]
    fn what_is_mapped_is_what_was_checked() {
        let dir = tempfile::tempdir().unwrap();
        let inspection = Inspection {
            path: "libforum.so".into(),
            name: "forum".into(),
            version: "1.0.0".into(),
            abi: (1, 0),
            sha256: "0".repeat(64),
            bytes: 5,
        };
        let copy = private_copy(&PluginFile { inspection, content: b"short".to_vec() }, dir.path()).unwrap();
        let other = copy.path.with_extension("other");
        fs::write(&other, [0_u8; 4096]).unwrap();
        fs::rename(&other, &copy.path).unwrap();
        let error = map(copy, "forum").err().unwrap().to_string();
        assert!(error.contains("file too short"), "{error}");
    }

    #[test]
    fn lines_are_bounded() {
        assert_eq!(reason_line("\n\ttwo\n lines "), "two lines");
        assert_eq!(short(&"ä".repeat(200)), format!("{}…", "ä".repeat(80)));
    }
}
