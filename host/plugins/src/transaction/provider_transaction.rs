//! The part that the provider of a service has in the transaction of its caller.
//!
//! The rule: the provider reaches its own tables in it and publishes its own events, and nothing of the caller's; after its answer
//! the transaction is closed to it.

use super::plugin_transaction::PluginTransaction;
use crate::{plugin::ActivePlugin, polls::in_host};
use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{RResult, RString, RVec},
};
use async_ffi::{FfiFuture, FutureExt as _};
use plugin_api::abi::{
    CapabilityResponse, FfiBytes, HostError, HostErrorCode, NewEvent, Statement, StatementResult,
    Transaction as AbiTransaction, Transaction_TO, TransactionBox,
};
use std::{
    future::ready,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
};

#[derive(Clone)]
pub(crate) struct ProviderTransaction {
    transaction: Arc<PluginTransaction>,
    provider: Arc<ActivePlugin>,
    is_over: Arc<AtomicBool>,
}

impl ProviderTransaction {
    pub(crate) fn new(transaction: &Arc<PluginTransaction>, provider: &Arc<ActivePlugin>) -> Self {
        Self { transaction: transaction.clone(), provider: provider.clone(), is_over: Arc::default() }
    }

    pub(crate) fn transaction_box(&self) -> TransactionBox {
        Transaction_TO::from_value(self.clone(), TD_Opaque)
    }

    pub(crate) fn end(&self) {
        self.is_over.store(true, Relaxed);
    }

    fn check_open(&self) -> Result<(), HostError> {
        if self.is_over.load(Relaxed) {
            return Err(refused("the call of the service is over, and its part in the transaction"));
        }
        Ok(())
    }
}

impl AbiTransaction for ProviderTransaction {
    fn run(&self, statements: RVec<Statement>) -> FfiFuture<RResult<RVec<StatementResult>, HostError>> {
        let part = self.clone();
        in_host(async move {
            if let Err(error) = part.check_open() {
                return RResult::RErr(error);
            }
            let outcomes = part.transaction.run_for(&part.provider.scope, statements.into_vec()).await;
            outcomes.map(RVec::from).into()
        })
        .into_ffi()
    }

    fn defer(&self, statement: Statement) -> RResult<(), HostError> {
        let defer = || self.transaction.defer_for(&self.provider.scope, statement).map_err(HostError::from);
        self.check_open().and_then(|()| defer()).into()
    }

    fn begin_event(&self, _: u32) {}

    fn publish(&self, event: NewEvent) -> RResult<(), HostError> {
        let publish = || self.transaction.publish_for(Some(&self.provider.manifest), event);
        self.check_open().and_then(|()| publish()).into()
    }

    fn call(&self, _: RString, _: FfiBytes) -> FfiFuture<RResult<CapabilityResponse, HostError>> {
        ready(RResult::RErr(refused("a service within a write has no other capability than statements and events")))
            .into_ffi()
    }

    fn commit(&self) -> FfiFuture<RResult<(), HostError>> {
        ready(RResult::RErr(refused("the caller of the service commits"))).into_ffi()
    }
}

fn refused(message: &str) -> HostError {
    HostError::new(HostErrorCode::Refused, message)
}
