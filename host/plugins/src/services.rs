//! Calls of services: functions that one plugin provides and others use, or the gateway itself.
//!
//! The rule: what fails in the provider is the provider's fault; the caller learns which service failed, and nothing else.

use crate::{
    ActivePlugin, ActiveSet, PluginTransaction, TransactionContext, TransactionOwner,
    bounds::{CONTRIBUTION_BYTES_MAX, excess},
    call_depth::CallDepth,
    collisions::Attempts,
    contained_call::CallError,
    provider_transaction::ProviderTransaction,
    transaction::host_error,
};
use abi_stable::std_types::RResult;
use async_ffi::FfiFuture;
use futures_util::future::BoxFuture;
use gateway_storage::{Isolation, Scope};
use plugin_api::{
    abi::{Fault, FfiBytes, HostError, HostErrorCode},
    manifest::Manifest,
};
use std::{sync::Arc, time::Duration};

const SERVICE_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether the plugin with this manifest may call the service.
pub fn check_used(caller: &Manifest, service: &str) -> Result<(), HostError> {
    if caller.uses.iter().any(|used| used.name == service) {
        return Ok(());
    }
    Err(refused(format!("the plugin does not declare that it uses the service {service}")))
}

/// Calls a service, JSON in, JSON out; one that is called in a transaction in a transaction of its own. Boxed: a future that may hold
/// another call of a service has no size of its own.
pub fn call_service<'c>(
    context: &'c Arc<TransactionContext>,
    service: &'c str,
    input: FfiBytes,
) -> BoxFuture<'c, Result<FfiBytes, HostError>> {
    Box::pin(async move {
        let active = context.active.list();
        let provider = Provider::find(&active, service)?;
        let call = async {
            match provider.is_in_write() {
                true => provider.call_in_own_write(context, input).await,
                false => provider.call(input).await,
            }
        };
        enter(service)?.scope(call).await
    })
}

/// Calls a service within the transaction of the caller.
pub async fn call_service_in_write(
    active: &ActiveSet,
    transaction: &Arc<PluginTransaction>,
    service: &str,
    input: FfiBytes,
) -> Result<FfiBytes, HostError> {
    let provider = Provider::find(active, service)?;
    if !provider.is_in_write() {
        let message = format!("the service {service} is not called within a write: call it before, or after");
        return Err(refused(message));
    }
    enter(service)?.scope(Box::pin(provider.call_within(transaction, input))).await
}

fn enter(service: &str) -> Result<CallDepth, HostError> {
    let circle = || refused(format!("services and contributions call each other in a circle, at last {service}"));
    CallDepth::enter().ok_or_else(circle)
}

/// Who provides a service.
struct Provider<'c> {
    plugin: &'c Arc<ActivePlugin>,
    index: u32,
    service: &'c str,
}

impl<'c> Provider<'c> {
    fn find(active: &'c ActiveSet, service: &'c str) -> Result<Self, HostError> {
        let absent = || disabled(format!("no plugin that serves provides the service {service}"));
        let (plugin, index) = active.provider(service).ok_or_else(absent)?;
        Ok(Self { plugin, index: *index, service })
    }

    fn is_in_write(&self) -> bool {
        self.plugin.manifest.provides.get(self.index as usize).is_some_and(|spec| spec.in_write)
    }

    async fn call(&self, input: FfiBytes) -> Result<FfiBytes, HostError> {
        self.contained(|| self.plugin.object.call_service(self.index, input), || false).await
    }

    /// In a transaction of the provider's, which is committed when it has answered.
    async fn call_in_own_write(
        &self,
        context: &Arc<TransactionContext>,
        input: FfiBytes,
    ) -> Result<FfiBytes, HostError> {
        let mut attempts = Attempts::default();
        loop {
            let scope = self.plugin.scope.clone();
            let transaction =
                PluginTransaction::of_plugin(context, scope, TransactionOwner::Attempt, &self.plugin.manifest);
            transaction.set_permit(|| self.plugin.handle.writes.nth(attempts.number()));
            let answer = match self.call_within(&transaction, copy(&input)).await {
                Ok(output) => transaction.finish().await.map(|()| output).map_err(host_error),
                Err(error) => {
                    transaction.roll_back().await;
                    Err(error)
                }
            };
            let may_run_again = answer.is_err() && transaction.has_conflict();
            if !may_run_again || !attempts.run_again(self.plugin.name(), &format!("service {}", self.service)) {
                return answer;
            }
        }
    }

    async fn call_within(&self, transaction: &Arc<PluginTransaction>, input: FfiBytes) -> Result<FfiBytes, HostError> {
        if !matches!(self.plugin.scope, Scope::Plugin { isolation: Isolation::Serializable, .. }) {
            let message = format!("the service {} is of a plugin whose transactions cannot run again", self.service);
            return Err(refused(message));
        }
        let part = ProviderTransaction::new(transaction, self.plugin);
        let call = || self.plugin.object.call_service_in_write(self.index, input, part.transaction_box());
        // What the provider makes of a collision, or of a guard that refuses the whole write, is not its fault and does not count.
        let is_over = || transaction.has_conflict() || transaction.is_refused();
        let answer = self.contained(call, is_over).await;
        part.end();
        if transaction.has_conflict() {
            return Err(HostError::new(HostErrorCode::Conflict, "the write collided with another one"));
        }
        answer
    }

    /// The provider's answer. A fault is not counted when it `is_excused`.
    async fn contained(
        &self,
        begin: impl FnOnce() -> FfiFuture<RResult<FfiBytes, Fault>>,
        is_excused: impl FnOnce() -> bool,
    ) -> Result<FfiBytes, HostError> {
        let operation = self.plugin.operations.service(self.index).ok_or_else(|| self.refusal(&CallError::Draining))?;
        let answered = async {
            let call = self.plugin.begin_call(operation)?;
            let output = call.run(SERVICE_TIMEOUT, begin, is_excused).await?;
            call.check(self.check_output(&output))?;
            call.end();
            Ok::<_, CallError>(output)
        };
        answered.await.map_err(|error| self.refusal(&error))
    }

    fn check_output(&self, output: &[u8]) -> Result<(), String> {
        excess("the answer of a service", output.len(), CONTRIBUTION_BYTES_MAX).map_or(Ok(()), Err)?;
        let checked = self.plugin.outputs.check_service(self.index, output);
        checked.map_err(|reason| format!("an answer has another shape: {reason}"))
    }

    /// What the caller learns.
    fn refusal(&self, error: &CallError) -> HostError {
        let service = self.service;
        match error {
            CallError::Draining | CallError::Fenced => {
                disabled(format!("the service {service} is {}", why_off(self.plugin)))
            }
            CallError::Paused(_) => disabled(format!("the service {service} is paused, because it failed too often")),
            CallError::TimedOut(limit) => {
                let message = format!("the service {service} did not answer within {limit:?}");
                HostError::new(HostErrorCode::Timeout, message)
            }
            CallError::Fault(_) | CallError::Excused | CallError::Invalid(_) => {
                HostError::new(HostErrorCode::Unavailable, format!("the service {service} failed"))
            }
        }
    }
}

fn copy(bytes: &FfiBytes) -> FfiBytes {
    bytes.to_vec().into()
}

/// Whoever waits when the gate closes asks before the plugin is fenced, so the gate comes first.
fn why_off(provider: &ActivePlugin) -> &'static str {
    if provider.handle.gate.is_closed() {
        "off, because code of its plugin did not give a thread back"
    } else if provider.handle.is_fenced() {
        "off, because its plugin failed too often"
    } else {
        "switched off"
    }
}

fn disabled(message: String) -> HostError {
    HostError::new(HostErrorCode::Disabled, message)
}

fn refused(message: String) -> HostError {
    HostError::new(HostErrorCode::Refused, message)
}
