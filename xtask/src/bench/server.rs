//! The gateway under measurement: the release build, an empty SQLite file, no limits for this machine.

use crate::{Failure, process};
use std::{
    fs,
    net::{SocketAddr, TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

const READY_LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);

pub struct Server {
    child: Child,
    address: SocketAddr,
    data: PathBuf,
    tick: Duration,
}

impl Server {
    pub fn start(root: &Path) -> Result<Self, Failure> {
        let address = free_address()?;
        let data = std::env::temp_dir().join(format!("gateway-bench-{}", std::process::id()));
        let mut command = Command::new(root.join("target/release/gateway"));
        command.arg("run").args(["--listen", &address.to_string(), "--admin-listen", "off", "--log-level", "warn"]);
        command.arg("--data-dir").arg(&data).env("GATEWAY_LIMITS__ALLOW", "127.0.0.1").stdin(Stdio::null());
        let child =
            command.stdout(Stdio::null()).spawn().map_err(|error| format!("target/release/gateway: {error}"))?;
        let ticks_per_s: u32 = process::output(Command::new("getconf").arg("CLK_TCK"))?.parse().unwrap_or(100);
        let mut server = Self { child, address, data, tick: Duration::from_secs(1) / ticks_per_s.max(1) };
        server.wait_until_ready()?;
        Ok(server)
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// CPU time of the process so far, in user and system mode.
    pub fn cpu_time(&self) -> Result<Duration, Failure> {
        let path = format!("/proc/{}/stat", self.child.id());
        let stat = fs::read_to_string(&path).map_err(|error| format!("{path}: {error}"))?;
        let ticks = cpu_ticks(&stat).ok_or_else(|| format!("{path} is not as expected: {stat}"))?;
        Ok(self.tick * ticks)
    }

    fn wait_until_ready(&mut self) -> Result<(), Failure> {
        let started = Instant::now();
        while started.elapsed() < READY_LIMIT {
            if let Ok(Some(status)) = self.child.try_wait() {
                return Err(format!("the gateway ended with {status} before it listened"));
            }
            if TcpStream::connect(self.address).is_ok() {
                return Ok(());
            }
            thread::sleep(POLL);
        }
        Err(format!("the gateway did not listen within {} s", READY_LIMIT.as_secs()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.data);
    }
}

/// Fields 14 and 15; the second field, the name, is in parentheses and may contain spaces.
fn cpu_ticks(stat: &str) -> Option<u32> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse::<u32>().ok();
    Some(next()? + next()?)
}

fn free_address() -> Result<SocketAddr, Failure> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|error| format!("no free port: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_time_is_user_plus_system() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194560 100 0 0 0 250 50 0 0 20 0 5 0 100";
        assert_eq!(cpu_ticks(stat), Some(300));
        assert_eq!(cpu_ticks("nonsense"), None);
    }
}
