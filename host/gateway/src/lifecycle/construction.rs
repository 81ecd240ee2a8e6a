//! A plugin whose constructor runs, on a thread of its own and for a limited time.

use super::registry::InactiveReason;
use gateway_plugins::{
    LoadedPlugin, OwnedObject, PluginHandle,
    crash_record::StartMark,
    polls::{CallEnd, DetachedCall},
};
use gateway_storage::Scope;
use parking_lot::Mutex;
use plugin_api::abi::{Fault, FaultKind};
use std::{sync::Arc, time::Duration};

/// A plugin between its constructor and its first request.
pub(crate) struct Construction {
    pub name: String,
    pub handle: Arc<PluginHandle>,
    pub loaded: Arc<LoadedPlugin>,
    pub scope: Scope,
    pub call: DetachedCall<Result<OwnedObject, Fault>>,
    /// Until the constructor has returned, or is given up.
    pub mark: Mutex<Option<StartMark>>,
    pub limit: Duration,
}

impl Construction {
    /// The constructed plugin, or why there is none. `None`: its constructor still runs, `patience` after its begin.
    pub(crate) async fn end_within(&self, patience: Duration) -> Option<Result<OwnedObject, InactiveReason>> {
        let patience = patience.min(self.limit);
        let end = self.call.wait(patience).await;
        if end.is_none() && patience < self.limit {
            return None;
        }
        self.mark.lock().take();
        Some(end.map_or_else(|| Err(self.timed_out()), |end| self.object(end)))
    }

    /// As [`Self::end_within`], to the end of its time.
    pub(crate) async fn end(&self) -> Result<OwnedObject, InactiveReason> {
        self.end_within(self.limit).await.unwrap_or_else(|| Err(self.timed_out()))
    }

    fn timed_out(&self) -> InactiveReason {
        self.handle.timed_out("constructor", self.limit);
        self.handle.stop.cancel();
        InactiveReason::failed(format!("its constructor did not return within {:?}", self.limit))
    }

    fn object(&self, end: CallEnd<Result<OwnedObject, Fault>>) -> Result<OwnedObject, InactiveReason> {
        let fault = match end {
            CallEnd::Returned(Ok(object)) => return Ok(object),
            CallEnd::Returned(Err(fault)) => fault,
            CallEnd::Panicked => return Err(InactiveReason::failed("its constructor ended badly: the log says where")),
        };
        self.handle.stop.cancel();
        if fault.kind == FaultKind::Config {
            return Err(InactiveReason::failed(format!("[plugins.{}] is not valid: {}", self.name, fault.message)));
        }
        self.handle.fault("constructor", &fault);
        Err(InactiveReason::failed(format!("the constructor failed: {} at {}", fault.message, fault.location)))
    }
}
