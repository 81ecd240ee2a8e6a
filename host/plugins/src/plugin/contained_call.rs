//! One call of an operation of a plugin, contained.
//!
//! The rule, for requests, prices, jobs, tasks of queues, contributions, services and topics alike: a call of a plugin that drains, of
//! a paused operation, or that its gate stops is nobody's fault. A fault, a call that exceeds its time limit, and an answer that is
//! not what it must be each count as one fault of the operation. After anything else an operation that was tried again is no longer
//! paused. What the gateway itself made fail (a refused commit, say) the caller excuses.

use super::{
    active_plugin::{ActivePlugin, InFlightGuard},
    breaker::{PausedOperation, Probe},
    handle::PluginOperation,
};
use crate::polls::{GateClosed, within};
use abi_stable::std_types::RResult;
use plugin_api::abi::Fault;
use std::{sync::Arc, time::Duration};

/// Why a call gave nothing. What is the plugin's fault is counted and logged already.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    #[error("the plugin is draining")]
    Draining,
    #[error("it failed too often and is paused: {}", .0.reason)]
    Paused(PausedOperation),
    #[error("the plugin is fenced")]
    Fenced,
    #[error("it took longer than {0:?}")]
    TimedOut(Duration),
    #[error("{}", .0.message)]
    Fault(Fault),
    /// A fault that does not count, because the gateway made the call fail.
    #[error("the gateway made it fail")]
    Excused,
    /// The answer is not what it must be.
    #[error("{0}")]
    Invalid(String),
}

impl CallError {
    /// Whether the plugin, or this operation, does not serve for now: the same call may work later.
    pub fn is_not_serving(&self) -> bool {
        matches!(self, Self::Draining | Self::Paused(_) | Self::Fenced)
    }
}

/// A call that may run now.
pub struct ContainedCall<'c> {
    plugin: &'c Arc<ActivePlugin>,
    operation: &'c PluginOperation,
    probe: Option<Probe>,
    _in_flight: Option<InFlightGuard>,
}

impl ActivePlugin {
    /// The whole of a call: `decode` says what is wrong with an answer.
    pub(crate) async fn call_contained<A, T, F>(
        self: &Arc<Self>,
        operation: &PluginOperation,
        limit: Duration,
        begin: impl FnOnce() -> F,
        decode: impl FnOnce(A) -> Result<T, String>,
    ) -> Result<T, CallError>
    where
        F: Future<Output = RResult<A, Fault>> + Send + Unpin + 'static,
    {
        let call = self.begin_call(operation)?;
        let answer = call.run(limit, begin, || false).await?;
        let decoded = call.check(decode(answer))?;
        call.end();
        Ok(decoded)
    }

    /// Admits a call, and counts it among those in flight.
    pub(crate) fn begin_call<'c>(
        self: &'c Arc<Self>,
        operation: &'c PluginOperation,
    ) -> Result<ContainedCall<'c>, CallError> {
        let in_flight = self.acquire().ok_or(CallError::Draining)?;
        Ok(ContainedCall { _in_flight: Some(in_flight), ..self.admit_call(operation)? })
    }

    /// As [`Self::begin_call`], for a caller that holds an [`InFlightGuard`].
    pub fn admit_call<'c>(self: &'c Arc<Self>, operation: &'c PluginOperation) -> Result<ContainedCall<'c>, CallError> {
        let probe = self.handle.admit(operation).map_err(CallError::Paused)?;
        Ok(ContainedCall { plugin: self, operation, probe, _in_flight: None })
    }
}

impl ContainedCall<'_> {
    /// Calls the plugin. `is_excused`: whether the gateway made the call fail, asked when there is a fault.
    pub async fn run<A, F>(
        &self,
        limit: Duration,
        begin: impl FnOnce() -> F,
        is_excused: impl FnOnce() -> bool,
    ) -> Result<A, CallError>
    where
        F: Future<Output = RResult<A, Fault>> + Send + Unpin + 'static,
    {
        self.limited(limit, self.call(begin, is_excused)).await?
    }

    /// As [`Self::run`], within a limit that the caller sets.
    pub async fn call<A, F>(&self, begin: impl FnOnce() -> F, is_excused: impl FnOnce() -> bool) -> Result<A, CallError>
    where
        F: Future<Output = RResult<A, Fault>> + Send + Unpin + 'static,
    {
        match self.plugin.call(self.operation.number, begin).await {
            Ok(RResult::ROk(answer)) => Ok(answer),
            Err(GateClosed) => Err(CallError::Fenced),
            Ok(RResult::RErr(_)) if is_excused() => Err(CallError::Excused),
            Ok(RResult::RErr(fault)) => {
                self.plugin.handle.fault(self.operation.name(), &fault);
                Err(CallError::Fault(fault))
            }
        }
    }

    /// Work of which the call is a part, and which the plugin must not draw out.
    pub async fn limited<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Result<T, CallError> {
        within(limit, work).await.ok_or_else(|| {
            self.plugin.handle.timed_out(self.operation.name(), limit);
            CallError::TimedOut(limit)
        })
    }

    /// Counts an answer that is not what it must be.
    pub fn check<T>(&self, decoded: Result<T, String>) -> Result<T, CallError> {
        decoded.map_err(|problem| {
            self.plugin.handle.error(self.operation.name(), problem.clone());
            CallError::Invalid(problem)
        })
    }

    /// Whether it decides if its operation stays paused.
    pub(crate) fn is_probe(&self) -> bool {
        self.probe.is_some()
    }

    /// The call has ended. Without a fault of the operation since it began, a pause is over. One that is dropped without this decides
    /// nothing.
    pub fn end(self) {
        self.plugin.handle.end_probe(self.operation, self.probe);
    }
}
