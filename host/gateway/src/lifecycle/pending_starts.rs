//! Starts that take long, each waited for in the background.

use super::{construction::Construction, registry::InactiveReason};
use gateway_plugins::{LoadOutcome, OwnedObject, PendingLibrary};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// What a start waits for.
pub(crate) enum PendingStart {
    Library(PendingLibrary),
    Construction(Construction),
}

/// How it ended.
pub(crate) enum CompletedStart {
    Library(LoadOutcome),
    Construction(Construction, Result<OwnedObject, InactiveReason>),
}

#[derive(Default)]
pub(crate) struct PendingStarts {
    ended: watch::Sender<u64>,
    /// The gateway stops.
    given_up: CancellationToken,
}

impl PendingStarts {
    /// Of the time when the next one ends.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.ended.subscribe()
    }

    /// One has ended, and its plugin serves or is reported.
    pub(crate) fn note_end(&self) {
        self.ended.send_modify(|count| *count += 1);
    }

    pub(crate) fn give_up(&self) {
        self.given_up.cancel();
    }

    pub(crate) fn given_up(&self) -> CancellationToken {
        self.given_up.clone()
    }
}

impl PendingStart {
    pub(crate) async fn end(self) -> CompletedStart {
        match self {
            Self::Library(library) => CompletedStart::Library(library.wait().await),
            Self::Construction(construction) => {
                let object = construction.end().await;
                CompletedStart::Construction(construction, object)
            }
        }
    }
}
