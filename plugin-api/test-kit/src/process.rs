//! The gateway's process. Rule: it ends with the value, and a test that fails shows what it logged.

use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use std::{
    env,
    fs::{self, File},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Of every wait: a machine may be busy.
const LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);
/// The configuration of the test's own environment is not the gateway's.
const PREFIX: &str = "GATEWAY_";

pub struct Process {
    child: Child,
    folder: TempDir,
    pub base_url: String,
    pub admin_url: String,
}

impl Process {
    /// Starts the gateway with `gateway.toml` of this folder, which it keeps all its files in, and waits until it says where it listens.
    pub async fn start(program: &Path, folder: TempDir, variables: &[(&str, &str)]) -> Self {
        let file =
            |name: &str| File::create(folder.path().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut command = Command::new(program);
        command.args(["run", "--config", "gateway.toml"]).current_dir(folder.path());
        for (name, _) in env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with(PREFIX)) {
            command.env_remove(name);
        }
        command.envs(variables.iter().copied());
        command.stdin(Stdio::null()).stdout(file("addresses")).stderr(file("log"));
        let child = command.spawn().unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        let mut process = Self { child, folder, base_url: String::new(), admin_url: String::new() };
        process.read_addresses().await;
        process
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        self.read("log")
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap_or_default()
    }

    async fn read_addresses(&mut self) {
        let started = Instant::now();
        while !self.has_addresses() {
            if let Ok(Some(status)) = self.child.try_wait() {
                panic!("the gateway ended before it served: {status}");
            }
            assert!(started.elapsed() < LIMIT, "the gateway does not serve within {LIMIT:?}");
            tokio::time::sleep(POLL).await;
        }
    }

    /// Takes the addresses from what the gateway prints; `database` is the first line behind them.
    fn has_addresses(&mut self) -> bool {
        let printed = self.read("addresses");
        for line in printed.lines() {
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some("API"), Some(url)) => self.base_url = url.trim_end_matches("/api").to_owned(),
                (Some("admin"), Some(url)) => self.admin_url = url.to_owned(),
                (Some("database"), _) => return true,
                _ => {}
            }
        }
        false
    }

    /// Stops it as an operator does, and waits for its end.
    pub async fn stop(&mut self) -> ExitStatus {
        let id = i32::try_from(self.child.id()).unwrap_or_else(|error| panic!("the process's number: {error}"));
        kill(Pid::from_raw(id), Signal::SIGTERM).unwrap_or_else(|error| panic!("SIGTERM: {error}"));
        let started = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return status,
                Ok(None) if started.elapsed() < LIMIT => tokio::time::sleep(POLL).await,
                Ok(None) => panic!("the gateway still runs {LIMIT:?} after SIGTERM"),
                Err(error) => panic!("the gateway's end: {error}"),
            }
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("--- what the gateway logged:\n{}---", self.log());
        }
    }
}
