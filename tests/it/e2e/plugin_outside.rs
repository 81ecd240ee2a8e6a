//! The page docs/plugin-outside.md, typed by somebody who has the program `gateway` and, in the place of a copy of the repository, what
//! `cargo package` makes of it: a plugin in a crate of its own passes its tests on both databases, and a running gateway loads it.

use super::{Site, chores::program, setup};
use gateway_tests::{
    packages,
    process::{GatewayProcess, LIMIT, clean},
};
use std::{
    collections::BTreeSet,
    env, fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

const PAGE: &str = include_str!("../../../docs/plugin-outside.md");
const GATEWAY: &str = env!("CARGO_BIN_EXE_gateway-under-test");

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// The commands of a page, in order.
fn commands(page: &str) -> Vec<&str> {
    let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap_or_default());
    blocks.flat_map(str::lines).collect()
}

/// Who types: a home with the packages as `~/gateway`, the program on PATH, and a folder to work in.
struct Author {
    home: TempDir,
    folder: PathBuf,
    packages: PathBuf,
}

impl Author {
    fn new() -> Self {
        let (home, unpacked) = (tempfile::tempdir().unwrap(), packages::unpacked().unwrap());
        symlink(&unpacked, home.path().join("gateway")).unwrap();
        fs::create_dir_all(home.path().join("bin")).unwrap();
        symlink(GATEWAY, home.path().join("bin/gateway")).unwrap();
        let folder = home.path().join("work");
        fs::create_dir_all(folder.join(".cargo")).unwrap();
        // They ask for each other in a registry, where nothing is published yet.
        fs::write(folder.join(".cargo/config.toml"), packages::patch(&unpacked)).unwrap();
        Self { home, folder, packages: unpacked }
    }

    fn path(&self) -> String {
        format!("{}:{}", self.home.path().join("bin").display(), env::var("PATH").unwrap())
    }

    fn shell(&self, line: &str) -> Command {
        let real_home = PathBuf::from(env::var_os("HOME").unwrap_or_default());
        let kept =
            |variable: &str, folder: &str| env::var_os(variable).unwrap_or_else(|| real_home.join(folder).into());
        let mut shell = clean("sh");
        shell.args(["-euc", line]).current_dir(&self.folder).env("PATH", self.path());
        shell.env("CARGO_HOME", kept("CARGO_HOME", ".cargo")).env("RUSTUP_HOME", kept("RUSTUP_HOME", ".rustup"));
        shell.env("HOME", self.home.path()).env("CARGO_NET_OFFLINE", "true");
        // Nobody looks for lines in what is compiled here.
        shell.env("CARGO_PROFILE_DEV_DEBUG", "0");
        // Of `cargo xtask test`, whose lints are for this workspace.
        shell.env_remove("RUSTC_WORKSPACE_WRAPPER").env_remove("CARGO_TARGET_DIR");
        shell.envs(env::var_os("GATEWAY_TEST_POSTGRES").map(|url| ("GATEWAY_TEST_POSTGRES", url)));
        shell
    }

    /// Runs a line to its end; what it prints.
    fn types(&self, line: &str, gateway: Option<&GatewayProcess>) -> String {
        let mut shell = self.shell(line);
        // The page's gateway listens where its configuration says; that of a test on a free port.
        shell.envs(gateway.map(|gateway| ("GATEWAY_ADMIN__LISTEN", gateway.admin_url().trim_start_matches("http://"))));
        let output = shell.output().unwrap();
        let printed = [output.stdout, output.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        assert!(output.status.success(), "{line}\n{printed}");
        printed
    }

    /// What its build and tests compile besides crates of the registry: the packages for authors, and no crate of the gateway.
    fn compiles_the_packages_only(&self) {
        let tree = self.shell("cargo tree --quiet --edges all --prefix none --format '{p}'").output().unwrap();
        let tree = String::from_utf8(tree.stdout).unwrap();
        let of_packages = format!("({}/", self.packages.display());
        let local = tree.lines().filter(|line| line.contains("(/") && !line.starts_with("notes "));
        let (ours, others): (Vec<_>, Vec<_>) = local.partition(|line| line.contains(&of_packages));
        let ours: BTreeSet<_> = ours.into_iter().filter_map(|line| line.split(' ').next()).collect();
        let expected = ["plugin-api", "plugin-api-macros", "plugin-test-kit", "request-signing"];
        assert_eq!((ours, others), (BTreeSet::from(expected), Vec::new()), "{tree}");
        assert!(!tree.lines().any(|line| line.starts_with("gateway")), "{tree}");
    }

    /// The versions of this workspace, and what earlier runs compiled: a test downloads nothing, and compiles its dependencies once.
    fn reuse_builds(&self) {
        fs::copy(repository().join("Cargo.lock"), self.folder.join("Cargo.lock")).unwrap();
        let compiled = Path::new(GATEWAY).ancestors().nth(2).unwrap().join("plugin-outside");
        fs::create_dir_all(&compiled).unwrap();
        symlink(compiled, self.folder.join("target")).unwrap();
    }
}

#[tokio::test]
async fn the_page_about_a_plugin_outside_works_as_it_is_written() {
    let mut author = Author::new();
    let mut gateway = None;
    let scripts = tempfile::tempdir().unwrap();
    let mut typed = Vec::new();
    for line in commands(PAGE) {
        let words: Vec<&str> = line.split(' ').collect();
        match words[..] {
            ["cd", folder] => {
                author.folder.push(folder);
                author.reuse_builds();
                author.types("cargo fmt --check", None);
                author.compiles_the_packages_only();
            }
            ["gateway", "run", ..] => {
                let command = format!("env PATH='{}' {line}", author.path());
                let program = program(scripts.path(), &author.folder, &command);
                let setup = setup().unset("plugins.hello.enabled").unset("plugins.kb.network_pages");
                gateway = Some(setup.with_program(program).start().await.unwrap());
            }
            ["curl", url] => {
                let path = url.strip_prefix("http://127.0.0.1:8080").unwrap();
                let response = Site::of(gateway.as_ref().unwrap()).get(path).await;
                assert_eq!((response.status, response.text().as_str()), (200, r#"{"items":[],"total":0}"#));
                assert!(PAGE.contains(&format!("prints `{}`", response.text())));
            }
            _ => {
                let printed = author.types(line, gateway.as_ref());
                let expected = match line {
                    "cargo test" => "test result: ok. 3 passed; 0 failed",
                    "gateway plugins enable notes" => "notes: serving",
                    "gateway plugins list notes" => "GET /api/notes/notes",
                    _ => "",
                };
                assert!(printed.contains(expected), "{line}\n{printed}");
            }
        }
        typed.push(words[..words.len().min(3)].join(" "));
    }
    for needed in ["gateway plugins new", "cargo test", "cargo build", "gateway plugins enable"] {
        assert!(typed.iter().any(|line| line == needed), "{needed} is not on the page: {typed:?}");
    }
    assert!(gateway.unwrap().terminate(LIMIT).await.unwrap().success());
}
