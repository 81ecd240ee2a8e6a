//! The gateway as an operator runs it: a process of its own that loads its plugins from shared libraries.
//!
//! The rule: nothing outlives the test. What still runs is killed when its value is dropped, and a test that fails shows
//! what the gateway logged.

use crate::{
    plugin_copies,
    plugins::{plugin_dir, plugin_file},
};
use anyhow::{Context as _, Result, bail};
use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fmt::Display,
    fs::{self, File},
    io::{BufRead as _, BufReader, Read as _, Write as _},
    iter,
    os::unix::{fs::symlink, process::ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdout, Command, ExitStatus, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::sync::mpsc;

/// The limit of every wait in a test: generous, because the machine may be busy.
pub const LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(10);
/// Control-C.
const INTERRUPT: &[u8] = b"\x03";

const PREFIX: &str = "GATEWAY_";
/// Variables that cargo sets about the test's own package. A cargo that inherits them recompiles ring and its
/// dependents.
const OF_THE_TEST: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// A gateway to be started: program, configuration, and a folder of the test's own for all that it keeps.
#[derive(Clone)]
pub struct Setup {
    program: PathBuf,
    folder: Arc<TempDir>,
    environment: BTreeMap<String, String>,
}

/// How a command ended.
#[derive(Debug)]
pub struct CommandOutput {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

/// A running gateway.
pub struct GatewayProcess {
    setup: Setup,
    child: Child,
    base_url: String,
    admin_url: String,
}

impl Setup {
    /// Free ports, SQLite, the plugins of this build, no limits per IP, no delay before refusals.
    pub fn new(program: impl Into<PathBuf>) -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("gateway-test-").tempdir()?;
        let data_dir = folder.path().join("data");
        let setup = Self { program: program.into(), folder: Arc::new(folder), environment: BTreeMap::new() };
        Ok(setup
            .set("data_dir", data_dir.display())
            .set("http.listen", "127.0.0.1:0")
            .set("admin.listen", "127.0.0.1:0")
            .set("limits.allow", "127.0.0.1")
            .set("http.tarpit_ms", 0)
            .set("plugins.dir", plugin_dir()?.display())
            // The tutorial is off until somebody enables it.
            .set("plugins.hello.enabled", true)
            // The network pages of a new gateway would add events to those that tests count.
            .set("plugins.kb.network_pages", false))
    }

    /// The same gateway, started by another program.
    #[must_use]
    pub fn with_program(self, program: impl Into<PathBuf>) -> Self {
        Self { program: program.into(), ..self }
    }

    /// Sets a key of the configuration by its environment variable.
    #[must_use]
    pub fn set(mut self, key: &str, value: impl Display) -> Self {
        self.environment.insert(variable(key), value.to_string());
        self
    }

    /// What was set for a key.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.environment.get(&variable(key)).map(String::as_str)
    }

    /// Leaves a key to the file, or to its default.
    #[must_use]
    pub fn unset(mut self, key: &str) -> Self {
        self.environment.remove(&variable(key));
        self
    }

    /// Loads only these plugins of this build: a start copies and checks each library that it finds.
    pub fn with_only(self, plugins: &[&str]) -> Result<Self> {
        let folder = self.folder().join("a-few-plugins");
        fs::create_dir(&folder)?;
        for plugin in plugins {
            let file = plugin_file(plugin)?;
            symlink(&file, folder.join(file.file_name().context("a plugin's file has a name")?))?;
        }
        Ok(self.set("plugins.dir", folder.display()))
    }

    /// Loads the plugins of this folder, and has no settings for others: a section of a plugin that is not there is a problem.
    #[must_use]
    pub fn with_plugins_of(self, folder: &Path) -> Self {
        self.unset("plugins.hello.enabled").unset("plugins.kb.network_pages").set("plugins.dir", folder.display())
    }

    /// Starts with a configuration file, which [`Self::write_config`] may change later.
    pub fn with_config(self, toml: &str) -> Result<Self> {
        self.write_config(toml)?;
        let file = self.config_file().display().to_string();
        Ok(self.set("config", file))
    }

    /// Replaces the configuration file in one step, as a careful operator does.
    pub fn write_config(&self, toml: &str) -> Result<()> {
        let draft = self.folder().join("gateway.toml.draft");
        fs::write(&draft, toml)?;
        Ok(fs::rename(draft, self.config_file())?)
    }

    pub fn config_file(&self) -> PathBuf {
        self.folder().join("gateway.toml")
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What was logged so far, by all gateways of this setup.
    pub fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    /// Runs one command of the command line to its end.
    pub fn run(&self, arguments: &[&str]) -> Result<CommandOutput> {
        self.run_with(arguments, &[])
    }

    /// The same with some variables of the environment.
    pub fn run_with(&self, arguments: &[&str], variables: &[(&str, &str)]) -> Result<CommandOutput> {
        let output = self.command(arguments).envs(variables.iter().copied()).output()?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(CommandOutput { code: output.status.code(), stdout: text(&output.stdout), stderr: text(&output.stderr) })
    }

    /// Runs one command on a terminal until it has printed this, and interrupts it as a person does. Returns what stood there.
    pub fn run_on_terminal(&self, arguments: &[&str], variables: &[(&str, &str)], until: &str) -> Result<String> {
        let inner = self.command(arguments);
        let words = iter::once(inner.get_program()).chain(inner.get_args()).map(OsStr::to_string_lossy);
        let line = words.collect::<Vec<_>>().join(" ");
        let mut outer = clean("script");
        outer.args(["--quiet", "--return", "--command", &line, "/dev/null"]);
        outer.envs(inner.get_envs().filter_map(|(name, value)| Some((name, value?)))).envs(variables.iter().copied());
        let mut child = outer.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().context("script does not start")?;
        let (mut keys, mut terminal) = (child.stdin.take(), child.stdout.take().context("standard output is a pipe")?);
        let (mut printed, mut part) = (Vec::new(), [0; 4096]);
        loop {
            let count = terminal.read(&mut part)?;
            printed.extend_from_slice(part.get(..count).unwrap_or_default());
            if count == 0 {
                break;
            }
            if String::from_utf8_lossy(&printed).contains(until)
                && let Some(mut keys) = keys.take()
            {
                keys.write_all(INTERRUPT)?;
            }
        }
        child.wait()?;
        Ok(String::from_utf8_lossy(&printed).into_owned())
    }

    /// Starts one command and does not wait for its end.
    pub fn spawn(&self, arguments: &[&str]) -> Result<Child> {
        Ok(self.command(arguments).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?)
    }

    /// The same, with a standard output of the test's.
    pub fn spawn_printing(&self, arguments: &[&str], stdout: impl Into<Stdio>) -> Result<Child> {
        Ok(self.command(arguments).stdout(stdout).stderr(Stdio::null()).spawn()?)
    }

    /// Starts the gateway and waits until it says that it serves.
    pub async fn start(&self) -> Result<GatewayProcess> {
        let log = File::options().create(true).append(true).open(self.log_file())?;
        self.data_dir().map(plugin_copies::lend);
        let mut child = self.command(&["run"]).stdout(Stdio::piped()).stderr(log).spawn()?;
        let lines = child.stdout.take().map(follow).context("standard output is a pipe")?;
        let mut process =
            GatewayProcess { setup: self.clone(), child, base_url: String::new(), admin_url: String::new() };
        match tokio::time::timeout(LIMIT, process.read_banner(lines)).await {
            Ok(Ok(())) => {
                self.data_dir().map(plugin_copies::share);
                Ok(process)
            }
            Ok(Err(error)) => Err(error.context(self.log())),
            Err(_elapsed) => bail!("the gateway does not serve within {LIMIT:?}:\n{}", self.log()),
        }
    }

    /// The program with nothing of this process's own configuration.
    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = clean(&self.program);
        command.args(arguments).envs(&self.environment).current_dir(self.folder()).stdin(Stdio::null());
        command
    }

    /// None where a test leaves it to the configuration file.
    fn data_dir(&self) -> Option<&Path> {
        self.get("data_dir").map(Path::new)
    }

    fn log_file(&self) -> PathBuf {
        self.folder().join("log")
    }
}

impl CommandOutput {
    /// Standard output as JSON.
    pub fn json(&self) -> Result<serde_json::Value> {
        serde_json::from_str(&self.stdout).with_context(|| format!("no JSON: {self:?}"))
    }
}

impl GatewayProcess {
    /// Where clients reach it, without a slash at the end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// The operator's listener.
    pub fn admin_url(&self) -> &str {
        &self.admin_url
    }

    /// Host and port of [`Self::base_url`].
    pub fn address(&self) -> &str {
        self.base_url.trim_start_matches("https://").trim_start_matches("http://")
    }

    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Reads the configuration again.
    pub fn sighup(&self) -> Result<()> {
        self.signal("HUP")
    }

    /// Sends SIGTERM, and does not wait.
    pub fn sigterm(&self) -> Result<()> {
        self.signal("TERM")
    }

    /// Halts it by SIGSTOP, as a machine does that is suspended: its connections stay open in silence.
    pub fn freeze(&self) -> Result<()> {
        self.signal("STOP")
    }

    /// Lets a frozen process go on.
    pub fn thaw(&self) -> Result<()> {
        self.signal("CONT")
    }

    /// Stops it by SIGTERM; an error when it takes longer than `limit`.
    pub async fn terminate(&mut self, limit: Duration) -> Result<ExitStatus> {
        self.sigterm()?;
        self.ended(limit).await
    }

    /// Kills it by SIGKILL.
    pub async fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        let status = self.ended(LIMIT).await?;
        anyhow::ensure!(status.signal() == Some(9), "it had ended by itself: {status}");
        Ok(())
    }

    /// Waits for the end of the process.
    pub async fn ended(&mut self, limit: Duration) -> Result<ExitStatus> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait()? {
                return Ok(status);
            }
            if started.elapsed() > limit {
                bail!("the gateway still runs after {limit:?}");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Memory of the process that is in use, and the most that ever was, in KiB.
    pub fn memory_kib(&self) -> Result<(u64, u64)> {
        Ok((self.status_kib("VmRSS:")?, self.status_kib("VmHWM:")?))
    }

    /// Its private memory, in KiB: without pages of files, such as those that SQLite maps.
    pub fn own_memory_kib(&self) -> Result<u64> {
        self.status_kib("RssAnon:")
    }

    fn status_kib(&self, name: &str) -> Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix(name)).with_context(|| format!("no {name}"))?;
        let number = line.split_whitespace().next().with_context(|| format!("no number: {line}"))?;
        Ok(number.parse()?)
    }

    /// The process's number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn is_running(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    fn signal(&self, name: &str) -> Result<()> {
        // The shell's own `kill`: the program of this name is not on every machine.
        let status = Command::new("sh").args(["-c", &format!("kill -s {name} {}", self.child.id())]).status()?;
        anyhow::ensure!(status.success(), "SIG{name} was not delivered");
        Ok(())
    }

    /// Takes the addresses from what the gateway prints; `database` is the first line behind them.
    async fn read_banner(&mut self, mut lines: mpsc::UnboundedReceiver<String>) -> Result<()> {
        while let Some(line) = lines.recv().await {
            let mut words = line.split_whitespace();
            match (words.next(), words.next()) {
                (Some("API"), Some(url)) => self.base_url = url.trim_end_matches("/api").to_owned(),
                (Some("admin"), Some(url)) => self.admin_url = url.to_owned(),
                (Some("database"), _) if !self.base_url.is_empty() => return Ok(()),
                _ => {}
            }
        }
        let status = self.ended(LIMIT).await?;
        bail!("the gateway ended before it served: {status}")
    }
}

impl Drop for GatewayProcess {
    fn drop(&mut self) {
        // It may have ended; then there is nothing to do.
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            // Not by a macro that panics: a client that shares this output may have made it refuse what does not fit at once.
            let _ = writeln!(std::io::stderr(), "--- what the gateway logged:\n{}---", self.setup.log());
        }
    }
}

/// A command without the variables of this test, and without the gateway's configuration in the environment.
pub fn clean(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with(PREFIX) || OF_THE_TEST.iter().any(|prefix| text.starts_with(prefix)) {
            command.env_remove(&name);
        }
    }
    command
}

fn variable(key: &str) -> String {
    format!("{PREFIX}{}", key.replace('.', "__").to_uppercase())
}

/// Lines as they come, read to the end, so that the gateway never blocks on a full pipe.
fn follow(stdout: ChildStdout) -> mpsc::UnboundedReceiver<String> {
    let (sender, lines) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            // The test may not read any more.
            let _ = sender.send(line);
        }
    });
    lines
}
