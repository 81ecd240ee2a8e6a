//! A PgBouncer of the test's own, in front of its database: clients share few connections of the server, and none keeps one
//! longer than for a transaction.

use crate::{
    postgres::{command, unprivileged_user},
    postgres_address::PostgresAddress,
};
use anyhow::{Context as _, Result, bail};
use sqlx::{Connection as _, Executor as _, PgConnection, Row as _};
use std::{
    fs,
    net::{Ipv4Addr, SocketAddr, TcpListener},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// Names another program than Debian's, to try another version.
pub const PROGRAM_VARIABLE: &str = "GATEWAY_TEST_PGBOUNCER";
/// Debian's place, which is not in every user's PATH.
const PROGRAM: &str = "/usr/sbin/pgbouncer";
/// The first version that knows prepared statements in transaction mode.
const PREPARES_FROM: (u32, u32) = (1, 21);
const START_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);
/// A port that was free may be taken before the pooler listens on it.
const STARTS_MAX: u32 = 3;

/// Dropping it stops the pooler. So does the end of the process, however it comes.
pub struct PgBouncer {
    supervisor: Child,
    folder: TempDir,
    listener: SocketAddr,
    url: String,
    prepares: bool,
}

/// The connections of one database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    pub mode: String,
    /// Open connections of clients, whatever they do.
    pub clients: i32,
    /// Open connections of the server.
    pub servers: i32,
}

impl PgBouncer {
    /// In transaction mode, with at most so many connections of the server.
    pub async fn start(database_url: &str, servers_max: u32) -> Result<Self> {
        let server = PostgresAddress::parse(database_url)?;
        for _ in 1..STARTS_MAX {
            if let Ok(started) = Self::start_once(&server, servers_max).await {
                return Ok(started);
            }
        }
        Self::start_once(&server, servers_max).await
    }

    /// The database's address through the pooler.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Whether it knows prepared statements: they may be named then.
    pub fn prepares(&self) -> bool {
        self.prepares
    }

    /// The pool of the database, once somebody has used it.
    pub async fn pool(&self) -> Result<Option<Pool>> {
        let mut console = self.console().await?;
        // The console knows simple queries only.
        let pools = console.fetch_all(sqlx::raw_sql("SHOW POOLS")).await?;
        console.close().await?;
        for row in pools {
            if row.try_get::<String, _>("database")? == "pgbouncer" {
                continue;
            }
            let sum = |columns: &[&str]| {
                columns.iter().try_fold(0, |sum, column| Ok::<i32, sqlx::Error>(sum + row.try_get::<i32, _>(column)?))
            };
            return Ok(Some(Pool {
                mode: row.try_get("pool_mode")?,
                clients: sum(&["cl_active", "cl_waiting"])?,
                servers: sum(&["sv_active", "sv_idle", "sv_used", "sv_tested", "sv_login"])?,
            }));
        }
        Ok(None)
    }

    async fn start_once(server: &PostgresAddress, servers_max: u32) -> Result<Self> {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        let listener = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let folder = tempfile::Builder::new().prefix("gateway-pgbouncer-").tempdir()?;
        let user = unprivileged_user(folder.path())?;
        let settings = folder.path().join("pgbouncer.ini");
        let path = std::env::var_os(PROGRAM_VARIABLE).map_or_else(|| PathBuf::from(PROGRAM), PathBuf::from);
        let prepares = version(&path)? >= PREPARES_FROM;
        let mut text = ini(server, listener, servers_max, folder.path());
        if prepares {
            text.push_str("max_prepared_statements = 100\n");
        }
        fs::write(&settings, text)?;
        let mut program = command(user, &path);
        program.arg(&settings);
        let (supervisor, url) = (supervise(&program)?, server.through(listener)?);
        let mut started = Self { supervisor, folder, listener, url, prepares };
        started.wait_until_ready().await?;
        Ok(started)
    }

    async fn wait_until_ready(&mut self) -> Result<()> {
        let started = Instant::now();
        loop {
            if self.console().await.is_ok() {
                return Ok(());
            }
            if self.supervisor.try_wait()?.is_some() || started.elapsed() > START_LIMIT {
                let log = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
                bail!("PgBouncer does not serve (Debian's package is pgbouncer): {log}");
            }
            tokio::time::sleep(POLL).await;
        }
    }

    async fn console(&self) -> Result<PgConnection> {
        let url = format!("postgres://postgres@{}/pgbouncer?sslmode=disable", self.listener);
        Ok(PgConnection::connect(&url).await?)
    }
}

impl Drop for PgBouncer {
    fn drop(&mut self) {
        // The end of the pipe tells the supervisor to stop the pooler.
        drop(self.supervisor.stdin.take());
        let _ = self.supervisor.wait();
    }
}

/// Of `PgBouncer 1.18.0`, the first two numbers.
fn version(program: &Path) -> Result<(u32, u32)> {
    let output = Command::new(program).arg("--version").output();
    let output = output.with_context(|| format!("{} (Debian's package is pgbouncer)", program.display()))?;
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace().nth(1).unwrap_or_default().split('.').map(str::parse);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Ok((major, minor)),
        _ => bail!("no version of PgBouncer: {text}"),
    }
}

/// The settings, which need no file of users: whoever connects is the user of the database's address.
fn ini(server: &PostgresAddress, listener: SocketAddr, servers_max: u32, folder: &Path) -> String {
    let password = server.password().map(|password| format!(" password={password}")).unwrap_or_default();
    format!(
        "[databases]\n\
         * = host={} port={} user={}{password}\n\
         [pgbouncer]\n\
         listen_addr = {}\n\
         listen_port = {}\n\
         unix_socket_dir =\n\
         auth_type = any\n\
         pool_mode = transaction\n\
         default_pool_size = {servers_max}\n\
         max_client_conn = 500\n\
         ignore_startup_parameters = extra_float_digits\n\
         logfile = {}\n",
        server.host,
        server.port,
        server.user(),
        listener.ip(),
        listener.port(),
        folder.join("log").display(),
    )
}

/// A shell that stops the pooler at the end of its standard input, and ends when the pooler does.
fn supervise(program: &Command) -> Result<Child> {
    const SCRIPT: &str = r#"exec 3<&0
        "$@" </dev/null 3<&- & server=$!
        (cat <&3 >/dev/null; kill -INT $server) & reader=$!
        exec 3<&-
        wait $server; kill $reader"#;
    let mut supervisor = Command::new("sh");
    supervisor
        .args(["-c", SCRIPT, "supervisor"])
        .arg(program.get_program())
        .args(program.get_args())
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    supervisor.spawn().context("a shell does not start")
}
