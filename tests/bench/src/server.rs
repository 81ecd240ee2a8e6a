//! A server under measurement: a process of its own, with all that it starts, gone when its value is dropped.

use crate::pin::{self, PinnedRole};
use anyhow::{Context as _, Result, bail};
use gateway_tests::plugin_copies;
use nix::{
    sys::signal::{Signal, kill},
    time::{clock_getcpuclockid, clock_gettime},
    unistd::Pid,
};
use std::{
    fs::{self, File},
    io::{Read as _, Write as _},
    net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};
use tempfile::TempDir;

const DATA_DIR: &str = "data";
const READY_LIMIT: Duration = Duration::from_secs(60);
const STOP_LIMIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);
/// A server that used less than this part of so many looks, one after the other, is idle.
const IDLE_PART: u32 = 20;
const IDLE_LOOK: Duration = Duration::from_millis(500);
const IDLE_LOOKS: u32 = 4;
const IDLE_LIMIT: Duration = Duration::from_secs(600);

pub struct Server {
    child: Child,
    address: SocketAddr,
    folder: TempDir,
}

/// A folder of the server's own, and the address that it listens on.
pub struct Site {
    pub folder: TempDir,
    pub address: SocketAddr,
}

impl Site {
    pub fn new() -> Result<Self> {
        let folder = tempfile::Builder::new().prefix("gateway-bench-").tempdir()?;
        let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?;
        Ok(Self { folder, address })
    }

    /// Of a gateway.
    pub fn data_dir(&self) -> PathBuf {
        self.folder.path().join(DATA_DIR)
    }
}

impl Server {
    /// Starts it and waits until it answers `GET ready_path` with 200.
    pub fn start(site: Site, mut command: Command, ready_path: &str) -> Result<Self> {
        let Site { folder, address } = site;
        let log = File::create(folder.path().join("log"))?;
        command.current_dir(folder.path()).stdin(Stdio::null()).stdout(log.try_clone()?).stderr(log);
        let name = command.get_program().to_string_lossy().into_owned();
        let child =
            pin::on(PinnedRole::Server, || command.spawn())?.with_context(|| format!("{name} cannot be started"))?;
        let mut server = Self { child, address, folder };
        server.wait_until_ready(ready_path).with_context(|| format!("{name}: {}", server.log()))?;
        plugin_copies::share(&server.folder().join(DATA_DIR));
        Ok(server)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The end of what it printed.
    pub fn log(&self) -> String {
        let text = fs::read_to_string(self.folder.path().join("log")).unwrap_or_default();
        text.lines().rev().take(20).collect::<Vec<_>>().into_iter().rev().collect::<Vec<_>>().join("\n")
    }

    /// CPU time that the process and its children used so far, from the kernel's clocks of nanoseconds. (The ticks of
    /// /proc/PID/stat are ten milliseconds long.)
    pub fn cpu_time(&self) -> Result<Duration> {
        self.processes()?.into_iter().map(cpu_time).sum()
    }

    /// The same of several servers together.
    pub fn cpu_time_of(servers: &[Self]) -> Result<Duration> {
        servers.iter().map(Self::cpu_time).sum()
    }

    /// Memory in use by the process and its children.
    pub fn rss_kib(&self) -> Result<u64> {
        self.processes()?.into_iter().map(rss_kib).sum()
    }

    /// The process and what it started.
    fn processes(&self) -> Result<Vec<i32>> {
        let mut found = vec![i32::try_from(self.child.id())?];
        let mut next = 0;
        while let Some(pid) = found.get(next) {
            let children = children(*pid).with_context(|| self.log())?;
            found.extend(children);
            next += 1;
        }
        Ok(found)
    }

    /// Waits until it has done what is left over from its past: jobs and indexes that catch up.
    pub fn wait_until_idle(&self) -> Result<()> {
        let started = Instant::now();
        let mut quiet = 0;
        while quiet < IDLE_LOOKS {
            if started.elapsed() > IDLE_LIMIT {
                bail!("the server is busy for {IDLE_LIMIT:?} without a request: {}", self.log());
            }
            let before = self.cpu_time()?;
            thread::sleep(IDLE_LOOK);
            let is_idle = self.cpu_time()?.saturating_sub(before) < IDLE_LOOK / IDLE_PART;
            quiet = if is_idle { quiet + 1 } else { 0 };
        }
        Ok(())
    }

    /// Ends it as an operator does, and answers its folder.
    pub fn stop(mut self) -> Result<TempDir> {
        kill(Pid::from_raw(i32::try_from(self.child.id())?), Signal::SIGTERM)?;
        let started = Instant::now();
        while self.child.try_wait()?.is_none() {
            if started.elapsed() > STOP_LIMIT {
                bail!("the server does not stop: {}", self.log());
            }
            thread::sleep(POLL);
        }
        // Dropping the rest finds nothing to kill.
        let empty = tempfile::tempdir()?;
        Ok(std::mem::replace(&mut self.folder, empty))
    }

    fn wait_until_ready(&mut self, path: &str) -> Result<()> {
        let started = Instant::now();
        while started.elapsed() < READY_LIMIT {
            if let Some(status) = self.child.try_wait()? {
                bail!("it ended with {status} before it answered");
            }
            if is_ready(self.address, path) {
                return Ok(());
            }
            thread::sleep(POLL);
        }
        bail!("it did not answer GET {path} within {READY_LIMIT:?}")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // A server that starts others, such as nginx, ends them when it is asked to; the rest need not be asked.
        let is_parent = self.processes().is_ok_and(|processes| processes.len() > 1);
        if is_parent && let Ok(pid) = i32::try_from(self.child.id()) {
            let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
        } else {
            let _ = self.child.kill();
        }
        let _ = self.child.wait();
    }
}

/// What a process started and what runs.
pub fn children(pid: i32) -> Result<Vec<i32>> {
    let mut found = Vec::new();
    for task in fs::read_dir(format!("/proc/{pid}/task"))? {
        let children = fs::read_to_string(task?.path().join("children")).unwrap_or_default();
        found.extend(children.split_whitespace().filter_map(|pid| pid.parse::<i32>().ok()));
    }
    Ok(found)
}

/// CPU time and memory of one process.
pub fn usage(pid: u32) -> Result<(Duration, u64)> {
    let pid = i32::try_from(pid)?;
    Ok((cpu_time(pid)?, rss_kib(pid)?))
}

pub fn cpu_time(pid: i32) -> Result<Duration> {
    let clock = clock_getcpuclockid(Pid::from_raw(pid)).with_context(|| format!("process {pid} is gone"))?;
    Ok(clock_gettime(clock)?.into())
}

fn rss_kib(pid: i32) -> Result<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    Ok(line.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or_default())
}

pub fn is_ready(address: SocketAddr, path: &str) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        write!(stream, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n")?;
        let mut status = [0; 12];
        stream.read_exact(&mut status)?;
        Ok(status.ends_with(b" 200"))
    };
    ask().unwrap_or_default()
}
