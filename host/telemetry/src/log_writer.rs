//! Writes the log to standard error.
//!
//! The rule: lines about single requests are written together, a moment later; every other line at once, after those before
//! it. So a busy gateway makes no system call per request, and what tells of a failure is never lost.

use parking_lot::{Condvar, Mutex};
use std::{
    io::{self, Write},
    sync::{Arc, Weak},
    time::Duration,
};
use tracing::Metadata;
use tracing_subscriber::fmt::MakeWriter;

/// The target of the lines that are written together: one per request.
pub const ACCESS_TARGET: &str = "gateway::access";

/// How long a line waits for others.
const WAIT: Duration = Duration::from_millis(20);
/// With so many bytes the lines are written at once.
const BYTES_MAX: usize = 64 * 1024;

/// Clones share the lines that wait; the last one writes them.
#[derive(Clone)]
pub(crate) struct LogWriter {
    shared: Arc<Shared>,
}

struct Shared {
    pending: Mutex<Pending>,
    /// The first line waits.
    arrived: Condvar,
}

struct Pending {
    lines: Vec<u8>,
    output: Box<dyn Write + Send>,
}

impl Pending {
    /// A log that cannot be written has nowhere to say so.
    fn flush(&mut self) {
        let _ = self.output.write_all(&self.lines);
        self.lines.clear();
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.flush();
    }
}

impl LogWriter {
    pub(crate) fn new(output: impl Write + Send + 'static) -> Self {
        let pending = Pending { lines: Vec::new(), output: Box::new(output) };
        let shared = Arc::new(Shared { pending: Mutex::new(pending), arrived: Condvar::new() });
        let weak = Arc::downgrade(&shared);
        // Without the thread, lines are written when there are enough of them, or at the end.
        let _ = std::thread::Builder::new().name("log".to_owned()).spawn(move || flush_repeatedly(&weak));
        Self { shared }
    }

    /// Writes the lines that wait. Call it before the process ends.
    pub(crate) fn flush(&self) {
        self.shared.pending.lock().flush();
    }
}

/// Ends when nobody can write a line any more.
fn flush_repeatedly(shared: &Weak<Shared>) {
    while let Some(shared) = shared.upgrade() {
        let mut pending = shared.pending.lock();
        if pending.lines.is_empty() {
            // Looks now and then whether the writers are gone.
            shared.arrived.wait_for(&mut pending, Duration::from_secs(1));
        }
        let has_lines = !pending.lines.is_empty();
        drop(pending);
        if has_lines {
            std::thread::sleep(WAIT);
            shared.pending.lock().flush();
        }
    }
}

/// Takes one line.
pub(crate) struct LineWriter<'w> {
    writer: &'w LogWriter,
    waits: bool,
}

impl Write for LineWriter<'_> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let mut pending = self.writer.shared.pending.lock();
        let is_first = pending.lines.is_empty();
        pending.lines.extend_from_slice(line);
        if !self.waits || pending.lines.len() >= BYTES_MAX {
            pending.flush();
        } else if is_first {
            self.writer.shared.arrived.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> MakeWriter<'w> for LogWriter {
    type Writer = LineWriter<'w>;

    fn make_writer(&'w self) -> LineWriter<'w> {
        LineWriter { writer: self, waits: false }
    }

    fn make_writer_for(&'w self, metadata: &Metadata<'_>) -> LineWriter<'w> {
        LineWriter { writer: self, waits: metadata.target() == ACCESS_TARGET }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use std::time::Instant;

    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<Vec<u8>>>>);

    impl Output {
        /// What each system call would have got.
        fn writes(&self) -> Vec<String> {
            self.0.lock().iter().map(|bytes| String::from_utf8(bytes.clone()).unwrap()).collect()
        }
    }

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn write(writer: &LogWriter, line: &str, waits: bool) {
        LineWriter { writer, waits }.write_all(line.as_bytes()).unwrap();
    }

    #[test]
    fn lines_of_requests_are_written_together() {
        let output = Output::default();
        let writer = LogWriter::new(output.clone());
        write(&writer, "a\n", true);
        write(&writer, "b\n", true);
        let started = Instant::now();
        while output.writes().is_empty() && started.elapsed() < Duration::from_secs(10) {
            std::thread::yield_now();
        }
        assert_eq!(output.writes().concat(), "a\nb\n");
    }

    #[test]
    fn other_lines_are_written_at_once_and_in_order() {
        let output = Output::default();
        let writer = LogWriter::new(output.clone());
        write(&writer, "request\n", true);
        write(&writer, "error\n", false);
        assert_eq!(output.writes().concat(), "request\nerror\n");
    }

    #[test]
    fn many_lines_do_not_wait() {
        let output = Output::default();
        let writer = LogWriter::new(output.clone());
        let line = "x".repeat(BYTES_MAX);
        write(&writer, &line, true);
        assert_eq!(output.writes().concat().len(), BYTES_MAX);
    }
}
