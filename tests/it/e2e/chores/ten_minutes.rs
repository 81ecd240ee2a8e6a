//! "Ten minutes" of plugin-api/README.md, typed as it is written: a new plugin passes its tests on both databases, and a gateway serves it.
//!
//! It is typed in a copy of the workspace. The rule: only the new plugin is compiled. To cargo the copy is this workspace in another place: the
//! same packages at the same paths below its root, so that all that was compiled of them is good there, too.

use super::{Site, program, repository, said, serving};
use gateway_tests::process::{LIMIT, clean};
use std::{
    collections::BTreeSet,
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};

const PAGE: &str = include_str!("../../../../plugin-api/README.md");

/// The commands below the heading, without the comments behind them.
fn commands() -> Vec<&'static str> {
    let block = PAGE.split("## Ten minutes\n\n```sh\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    block.lines().map(|line| line.split(" #").next().unwrap_or(line).trim_end()).collect()
}

/// The copy: links, but for what the commands write.
struct Workspace {
    folder: PathBuf,
}

impl Workspace {
    /// In the target folder, because hard links stay in their file system.
    fn new() -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ten-minutes");
        // Of a run that failed.
        let _ = fs::remove_dir_all(&folder);
        let repository = repository();
        link_all(
            &repository,
            &folder,
            &[".git", "Cargo.lock", "Cargo.toml", "data", "dist", "plugins", "target", "tests"],
        );
        link_all(&repository.join("plugins"), &folder.join("plugins"), &[]);
        link_all(&repository.join("tests"), &folder.join("tests"), &["Cargo.toml"]);
        for file in ["Cargo.lock", "Cargo.toml", "tests/Cargo.toml"] {
            fs::copy(repository.join(file), folder.join(file)).unwrap();
        }
        let built = Path::new(env!("CARGO_BIN_EXE_gateway-under-test")).parent().unwrap();
        take_builds(built, &folder.join("target/debug"));
        Self { folder }
    }

    /// What a line prints.
    fn types(&self, line: &str) -> String {
        let mut shell = clean("sh");
        shell.args(["-euc", line]).current_dir(&self.folder);
        // The compiler's wrapper, if there is one, stays: without it cargo would compile the gateway again.
        shell.env("CARGO_NET_OFFLINE", "true").env("CARGO_TERM_COLOR", "never");
        shell.env_remove("CARGO_TARGET_DIR").env_remove("CI");
        let output = shell.output().unwrap();
        let printed = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        assert!(output.status.success(), "{line}\n{printed}");
        printed
    }
}

/// Links to what lies in a folder, but for some names.
fn link_all(from: &Path, to: &Path, but: &[&str]) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let name = entry.file_name();
        if !but.iter().any(|other| name == *other) {
            symlink(entry.path(), to.join(name)).unwrap();
        }
    }
}

/// What was compiled: links to libraries and programs, which a compiler replaces, and copies of what cargo writes in place.
fn take_builds(from: &Path, to: &Path) {
    let (built, taken) = (from.join("deps"), to.join("deps"));
    fs::create_dir_all(&taken).unwrap();
    // Hundreds of thousands, which only a debugger reads.
    let is_debug_info = |path: &Path| path.extension().is_some_and(|extension| extension == "dwo" || extension == "o");
    for entry in fs::read_dir(built).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_file() && !is_debug_info(&entry.path()) {
            fs::hard_link(entry.path(), taken.join(entry.file_name())).unwrap();
        }
    }
    let mut copy = Command::new("cp");
    said(copy.arg("--archive").args([from.join(".fingerprint"), from.join("build"), to.to_owned()]));
}

/// The packages that cargo says it compiled.
fn compiled(printed: &str) -> BTreeSet<&str> {
    let packages = printed.lines().filter_map(|line| line.trim_start().strip_prefix("Compiling "));
    packages.filter_map(|package| package.split(' ').next()).collect()
}

#[tokio::test]
async fn the_first_tutorial_works_as_it_is_written() {
    let [new, test, dev, curl] = commands()[..] else { panic!("other commands than these four: adapt this test") };
    let workspace = Workspace::new();
    let made = workspace.types(new);
    for next in [test, dev, curl] {
        assert!(made.contains(&format!("\n  {next} ")), "{next} is no next step: {made}");
    }
    let tested = workspace.types(test);
    assert!(tested.contains("3 tests run: 3 passed"), "{tested}");
    let said_so = "cargo compiled more than the new plugin, which takes minutes (first build all: `cargo build --workspace --all-targets`)";
    assert_eq!(compiled(&tested), BTreeSet::from(["notes"]), "{said_so}");

    // Builds, as the command does first. Then without Node.js, so without a chain: that one is tested for itself.
    workspace.types(&format!("{dev} -- --help"));
    let (scripts, tools) = (tempfile::tempdir().unwrap(), workspace.types("dirname $(command -v cargo)"));
    let dev = format!("env PATH={} {dev}", tools.trim());
    let mut gateway = serving(program(scripts.path(), &workspace.folder, &dev)).await;
    let path = curl.strip_prefix("curl http://127.0.0.1:8080").unwrap();
    let response = Site::of(&gateway).get(path).await;
    assert_eq!((response.status, response.text().as_str()), (200, r#"{"items":[],"total":0}"#));
    assert!(gateway.terminate(LIMIT).await.unwrap().success());
    fs::remove_dir_all(&workspace.folder).unwrap();
}
