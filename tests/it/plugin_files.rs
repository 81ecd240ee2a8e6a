//! The gateway and the files it finds in its plugin folder: what fits loads, what does not is one line.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use gateway_plugins::{
    InspectProblem, LoadError, LoadedPlugin, PluginError, PluginReport, PluginState, discover, inspect, open,
};
use gateway_tests::{
    fixtures,
    plugins::{plugin_dir, plugin_file},
};
use plugin_api::abi::{ABI_MAJOR, ABI_MINOR};
use rstest::rstest;
use std::{
    fmt::Display,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// A short line that contains all of `parts`.
#[track_caller]
fn assert_line(error: impl Display, parts: &[&str]) {
    let text = error.to_string();
    assert_eq!(text.lines().count(), 1, "more than a line: {text}");
    assert!(text.len() < 500, "{} bytes: {text}", text.len());
    for part in parts {
        assert!(text.contains(part), "expected `{part}` in: {text}");
    }
}

fn load(file: &Path, data_dir: &Path) -> Result<LoadedPlugin, PluginError> {
    LoadedPlugin::load(&open(file, None)?, data_dir)
}

/// The version of the plugin API as texts show it.
fn api(minor: u32) -> String {
    format!("{ABI_MAJOR}.{minor}")
}

/// A refusal of a file that must not load.
#[track_caller]
fn refused(file: &Path, data_dir: &Path) -> PluginError {
    match load(file, data_dir) {
        Ok(plugin) => panic!("{} loads", plugin.name()),
        Err(error) => error,
    }
}

#[track_caller]
fn problem(file: &Path) -> InspectProblem {
    inspect(file, None).unwrap_err().problem
}

/// The content as a file called `lib<name>.so`.
fn plant(dir: &TempDir, name: &str, content: &[u8]) -> PathBuf {
    let file = dir.path().join(format!("lib{name}.so"));
    fs::write(&file, content).unwrap();
    file
}

/// Replaces bytes that must be there.
fn patch(content: &mut [u8], before: &[u8], after: &[u8]) {
    assert_eq!(before.len(), after.len());
    let places: Vec<usize> =
        (0..content.len() - before.len()).filter(|at| content[*at..].starts_with(before)).collect();
    assert!(!places.is_empty(), "{before:?} is not in the file");
    places.into_iter().for_each(|at| content[at..at + after.len()].copy_from_slice(after));
}

#[test]
fn a_plugin_of_today_loads_from_a_private_copy() {
    let dir = tempfile::tempdir().unwrap();
    let content = fs::read(plugin_file("hello").unwrap()).unwrap();
    let file = plant(&dir, "hello", &content);
    let opened = open(&file, None).unwrap();
    let inspection = opened.inspection.clone();
    assert_eq!(
        (inspection.name.as_str(), inspection.abi, inspection.bytes),
        ("hello", (ABI_MAJOR, ABI_MINOR), content.len() as u64)
    );

    let first = LoadedPlugin::load(&opened, dir.path()).unwrap();
    assert_eq!(first.name(), "hello");
    assert_eq!(first.manifest.version, inspection.version);
    assert!(!first.manifest.routes.is_empty());
    let copy = dir.path().join(format!("run/plugins/{}-hello.so", inspection.sha256));
    assert_eq!(fs::metadata(copy).unwrap().permissions().mode() & 0o777, 0o500);

    // The build overwrites its output: the mapped copy does not notice, and the same content is the same module.
    fs::write(&file, "overwritten").unwrap();
    assert!(first.module.manifest()().into_result().is_ok());
    let second = LoadedPlugin::load(&opened, dir.path()).unwrap();
    assert!(std::ptr::fn_addr_eq(first.module.manifest(), second.module.manifest()));

    let report = PluginReport::of_loaded(&first, PluginState::Serving);
    assert_eq!((report.abi.as_deref(), report.routes), (Some(&*api(ABI_MINOR)), first.manifest.routes.len()));
}

#[test]
fn the_folder_of_the_build_holds_plugins_and_other_libraries() {
    let dir = plugin_dir().unwrap();
    let candidates = discover(&dir).unwrap();
    assert!(candidates.iter().any(|candidate| candidate.name() == "hello"), "{candidates:?}");
    // cargo's macro libraries lie there too, and are not listed.
    for candidate in &candidates {
        inspect(&candidate.path, None).unwrap();
    }
    let libraries = fs::read_dir(dir)
        .unwrap()
        .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|extension| extension == "so"));
    assert!(libraries.count() > candidates.len());
}

#[test]
fn a_plugin_built_against_a_newer_minor_version_loads() {
    let data_dir = tempfile::tempdir().unwrap();
    let plugin = load(&fixtures::newer_minor().unwrap(), data_dir.path()).unwrap();
    assert_eq!(plugin.inspection.unwrap().abi, (ABI_MAJOR, ABI_MINOR + 1));
    assert_eq!(plugin.manifest.routes[0].path, "/api/sample/{word}");
}

#[test]
fn a_plugin_built_against_an_older_minor_version_loads_in_a_newer_gateway() {
    let newer_gateway = fixtures::newer_gateway().unwrap();
    let loads = |file: &Path| {
        let data_dir = tempfile::tempdir().unwrap();
        let output = Command::new(&newer_gateway).arg(file).arg(data_dir.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let older = loads(&plugin_file("hello").unwrap());
    let versions =
        format!("gateway of plugin API {}\nplugin hello of plugin API {}\n", api(ABI_MINOR + 1), api(ABI_MINOR));
    assert!(older.contains(&versions), "{older}");
    assert!(older.contains("appended entry point: None"), "{older}");
    let same = loads(&fixtures::newer_minor().unwrap());
    assert!(same.contains("plugin newer_minor of") && same.contains("appended entry point: Some(1)"), "{same}");
}

#[rstest]
#[case::before("previous_major", fixtures::previous_major, ABI_MAJOR - 1)]
#[case::next("next_major", fixtures::next_major, ABI_MAJOR + 1)]
fn another_major_version_is_refused(
    #[case] name: &str,
    #[case] build: fn() -> anyhow::Result<PathBuf>,
    #[case] other: u32,
) {
    let dir = tempfile::tempdir().unwrap();
    let file = build().unwrap();
    assert!(matches!(problem(&file), InspectProblem::OtherMajor { found } if found == (other, 0)));
    let speaks = format!("speaks plugin API {other}.0, this gateway speaks {}", api(ABI_MINOR));
    let advice = format!("rebuild it against plugin-api {ABI_MAJOR}.x");
    assert_line(refused(&file, dir.path()), &[&format!("lib{name}.so"), &speaks, &advice]);

    // A stamp that lies is found out by what abi_stable recorded, before any layout is compared.
    let mut content = fs::read(&file).unwrap();
    let stamp = |major: u32| [b"GWPLUGIN".as_slice(), &major.to_le_bytes()].concat();
    patch(&mut content, &stamp(other), &stamp(ABI_MAJOR));
    let lying = refused(&plant(&dir, name, &content), dir.path());
    assert!(matches!(lying, PluginError::Load { error: LoadError::OtherVersion { .. }, .. }), "{lying:?}");
    assert_line(lying, &[name, &format!("plugin-api {other}.0.0"), "this gateway has", &advice]);
}

#[test]
fn another_layout_is_refused() {
    let data_dir = tempfile::tempdir().unwrap();
    let error = refused(&fixtures::other_layout().unwrap(), data_dir.path());
    assert!(matches!(error, PluginError::Load { error: LoadError::OtherLayout { .. }, .. }), "{error:?}");
    assert_line(&error, &["other_layout", "too many fields in Request: expected 3, found 4", "rebuild it against"]);
    assert_eq!(error.state(), PluginState::Refused);
}

#[test]
fn another_machine_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let hello = fs::read(plugin_file("hello").unwrap()).unwrap();
    // Offsets in the ELF header: 7 operating system, 18 machine.
    let cases: [(usize, u8, &str); 3] =
        [(18, 0xb7, "aarch64 (ELF, 64-bit"), (18, 0xf3, "riscv64 (ELF, 64-bit"), (7, 9, "OS ABI 9")];
    for (at, byte, found) in cases {
        let mut content = hello.clone();
        content[at] = byte;
        let error = refused(&plant(&dir, "hello", &content), dir.path());
        let here = format!("this gateway needs {}", std::env::consts::ARCH);
        assert_line(error, &[found, &here, "rebuild the plugin for this machine"]);
    }
}

#[test]
fn what_is_no_library_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let hello = fs::read(plugin_file("hello").unwrap()).unwrap();
    let mut object_file = hello.clone();
    object_file[16] = 1;
    let cases: [(&[u8], &str); 5] = [
        (b"", "is an empty file"),
        (b"#!/bin/sh\nexit 0\n", "is a text file"),
        (b"!<arch>\nhello.o/", "is a static library"),
        (b"\x00\xff\x00\xff no text", "is no library"),
        (&object_file, "is an object file"),
    ];
    for (content, found) in cases {
        let error = refused(&plant(&dir, "hello", content), dir.path());
        assert_line(error, &["libhello.so", found, "expected a shared library", "cargo builds from a plugin"]);
    }
    assert_line(refused(dir.path(), dir.path()), &["is not a file", "name the library itself"]);
    assert_line(refused(&dir.path().join("libgone.so"), dir.path()), &["cannot be read", "check the path"]);
}

#[test]
fn a_file_cut_short_is_refused_wherever_it_ends() {
    let dir = tempfile::tempdir().unwrap();
    let hello = fs::read(plugin_file("hello").unwrap()).unwrap();
    for length in [5, 40, 64, 4096, hello.len() / 2, hello.len() - 1] {
        let file = plant(&dir, "hello", &hello[..length]);
        let found = format!("{length} bytes found");
        assert_line(refused(&file, dir.path()), &["cut short or damaged", &found, "copy the whole file again"]);
    }
}

#[test]
fn a_library_without_a_stamp_is_listed_and_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = plant(&dir, "no_stamp", &fs::read(fixtures::no_stamp().unwrap()).unwrap());
    assert_eq!(discover(dir.path()).unwrap()[0].name(), "no_stamp");
    assert_line(refused(&file, dir.path()), &["is a library but no plugin", ".gateway_plugin", "export_plugin!"]);
    plant(&dir, "broken", &fs::read(&file).unwrap()[..100]);
    let names: Vec<String> = discover(dir.path()).unwrap().iter().map(|one| one.name().to_owned()).collect();
    assert_eq!(names, ["broken", "no_stamp"]);
}

#[test]
fn a_renamed_file_and_another_hash_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let hello = plugin_file("hello").unwrap();
    let renamed = plant(&dir, "goodbye", &fs::read(&hello).unwrap());
    assert_line(refused(&renamed, dir.path()), &["plugin `hello`", "`goodbye`", "rename the file to libhello.so"]);

    let sha256 = inspect(&hello, None).unwrap().sha256;
    assert!(inspect(&hello, Some(&sha256.to_uppercase())).is_ok());
    let pinned = "0".repeat(64);
    let error = inspect(&hello, Some(&pinned)).unwrap_err();
    assert_line(&error, &[&sha256, &pinned, "put the pinned file back"]);
}

#[test]
fn a_panic_in_the_manifest_is_a_report() {
    let data_dir = tempfile::tempdir().unwrap();
    let error = refused(&fixtures::panics_in_manifest().unwrap(), data_dir.path());
    assert_line(&error, &["panics_in_manifest", "panic at", "src/lib.rs:", "no manifest today"]);
    let report = PluginReport::of_error("panics_in_manifest", &error);
    assert_eq!((report.state, report.reason), (PluginState::Failed, error.to_string()));
}

#[test]
fn a_library_that_needs_what_is_not_there_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let mut content = fs::read(fixtures::panics_in_manifest().unwrap()).unwrap();
    patch(&mut content, b"\0libgcc_s.so.1\0", b"\0libgcc_x.so.1\0");
    let error = refused(&plant(&dir, "panics_in_manifest", &content), dir.path());
    assert_line(error, &["cannot be mapped", "libgcc_x.so.1", "install the library that it names"]);
}

#[test]
fn another_build_of_a_loaded_plugin_waits_for_a_restart() {
    let dir = tempfile::tempdir().unwrap();
    let first = plugin_file("hello").unwrap();
    load(&first, dir.path()).unwrap();
    // A build that differs by its content only: bytes after the end of an ELF file mean nothing.
    let mut content = fs::read(&first).unwrap();
    content.extend_from_slice(b"another build");
    let error = refused(&plant(&dir, "hello", &content), dir.path());
    assert_eq!(error.state(), PluginState::NeedsRestart);
    assert_line(error, &["plugin hello is already loaded", "restart the gateway"]);
    // The first build is still there.
    assert_eq!(load(&first, dir.path()).unwrap().name(), "hello");
}
