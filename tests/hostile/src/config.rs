//! `[plugins.hostile]`: which fault is injected where. Without a section only the routes misbehave.

use crate::{deaths::exit, spins::spin};
use plugin_api::JsonSchema;
use serde::Deserialize;
use std::time::Duration;

#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    pub constructor: Behaviour,
    pub stop: Behaviour,
    pub drop: Behaviour,
    pub job: Behaviour,
    /// Its parts of `/api/stats`, `/api/status`, the discovery and the stream.
    pub contribution: Behaviour,
    /// How long a hang lasts that blocks its thread.
    pub hang_ms: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Behaviour {
    #[default]
    Behave,
    Panic,
    Hang,
    /// Never leaves the processor.
    Spin,
    /// Ends the process.
    Exit,
    /// The same by a signal.
    Abort,
    /// Answers JSON of another shape.
    Misshape,
    /// Answers much more than there may be.
    Flood,
    /// Collects the same extension point, and so calls itself again.
    Circle,
}

impl Default for Config {
    fn default() -> Self {
        let act = Behaviour::Behave;
        Self { constructor: act, stop: act, drop: act, job: act, contribution: act, hang_ms: 1000 }
    }
}

impl Config {
    /// Misbehaves in synchronous code.
    pub(crate) fn act_blocking(&self, act: Behaviour, place: &'static str) {
        match act {
            Behaviour::Panic => std::panic::panic_any(place),
            Behaviour::Hang => block(Duration::from_millis(self.hang_ms)),
            Behaviour::Spin => spin(),
            Behaviour::Exit => exit(),
            Behaviour::Abort => std::process::abort(),
            Behaviour::Behave | Behaviour::Misshape | Behaviour::Flood | Behaviour::Circle => {}
        }
    }
}

/// Blocks the thread.
pub(crate) fn block(duration: Duration) {
    let started = std::time::Instant::now();
    while let Some(rest) = duration.checked_sub(started.elapsed()) {
        std::thread::park_timeout(rest);
    }
}

/// Misbehaves in asynchronous code.
pub(crate) async fn act(act: Behaviour, place: &'static str) {
    match act {
        Behaviour::Panic => std::panic::panic_any(place),
        Behaviour::Hang => std::future::pending().await,
        Behaviour::Spin => spin(),
        Behaviour::Exit => exit(),
        Behaviour::Abort => std::process::abort(),
        Behaviour::Behave | Behaviour::Misshape | Behaviour::Flood | Behaviour::Circle => {}
    }
}
