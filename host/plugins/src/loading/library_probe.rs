//! Tries a library in a process of its own, before it is mapped into the gateway's.
//!
//! The reason: static constructors run while the dynamic linker holds its lock. One that does not return would stop every thread
//! that needs the linker, and with it the gateway; one that ends the process would end the gateway. The rule: the process that
//! tries a library gets no environment, which may hold keys.

use super::{
    inspect::{self, PluginFile},
    load,
};
use nix::sys::{prctl::set_pdeathsig, signal::Signal};
use std::{
    ffi::OsString,
    io::{self, BufRead as _, BufReader, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

/// The arguments of the gateway's program that try a library, before its path, its sha256 and `data_dir`.
pub const COMMAND: [&str; 2] = ["plugins", "try-load"];

/// What the trying process prints when a step has returned, well or not.
const MAPPED: &str = "mapped";
const DESCRIBED: &str = "described";

/// Why a library must not be mapped.
#[derive(Debug, thiserror::Error)]
pub enum ProbeError {
    #[error("did not return from {step} within {limit:?}")]
    Hangs { step: &'static str, limit: Duration },
    #[error("ended the process in {step} ({how})")]
    Ends { step: &'static str, how: String },
    #[error("cannot be tried in a process of its own ({0})")]
    NoProcess(io::Error),
}

/// Maps the library and asks for its manifest in another process. Errors that the library itself returns are none of these.
pub(super) fn probe_in_subprocess(file: &PluginFile, data_dir: &Path, limit: Duration) -> Result<(), ProbeError> {
    let until = Instant::now() + limit;
    let mut child = start(file, data_dir).map_err(ProbeError::NoProcess)?;
    let (sender, lines) = channel();
    if let Some(output) = child.stdout.take() {
        // It ends with the process.
        thread::spawn(move || {
            BufReader::new(output).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
    }
    let mut step = "its static constructors";
    let tried = loop {
        match lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(line) if line == MAPPED => step = "its manifest",
            Ok(line) if line == DESCRIBED => break Ok(()),
            Ok(_printed_by_the_library) => {}
            Err(RecvTimeoutError::Timeout) => break Err(ProbeError::Hangs { step, limit }),
            Err(RecvTimeoutError::Disconnected) => {
                break Err(ProbeError::Ends { step, how: how_it_ended(&mut child, until) });
            }
        }
    };
    let _ = child.kill();
    let _ = child.wait();
    tried
}

fn start(file: &PluginFile, data_dir: &Path) -> io::Result<Child> {
    let inspection = &file.inspection;
    let mut command = Command::new(own_program()?);
    command.args(COMMAND).arg(&inspection.path).arg(&inspection.sha256).arg(data_dir);
    command.env_clear().stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
}

/// Also when the file of the program was replaced since.
fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() }
}

/// A process may close its output and go on.
fn how_it_ended(child: &mut Child, until: Instant) -> String {
    while Instant::now() < until {
        match child.try_wait() {
            Ok(Some(status)) => return status.to_string(),
            Ok(None) => thread::sleep(Duration::from_millis(1)),
            Err(error) => return error.to_string(),
        }
    }
    "it closed its output".to_owned()
}

/// The trying process: prints what has returned. `arguments`: those behind [`COMMAND`].
pub fn run(arguments: &[OsString]) -> io::Result<()> {
    // It must not outlive a gateway that was killed.
    set_pdeathsig(Signal::SIGKILL)?;
    let [path, sha256, data_dir] = arguments else {
        return Err(io::Error::other("a library, its sha256 and a folder"));
    };
    let mut output = io::stdout();
    let mut has_returned = |step: &str| {
        writeln!(output, "{step}")?;
        output.flush()
    };
    let Ok(file) = inspect::open(Path::new(path), sha256.to_str()) else { return has_returned(DESCRIBED) };
    let loaded = load::load(&file, Path::new(data_dir));
    has_returned(MAPPED)?;
    if let Ok(module) = loaded {
        drop(module.manifest()());
    }
    has_returned(DESCRIBED)?;
    // The gateway ends this process: what a library does at the end of a process is not tried.
    loop {
        thread::park();
    }
}
