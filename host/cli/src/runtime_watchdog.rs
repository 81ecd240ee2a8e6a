//! Keeps the sockets watched while a handler blocks its thread.
//!
//! Of tokio's threads one at a time watches the sockets. When it takes up a handler that blocks, the others may be asleep,
//! and stay so: nobody hears of new requests until that handler ends. A task from outside wakes one of them, and it
//! watches from then on.

use std::{
    io,
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};
use tokio::runtime::Handle;

/// The longest that nobody watches.
const INTERVAL: Duration = Duration::from_millis(20);

/// Beats until it is dropped.
pub struct RuntimeWatchdog {
    _alive: Sender<()>,
}

impl RuntimeWatchdog {
    pub fn start(runtime: Handle) -> io::Result<Self> {
        let (alive, end) = mpsc::channel();
        let beat = move || {
            while end.recv_timeout(INTERVAL) == Err(RecvTimeoutError::Timeout) {
                drop(runtime.spawn(async {}));
            }
        };
        thread::Builder::new().name("pulse".to_owned()).spawn(beat)?;
        Ok(Self { _alive: alive })
    }
}
