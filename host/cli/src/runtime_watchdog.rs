//! Watches the serving threads from a thread of its own: it keeps the I/O driver polled while a handler blocks its thread, and
//! finds and replaces threads that plugins do not give back.
//!
//! One of tokio's worker threads at a time polls the sockets. When that thread runs a handler that blocks, the others may be
//! parked, and no thread sees new requests until the handler ends. A task spawned from outside the runtime wakes one of them,
//! which then polls the sockets.

use crate::spare_threads::SpareThreads;
use gateway_plugins::polls::ThreadWatchdog;
use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};
use tokio::runtime::Handle;

/// The longest time without a poll of the sockets.
const INTERVAL: Duration = Duration::from_millis(20);

/// Looks at each interval until it is dropped.
pub(crate) struct RuntimeWatchdog {
    _alive: Sender<()>,
}

impl RuntimeWatchdog {
    pub(crate) fn start(runtime: Handle, spare: SpareThreads) -> io::Result<Self> {
        let (alive, end) = mpsc::channel();
        let mut threads = ThreadWatchdog::new(INTERVAL);
        let beat = move || {
            while end.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                spare.replace(threads.look());
                drop(runtime.spawn(async {}));
            }
        };
        thread::Builder::new().name("pulse".to_owned()).spawn(beat)?;
        Ok(Self { _alive: alive })
    }
}
