//! `cargo xtask conflicts`: the tests of plugins on a PostgreSQL on which every write has a conflict and runs a second time.
//!
//! Rule: these are the tests that always run; what they assert may not depend on how often a write runs.

use crate::{Failure, postgres::Cluster, process, profile::Profile, repository, test::plugin_packages};
use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, ChildStdout, Command, Stdio},
};

const PROXY: &str = "conflict-proxy";

/// `[PLUGIN]`: one instead of all.
pub fn run(arguments: &[String]) -> Result<(), Failure> {
    let root = repository::root()?;
    let packages = match arguments {
        [] => plugin_packages(&root)?,
        [plugin] => format!("package({plugin})"),
        _ => return Err("`cargo xtask conflicts` takes the name of a plugin".to_owned()),
    };
    // Everything, so that nothing is built twice with other features.
    process::run(process::cargo().current_dir(&root).args(["build", "--workspace", "--all-targets"]))?;
    let cluster = Cluster::start()?;
    let proxy = Proxy::start(&root, cluster.url())?;
    let mut nextest = process::cargo();
    nextest.current_dir(&root).args(["nextest", "run", "--workspace", "--profile", "long"]);
    nextest.args(["--filterset", &packages]);
    let tested = process::run(nextest.env("GATEWAY_TEST_POSTGRES", &proxy.url));
    let conflicts = proxy.end()?;
    println!("{conflicts} writes had a conflict at their COMMIT");
    tested?;
    if conflicts == 0 { Err("no write had a conflict".to_owned()) } else { Ok(()) }
}

/// Ends with the pipe of its standard input.
struct Proxy {
    child: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl Proxy {
    fn start(root: &Path, server: &str) -> Result<Self, Failure> {
        let mut command = Command::new(Profile { name: "dev".to_owned() }.folder(root).join(PROXY));
        command.arg(server).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("{PROXY}: {error}"))?;
        let output = child.stdout.take().ok_or_else(|| format!("{PROXY} has no output"))?;
        let mut proxy = Self { child, output: BufReader::new(output), url: String::new() };
        proxy.url = proxy.line()?;
        Ok(proxy)
    }

    /// How many conflicts there were.
    fn end(mut self) -> Result<u64, Failure> {
        drop(self.child.stdin.take());
        let line = self.line()?;
        line.parse().map_err(|error| format!("{PROXY} ended with {line:?}: {error}"))
    }

    fn line(&mut self) -> Result<String, Failure> {
        let mut line = String::new();
        self.output.read_line(&mut line).map_err(|error| format!("{PROXY}: {error}"))?;
        Ok(line.trim().to_owned())
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
