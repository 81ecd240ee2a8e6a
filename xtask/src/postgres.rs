//! A private PostgreSQL cluster for one run of the tests. Rule: it is stopped and deleted whatever happens; when this
//! process is killed, the server ends with it and the next run deletes the folder.

use crate::{Failure, process, scratch::Scratch};
use std::{
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

/// A port that was free may be taken before the server listens on it.
const STARTS_MAX: u32 = 3;
const READY_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

/// Tests make and drop databases all the time; nothing here must survive a crash.
const SETTINGS: [&str; 6] = [
    "fsync=off",
    "full_page_writes=off",
    "synchronous_commit=off",
    "max_connections=200",
    "shared_buffers=64MB",
    "max_wal_size=256MB",
];

pub struct Cluster {
    /// In memory if possible: each test makes and drops a database of three hundred files, and ext4 looks long for inodes that were not
    /// freed a moment ago, which is a quarter of the CPU time of all tests on a disk.
    folder: Scratch,
    programs: PathBuf,
    server: Option<Child>,
    port: u16,
    url: String,
}

/// The folder with PostgreSQL's programs: Debian keeps it out of PATH.
pub fn programs() -> Result<PathBuf, Failure> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().filter_map(Result::ok);
    let mut folders: Vec<(u32, PathBuf)> = versions
        .filter_map(|entry| Some((entry.file_name().to_str()?.parse().ok()?, entry.path().join("bin"))))
        .filter(|(_, folder)| folder.join("initdb").is_file())
        .collect();
    folders.sort();
    let in_path = process::find("initdb").and_then(|file| file.parent().map(Path::to_path_buf));
    let newest = folders.pop().map(|(_, folder)| folder);
    newest.or(in_path).ok_or_else(|| process::missing("PostgreSQL (initdb)", "postgresql"))
}

impl Cluster {
    pub fn start() -> Result<Self, Failure> {
        let programs = programs()?;
        let folder = Scratch::create("postgres")?;
        let mut cluster = Self { folder, programs, server: None, port: 0, url: String::new() };
        cluster.initialise()?;
        for _ in 1..STARTS_MAX {
            if cluster.serve().is_ok() {
                return Ok(cluster);
            }
        }
        cluster.serve()?;
        Ok(cluster)
    }

    /// URL of the maintenance database, whose user may create others.
    pub fn url(&self) -> &str {
        &self.url
    }

    fn initialise(&self) -> Result<(), Failure> {
        if process::is_root() {
            process::run(Command::new("chown").arg("postgres:").arg(self.folder.path()))?;
        }
        let mut initdb = self.program("initdb")?;
        initdb.args(["--username=postgres", "--auth=trust", "--no-sync", "--encoding=UTF8", "--locale=C"]);
        // Texts sort as for people, as on most servers: a query that counts on byte order fails here, not later.
        initdb.args(["--locale-provider=icu", "--icu-locale=en-US", "--pgdata"]).arg(self.data());
        process::output(&mut initdb).map(drop)
    }

    /// Starts the server on a free port and waits until it answers.
    fn serve(&mut self) -> Result<(), Failure> {
        self.port = free_port()?;
        let log = self.folder.path().join("server.log");
        let open = fs::File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
        let (errors, output) = open.map_err(|error| format!("{}: {error}", log.display()))?;
        let mut postgres = self.program("postgres")?;
        postgres.arg("-D").arg(self.data()).args(["-p", &self.port.to_string(), "-h", "127.0.0.1"]);
        postgres.arg("-k").arg(self.folder.path()).args(SETTINGS.iter().flat_map(|setting| ["-c", *setting]));
        postgres.stdin(Stdio::null()).stdout(output).stderr(errors);
        let server = postgres.spawn().map_err(|error| format!("postgres could not be started: {error}"))?;
        self.server = Some(server);
        self.url = format!("postgres://postgres@127.0.0.1:{}/postgres", self.port);
        self.wait_until_ready().map_err(|reason| format!("{reason}\n{}", fs::read_to_string(&log).unwrap_or_default()))
    }

    fn wait_until_ready(&mut self) -> Result<(), Failure> {
        let started = Instant::now();
        while started.elapsed() < READY_LIMIT {
            let ended = self.server.as_mut().and_then(|server| server.try_wait().ok().flatten());
            if let Some(status) = ended {
                return Err(format!("postgres ended with {status}"));
            }
            let mut probe = Command::new(self.programs.join("pg_isready"));
            if process::works(probe.args(["-h", "127.0.0.1", "-p", &self.port.to_string()])) {
                return Ok(());
            }
            thread::sleep(POLL);
        }
        Err(format!("postgres did not answer within {} s", READY_LIMIT.as_secs()))
    }

    /// A program of PostgreSQL, as the user `postgres` when this is root, that is interrupted when xtask dies.
    fn program(&self, name: &str) -> Result<Command, Failure> {
        let mut command = Command::new(process::need("setpriv", "util-linux")?);
        if process::is_root() {
            command.args(["--reuid=postgres", "--regid=postgres", "--init-groups"]);
        }
        command.args(["--pdeathsig", "INT"]).arg(self.programs.join(name)).current_dir(self.folder.path());
        Ok(command)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        if let Some(mut server) = self.server.take() {
            let stop = self.program("pg_ctl").and_then(|mut pg_ctl| {
                process::output(pg_ctl.args(["stop", "--mode=immediate", "--pgdata"]).arg(self.data()))
            });
            if stop.is_err() {
                let _ = server.kill();
            }
            let _ = server.wait();
        }
    }
}

fn free_port() -> Result<u16, Failure> {
    let address = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    address.map(|address| address.port()).map_err(|error| format!("no free port: {error}"))
}
