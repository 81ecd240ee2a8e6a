//! `cargo xtask dev` and `cargo xtask bench` as the README says them, with the profile that the tests have built.

use super::Site;
use gateway_tests::process::{LIMIT, Setup};
use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// Builds, as the command does first, and says what may follow `--`.
fn dev_help() -> String {
    let mut dev = Command::new("cargo");
    dev.current_dir(repository()).env("XTASK_PROFILE", "dev").args(["xtask", "dev", "--", "--help"]);
    let output = dev.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// A program that is `cargo xtask dev`, wherever it is called.
fn dev_program(folder: &Path) -> PathBuf {
    let program = folder.join("dev");
    let root = repository();
    let script = format!("#!/bin/sh\ncd '{}' && XTASK_PROFILE=dev exec cargo xtask dev\n", root.display());
    fs::write(&program, script).unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    program
}

#[tokio::test]
async fn cargo_xtask_dev_starts_a_gateway_with_every_plugin() {
    assert!(dev_help().contains("--listen"));
    let folder = tempfile::tempdir().unwrap();
    // Without a folder for plugins it takes the one of its binary, as on a fresh machine.
    let mut gateway = Setup::new(dev_program(folder.path())).unwrap().unset("plugins.dir").start().await.unwrap();
    let index = Site::of(&gateway).get("/api").await.text();
    for route in ["/api/forum/threads", "/api/stream", "/api/hello/{name}"] {
        assert!(index.contains(route), "{route} is missing in {index}");
    }
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
}

/// Whether every job works and every server answers alike; figures of a debug build are none.
#[test]
fn cargo_xtask_bench_measures_every_job() {
    let mut bench = Command::new("cargo");
    bench.current_dir(repository()).env("XTASK_PROFILE", "dev").args(["xtask", "bench", "--smoke"]);
    let output = bench.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    for title in
        ["A list of 50 rows", "A signed write", "A live event", "Bursts", "beside the same handler", "A write into"]
    {
        assert!(said.contains(title), "{title} is missing in {said}");
    }
}
