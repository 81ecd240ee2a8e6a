//! Starts that take long, each waited for in the background.

use super::{construction::Construction, registry::InactiveReason};
use gateway_plugins::{LateLibrary, LoadOutcome, OwnedObject};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What a start waits for.
pub enum LateStart {
    Library(LateLibrary),
    Construction(Construction),
}

/// How it ended.
pub enum EndedStart {
    Library(LoadOutcome),
    Construction(Construction, Result<OwnedObject, InactiveReason>),
}

#[derive(Default)]
pub struct LateStarts {
    ended: watch::Sender<u64>,
    /// The gateway stops.
    given_up: CancellationToken,
}

impl LateStarts {
    /// Of the time when the next one ends.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    /// One has ended, and its plugin serves or is reported.
    pub fn note_end(&self) {
        self.ended.send_modify(|count| *count += 1);
    }

    pub fn give_up(&self) {
        self.given_up.cancel();
    }

    pub fn given_up(&self) -> CancellationToken {
        self.given_up.clone()
    }
}

impl LateStart {
    pub async fn end(self) -> EndedStart {
        match self {
            Self::Library(library) => EndedStart::Library(library.wait().await),
            Self::Construction(construction) => {
                let object = construction.end().await;
                EndedStart::Construction(construction, object)
            }
        }
    }
}
