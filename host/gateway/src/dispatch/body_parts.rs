//! A request body that the plugin reads in parts, while it arrives.

use bytes::Bytes;
use gateway_http::body::{BodyError, LimitedBody};
use parking_lot::Mutex;
use plugin_api::abi::{HostError, HostErrorCode};
use std::sync::Arc;

pub(crate) struct BodyParts {
    state: tokio::sync::Mutex<State>,
    /// Why the body cannot be read to its end.
    failure: Mutex<Option<BodyError>>,
}

enum State {
    Arriving(LimitedBody),
    Complete,
    Failed,
}

impl BodyParts {
    pub(crate) fn new(body: LimitedBody) -> Arc<Self> {
        Arc::new(Self { state: State::Arriving(body).into(), failure: Mutex::default() })
    }

    /// The next bytes; `None` at the end. Once it has failed, it fails again: nobody takes the first half for the whole.
    pub(crate) async fn next(&self) -> Result<Option<Bytes>, HostError> {
        let mut state = self.state.lock().await;
        let next = match &mut *state {
            State::Arriving(body) => body.next_part().await,
            State::Complete => return Ok(None),
            State::Failed => return Err(HostError::new(HostErrorCode::Closed, "the request body failed before")),
        };
        match next {
            Ok(Some(part)) => Ok(Some(part)),
            Ok(None) => {
                *state = State::Complete;
                Ok(None)
            }
            Err(error) => {
                *state = State::Failed;
                let message = error.to_string();
                *self.failure.lock() = Some(error);
                Err(HostError::new(HostErrorCode::Closed, message))
            }
        }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.failure.lock().is_some()
    }

    pub(crate) fn take_failure(&self) -> Option<BodyError> {
        self.failure.lock().take()
    }
}
