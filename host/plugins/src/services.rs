//! Calls of services: functions that one plugin provides and others use.
//!
//! The rule: what fails in the provider is the provider's fault; the caller learns which service failed, and nothing else.

use crate::{
    ActivePlugin, ActiveSet,
    bounds::{CONTRIBUTION_BYTES_MAX, excess},
    call_depth::CallDepth,
    polls::GateClosed,
};
use abi_stable::std_types::RResult;
use plugin_api::{
    abi::{FfiBytes, HostError, HostErrorCode},
    manifest::Manifest,
};
use std::{sync::Arc, time::Duration};

const SERVICE_TIMEOUT: Duration = Duration::from_secs(10);

/// Calls `service` for the plugin with this manifest: JSON in, JSON out.
pub async fn call_service(
    active: &ActiveSet,
    caller: &Manifest,
    service: &str,
    input: FfiBytes,
) -> Result<FfiBytes, HostError> {
    if !caller.uses.iter().any(|used| used.name == service) {
        let message = format!("the plugin does not declare that it uses the service {service}");
        return Err(HostError::new(HostErrorCode::Refused, message));
    }
    let Some((provider, index)) = active.provider(service) else {
        return Err(disabled(format!("no plugin that serves provides the service {service}")));
    };
    let Some(depth) = CallDepth::enter() else {
        let message = format!("services and contributions call each other in a circle, at last {service}");
        return Err(HostError::new(HostErrorCode::Refused, message));
    };
    // Boxed: a future that may hold another call of a service has no size of its own.
    depth.scope(Box::pin(call(provider, *index, service, input))).await
}

async fn call(provider: &Arc<ActivePlugin>, index: u32, service: &str, input: FfiBytes) -> Result<FfiBytes, HostError> {
    let off = || disabled(format!("the service {service} is {}", why_off(provider)));
    let _in_flight = provider.acquire().ok_or_else(off)?;
    let operation = provider.operations.service(index).ok_or_else(off)?;
    let paused = |_| disabled(format!("the service {service} is paused, because it failed too often"));
    let probe = provider.handle.admit(operation).map_err(paused)?;
    let call = provider.call(operation.place, || provider.object.call_service(index, input));
    let place = format!("service {service}");
    let failed = || HostError::new(HostErrorCode::Unavailable, format!("the service {service} failed"));
    match tokio::time::timeout(SERVICE_TIMEOUT, call).await {
        Ok(Ok(RResult::ROk(output))) => {
            if let Some(reason) = excess("the answer of a service", output.len(), CONTRIBUTION_BYTES_MAX) {
                provider.handle.error(&place, reason);
                return Err(failed());
            }
            if let Err(reason) = provider.outputs.check_service(index, &output) {
                provider.handle.error(&place, format!("an answer has another shape: {reason}"));
                return Err(failed());
            }
            provider.handle.end_probe(operation, probe);
            Ok(output)
        }
        Ok(Ok(RResult::RErr(fault))) => {
            provider.handle.fault(&place, &fault);
            Err(failed())
        }
        Ok(Err(GateClosed)) => Err(off()),
        Err(_elapsed) => {
            provider.handle.timed_out(&place, SERVICE_TIMEOUT);
            let message = format!("the service {service} did not answer within {SERVICE_TIMEOUT:?}");
            Err(HostError::new(HostErrorCode::Timeout, message))
        }
    }
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
