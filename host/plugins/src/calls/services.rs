//! Calls of services: functions that one plugin provides and others use, or the gateway itself.
//!
//! The rule: what fails in the provider is the provider's fault; the caller learns which service failed, and nothing else.

use super::call_depth::CallDepth;
use crate::{
    bounds::{CONTRIBUTION_BYTES_MAX, excess},
    plugin::{ActivePlugin, ActiveSet, CallError},
    transaction::{CommitMode, PluginTransaction, ProviderTransaction, TransactionContext, conflicts::Attempts},
};
use abi_stable::std_types::RResult;
use async_ffi::FfiFuture;
use futures_util::future::BoxFuture;
use gateway_storage::{Isolation, Scope};
use plugin_api::{
    abi::{Fault, FfiBytes, HostError, HostErrorCode},
    manifest::Manifest,
    point::Service,
};
use serde::{Serialize, de::DeserializeOwned};
use std::{future::ready, sync::Arc, time::Duration};

const SERVICE_TIMEOUT: Duration = Duration::from_secs(10);

/// Whether the plugin with this manifest may call the service.
pub(crate) fn check_used(caller: &Manifest, service: &str) -> Result<(), HostError> {
    if caller.uses.iter().any(|used| used.name == service) {
        return Ok(());
    }
    Err(refused(format!("the plugin does not declare that it uses the service {service}")))
}

/// Reads what a provider has answered, or says what is wrong with it: without its values, which are the plugin's and may be large.
type ReadOutput<O> = fn(&Provider<'_>, FfiBytes) -> Result<O, String>;

/// Compared with the declared type: whoever called decodes it.
fn checked(provider: &Provider<'_>, output: FfiBytes) -> Result<FfiBytes, String> {
    provider.plugin.outputs.check_service(provider.index, &output).map(|()| output)
}

/// Decoded as the gateway declares the type, which compares more cheaply.
fn decoded<O: DeserializeOwned>(_: &Provider<'_>, output: FfiBytes) -> Result<O, String> {
    let problem = |error: serde_json::Error| format!("{:?} error at byte {}", error.classify(), error.column());
    serde_json::from_slice(&output).map_err(problem)
}

/// Calls a service, JSON in, JSON out; one that is called in a transaction in a transaction of its own.
pub(crate) fn call_service<'c>(
    context: &'c Arc<TransactionContext>,
    service: &'c str,
    input: FfiBytes,
) -> BoxFuture<'c, Result<FfiBytes, HostError>> {
    call_and_read(context, service, input, checked)
}

/// The same for a service whose types the gateway declares.
pub fn call_own_service<'c, I: Serialize, O: DeserializeOwned + Send + 'c>(
    context: &'c Arc<TransactionContext>,
    service: Service<I, O>,
    input: &I,
) -> BoxFuture<'c, Result<O, HostError>> {
    match serde_json::to_vec(input) {
        Ok(input) => call_and_read(context, service.name(), input.into(), decoded),
        Err(error) => Box::pin(ready(Err(HostError::new(HostErrorCode::Internal, error.to_string())))),
    }
}

/// Boxed: a future that may hold another call of a service has no size of its own.
fn call_and_read<'c, O: Send + 'c>(
    context: &'c Arc<TransactionContext>,
    service: &'c str,
    input: FfiBytes,
    read: ReadOutput<O>,
) -> BoxFuture<'c, Result<O, HostError>> {
    Box::pin(async move {
        let active = context.active.list();
        let provider = Provider::find(&active, service)?;
        let call = async {
            match provider.is_in_write() {
                true => provider.call_in_own_write(context, input, read).await,
                false => provider.call(input, read).await,
            }
        };
        enter(service)?.scope(call).await
    })
}

/// Calls a service within the transaction of the caller.
pub(crate) async fn call_service_in_write(
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
    enter(service)?.scope(Box::pin(provider.call_within(transaction, input, checked))).await
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

    async fn call<O>(&self, input: FfiBytes, read: ReadOutput<O>) -> Result<O, HostError> {
        self.contained(|| self.plugin.object.call_service(self.index, input), || false, read).await
    }

    /// In a transaction of the provider's, which is committed when it has answered.
    async fn call_in_own_write<O>(
        &self,
        context: &Arc<TransactionContext>,
        input: FfiBytes,
        read: ReadOutput<O>,
    ) -> Result<O, HostError> {
        let mut attempts = Attempts::default();
        loop {
            let scope = self.plugin.scope.clone();
            let transaction = PluginTransaction::of_plugin(context, scope, CommitMode::Attempt, &self.plugin.manifest);
            transaction.set_permit(|| self.plugin.handle.writes.nth(attempts.number()));
            let answer = match self.call_within(&transaction, copy(&input), read).await {
                Ok(output) => transaction.finish().await.map(|()| output).map_err(HostError::from),
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

    async fn call_within<O>(
        &self,
        transaction: &Arc<PluginTransaction>,
        input: FfiBytes,
        read: ReadOutput<O>,
    ) -> Result<O, HostError> {
        if !matches!(self.plugin.scope, Scope::Plugin { isolation: Isolation::Serializable, .. }) {
            let message = format!("the service {} is of a plugin whose transactions cannot run again", self.service);
            return Err(refused(message));
        }
        let part = ProviderTransaction::new(transaction, self.plugin);
        let call = || self.plugin.object.call_service_in_write(self.index, input, part.transaction_box());
        // What the provider makes of a conflict, or of a guard that refuses the whole write, is not its fault and does not count.
        let is_over = || transaction.has_conflict() || transaction.is_refused();
        let answer = self.contained(call, is_over, read).await;
        part.end();
        if transaction.has_conflict() {
            return Err(HostError::new(HostErrorCode::Conflict, "the write conflicted with another one"));
        }
        answer
    }

    /// The provider's answer. A fault is not counted when it `is_excused`.
    async fn contained<O>(
        &self,
        begin: impl FnOnce() -> FfiFuture<RResult<FfiBytes, Fault>>,
        is_excused: impl FnOnce() -> bool,
        read: ReadOutput<O>,
    ) -> Result<O, HostError> {
        let operation = self.plugin.operations.service(self.index).ok_or_else(|| self.refusal(&CallError::Draining))?;
        let answered = async {
            let call = self.plugin.begin_call(operation)?;
            let output = call.run(SERVICE_TIMEOUT, begin, is_excused).await?;
            let output = call.check(self.read_output(output, read))?;
            call.end();
            Ok::<_, CallError>(output)
        };
        answered.await.map_err(|error| self.refusal(&error))
    }

    fn read_output<O>(&self, output: FfiBytes, read: ReadOutput<O>) -> Result<O, String> {
        excess("the answer of a service", output.len(), CONTRIBUTION_BYTES_MAX).map_or(Ok(()), Err)?;
        read(self, output).map_err(|reason| format!("an answer has another shape: {reason}"))
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
