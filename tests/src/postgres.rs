//! A PostgreSQL server of the tests' own: private files, a Unix socket, no port, gone with the process that started it.
//!
//! `GATEWAY_TEST_POSTGRES` (an administrator's `postgres://` address) names a server that runs already; each test still gets
//! a new database in it.

use anyhow::{Context, Result, bail};
use sqlx::{AssertSqlSafe, Connection, Executor, PgConnection};
use std::{
    io::Write as _,
    os::unix::fs::chown,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};

/// Names a running server.
pub const SERVER_VARIABLE: &str = "GATEWAY_TEST_POSTGRES";

const START_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);
const SYSTEM_USER: &str = "postgres";

/// A running server; dropping it stops it and removes its files. So does the end of the process, however it comes:
/// a small shell watches the pipe that this value holds.
pub struct PrivatePostgres {
    supervisor: Child,
    directory: PathBuf,
}

impl PrivatePostgres {
    pub fn start() -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("gateway-postgres-").tempdir()?.keep();
        let user = unprivileged_user(&directory)?;
        let data = directory.join("data");
        let programs = programs()?;
        let mut initdb = command(user, &programs.join("initdb"));
        initdb
            .args(["--no-sync", "--auth=trust", "--encoding=UTF8", "--locale=C"])
            .arg(format!("--username={SYSTEM_USER}"))
            .arg(&data);
        let output = initdb.output().context("initdb does not start")?;
        if !output.status.success() {
            bail!("initdb failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Self::serve(user, &programs, directory)
    }

    /// A standby that follows this server: a base backup, and then what is streamed.
    pub fn start_standby(&self) -> Result<Self> {
        let directory = tempfile::Builder::new().prefix("gateway-postgres-").tempdir()?.keep();
        let user = unprivileged_user(&directory)?;
        let programs = programs()?;
        let mut copy = command(user, &programs.join("pg_basebackup"));
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--wal-method=stream"])
            .arg(format!("--username={SYSTEM_USER}"))
            .arg(format!("--host={}", self.directory.display()))
            .arg("--pgdata")
            .arg(directory.join("data"));
        let output = copy.output().context("pg_basebackup does not start")?;
        if !output.status.success() {
            bail!("pg_basebackup failed: {}", String::from_utf8_lossy(&output.stderr));
        }
        Self::serve(user, &programs, directory)
    }

    fn serve(user: Option<u32>, programs: &Path, directory: PathBuf) -> Result<Self> {
        let server = Self { supervisor: supervise(user, programs, &directory)?, directory };
        server.wait_until_ready()?;
        Ok(server)
    }

    /// The address of a database in this server.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{SYSTEM_USER}@localhost/{database}?host={}", self.directory.display())
    }

    /// Where it listens.
    pub fn socket(&self) -> PathBuf {
        self.directory.join(".s.PGSQL.5432")
    }

    /// The process that starts all others of the server.
    pub fn postmaster(&self) -> Result<i32> {
        let text = std::fs::read_to_string(self.directory.join("data/postmaster.pid"))?;
        Ok(text.lines().next().unwrap_or_default().trim().parse()?)
    }

    /// What it logged so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.directory.join("log")).unwrap_or_default()
    }

    /// Makes an empty database and answers its address.
    pub async fn create_database(&self) -> Result<String> {
        create_database(&self.url("postgres")).await
    }

    /// Stops the server as an operator does: open connections are closed, and new ones are refused.
    pub fn stop(&mut self) -> Result<()> {
        self.order("stop")?;
        self.wait_for("it has stopped", |state| state.is_none())
    }

    /// Stops the server without a checkpoint, as a power cut does: the next start recovers from its log.
    pub fn crash(&mut self) -> Result<()> {
        self.order("crash")?;
        self.wait_for("it has crashed", |state| state.is_none())
    }

    /// Starts a stopped server on the same files.
    pub fn start_again(&mut self) -> Result<()> {
        self.order("start")?;
        self.wait_until_ready()
    }

    /// Suspends the server: connections stay open and get no response.
    pub fn freeze(&mut self) -> Result<()> {
        self.order("freeze")
    }

    /// Lets a frozen server go on.
    pub fn thaw(&mut self) -> Result<()> {
        self.order("thaw")
    }

    fn order(&mut self, order: &str) -> Result<()> {
        let pipe = self.supervisor.stdin.as_mut().context("the supervisor has a pipe")?;
        Ok(writeln!(pipe, "{order}")?)
    }

    fn wait_until_ready(&self) -> Result<()> {
        // The socket exists earlier than the server answers.
        self.wait_for("it has started", |state| state.is_some_and(|text| text.contains("\nready")))
    }

    /// The server writes its state into a file, which is gone when it has stopped.
    fn wait_for(&self, what: &str, is_so: impl Fn(Option<&str>) -> bool) -> Result<()> {
        let started = Instant::now();
        let file = self.directory.join("data/postmaster.pid");
        while !is_so(std::fs::read_to_string(&file).ok().as_deref()) {
            if started.elapsed() > START_LIMIT {
                bail!("PostgreSQL, waiting until {what}: {}", self.log());
            }
            std::thread::sleep(POLL);
        }
        Ok(())
    }
}

impl Drop for PrivatePostgres {
    fn drop(&mut self) {
        // The end of the pipe tells the supervisor to stop the server.
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// An empty database in the server that the tests of this process share.
pub async fn fresh_database() -> Result<String> {
    if let Ok(server) = std::env::var(SERVER_VARIABLE) {
        return create_database(&server).await;
    }
    static SHARED: OnceLock<std::result::Result<PrivatePostgres, String>> = OnceLock::new();
    let start = || SHARED.get_or_init(|| PrivatePostgres::start().map_err(|error| format!("{error:#}"))).as_ref();
    match tokio::task::spawn_blocking(start).await? {
        Ok(server) => server.create_database().await,
        Err(reason) => bail!("{reason}"),
    }
}

async fn create_database(administrator: &str) -> Result<String> {
    let name = format!("test_{}", uuid::Uuid::now_v7().simple());
    let mut connection = PgConnection::connect(administrator).await?;
    // Nobody is ever connected to template0, so tests can copy it at the same time.
    let create = format!("CREATE DATABASE {name} TEMPLATE template0");
    connection.execute(AssertSqlSafe(create)).await?;
    connection.close().await?;
    let (server, query) = administrator
        .split_once('?')
        .map_or((administrator, String::new()), |(server, query)| (server, format!("?{query}")));
    let (server, _) = server.rsplit_once('/').context("the server's address names no database")?;
    Ok(format!("{server}/{name}{query}"))
}

/// PostgreSQL refuses to run as root, and so does PgBouncer: then it runs as the system's own user, and the files are that user's.
/// `None` where this user will do.
pub fn unprivileged_user(directory: &Path) -> Result<Option<u32>> {
    let is_root =
        std::fs::metadata("/proc/self").map(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0).unwrap_or(false);
    if !is_root {
        return Ok(None);
    }
    let users = std::fs::read_to_string("/etc/passwd")?;
    let user = users
        .lines()
        .find_map(|line| line.strip_prefix("postgres:")?.split(':').nth(1))
        .context("run the tests as a normal user, or create the user postgres")?
        .parse()?;
    chown(directory, Some(user), None)?;
    Ok(Some(user))
}

pub(crate) fn command(user: Option<u32>, program: &Path) -> Command {
    let Some(user) = user else {
        return Command::new(program);
    };
    let mut command = Command::new("setpriv");
    command.arg(format!("--reuid={user}")).args(["--clear-groups", "--"]).arg(program);
    command.current_dir("/");
    command
}

/// The folder of the newest installed server's programs, or of those on the path.
pub fn programs() -> Result<PathBuf> {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path().join("bin")))
        .filter(|programs| programs.join("initdb").exists())
        .collect();
    found.sort();
    if let Some(newest) = found.pop() {
        return Ok(newest);
    }
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .find(|programs| programs.join("initdb").exists())
        .context("PostgreSQL 15 or newer is not installed (initdb was not found)")
}

fn supervise(user: Option<u32>, programs: &Path, directory: &Path) -> Result<Child> {
    // Takes orders from its standard input; at its end it stops the server and removes its files.
    const SCRIPT: &str = r#"directory=$1; shift
        start() { "$@" <&- >>"$directory/log" 2>&1 & server=$!; }
        all() { kill "$1" $server $(cat /proc/$server/task/$server/children); }
        start "$@"
        while read -r order; do
            case $order in
                stop) kill -INT $server; wait $server; server= ;;
                crash) kill -QUIT $server; wait $server; server= ;;
                start) start "$@" ;;
                freeze) all -STOP ;;
                thaw) all -CONT ;;
            esac
        done
        if [ "$server" ]; then all -CONT; kill -INT $server; wait $server; fi
        rm -rf "$directory""#;
    let server = command(user, &programs.join("postgres"));
    let mut supervisor = Command::new("sh");
    supervisor
        .args(["-c", SCRIPT, "supervisor"])
        .arg(directory)
        .arg(server.get_program())
        .args(server.get_args())
        .arg("-D")
        .arg(directory.join("data"))
        .arg("-k")
        .arg(directory)
        .args(["-c", "listen_addresses=", "-c", "max_connections=200"])
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    supervisor.spawn().context("the server does not start")
}
