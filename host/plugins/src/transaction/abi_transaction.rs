//! The transaction that a plugin gets, as the ABI has it, and the services that it calls within it.

use super::{charge::ChargeOutcome, plugin_transaction::PluginTransaction};
use crate::{
    calls::{call_service_in_write, check_used},
    polls::{in_host, in_other_plugins},
};
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{RResult, RString, RVec},
};
use async_ffi::{FfiFuture, FutureExt as _};
use plugin_api::{
    abi::{
        CapabilityResponse, FfiBytes, HostError, HostErrorCode, NewEvent, Statement, StatementResult,
        Transaction as AbiTransaction, Transaction_TO, TransactionBox,
    },
    host::decode_call,
    manifest::ServiceCall,
    payment::{self, Price, Reserve, ReserveInput},
};
use serde::Serialize;
use std::sync::Arc;

impl PluginTransaction {
    pub fn transaction_box(self: &Arc<Self>) -> TransactionBox {
        Transaction_TO::from_value(AbiPluginTransaction(self.clone()), TD_Opaque)
    }
}

#[derive(Clone)]
struct AbiPluginTransaction(Arc<PluginTransaction>);

impl AbiTransaction for AbiPluginTransaction {
    fn run(&self, statements: RVec<Statement>) -> FfiFuture<RResult<RVec<StatementResult>, HostError>> {
        let transaction = self.0.clone();
        in_host(async move { transaction.run(statements.into_vec()).await.map(RVec::from).into() }).into_ffi()
    }

    fn defer(&self, statement: Statement) -> RResult<(), HostError> {
        self.0.defer(statement).map_err(HostError::from).into()
    }

    /// Only the transactions of the indexer have chain events.
    fn begin_event(&self, _: u32) {}

    fn publish(&self, event: NewEvent) -> RResult<(), HostError> {
        self.0.publish(event).into()
    }

    fn call(&self, capability: RString, request: FfiBytes) -> FfiFuture<RResult<CapabilityResponse, HostError>> {
        let handle = self.clone();
        async move {
            let called = match capability.as_str() {
                // Another plugin's code runs in these.
                "service" => handle.call_service(&request).await,
                "charge" => handle.charge(&request).await,
                other => in_host(handle.0.call(other, &request)).await,
            };
            called.into()
        }
        .into_ffi()
    }

    fn commit(&self) -> FfiFuture<RResult<(), HostError>> {
        let transaction = self.0.clone();
        in_host(async move { transaction.commit().await.into() }).into_ffi()
    }
}

impl AbiPluginTransaction {
    async fn call_service(self, request: &[u8]) -> Result<CapabilityResponse, HostError> {
        let ServiceCall { service, input } = decode_call("a call of a service", request)?;
        self.0.manifest.as_deref().map_or(Ok(()), |manifest| check_used(manifest, &service))?;
        let input = to_json(&input)?;
        let response = self.in_provider(&service, input).await?;
        Ok(CapabilityResponse { response, body: FfiBytes::default() })
    }

    /// Charges the payment that came with the request, for a price that the plugin asks within the write.
    async fn charge(self, request: &[u8]) -> Result<CapabilityResponse, HostError> {
        let price: Price = decode_call("a price", request)?;
        let Some(charge) = self.0.charge.clone() else {
            return Err(refused("only the write of a signed request to a priced route charges"));
        };
        let Some(checked) = charge.checked.clone() else {
            charge.set(ChargeOutcome::Refused(price, None));
            return Err(refused("no payment came with the request"));
        };
        let payment = checked.payment.clone();
        let input = ReserveInput { price: price.clone(), resource: charge.resource.clone(), checked, until_s: None };
        let answer = self.in_provider(payment::RESERVE.name(), to_json(&input)?).await?;
        match decode_call("an answer of the payment service", &answer)? {
            Reserve::Reserved(receipt) => charge.set(ChargeOutcome::Charged(receipt)),
            Reserve::Refused(reason) => {
                charge.set(ChargeOutcome::Refused(price, Some(reason)));
                return Err(refused("the payment does not suffice"));
            }
            Reserve::Disabled(reason) => {
                charge.set(ChargeOutcome::Disabled(reason));
                return Err(refused("nothing can be paid now"));
            }
        }
        Ok(CapabilityResponse { response: to_json(&payment)?, body: FfiBytes::default() })
    }

    async fn in_provider(self, service: &str, input: FfiBytes) -> Result<FfiBytes, HostError> {
        let active = self.0.context.active.list();
        let call = call_service_in_write(&active, &self.0, service, input);
        let caller = self.0.plugin_name();
        match active.iter().find(|plugin| plugin.name() == caller) {
            Some(caller) => in_other_plugins(caller.handle.gate.clone(), call).await,
            None => call.await,
        }
    }
}

fn refused(message: &str) -> HostError {
    HostError::new(HostErrorCode::Refused, message)
}

fn to_json(value: &impl Serialize) -> Result<FfiBytes, HostError> {
    let json = serde_json::to_vec(value);
    json.map(FfiBytes::from).map_err(|error| HostError::new(HostErrorCode::Internal, error.to_string()))
}
