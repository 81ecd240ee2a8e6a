//! What a plugin gets in the place of a transaction that its manifest does not declare.
//!
//! The rule: the transactions of one plugin are all of one kind. One that runs at READ COMMITTED beside serialisable ones would not
//! notice that they collide.

use abi_stable::{
    erased_types::TD_Opaque,
    std_types::{RResult, RString, RVec},
};
use async_ffi::{FfiFuture, FutureExt as _};
use plugin_api::abi::{
    CapabilityResponse, FfiBytes, HostError, HostErrorCode, NewEvent, Statement, StatementResult,
    Transaction as AbiTransaction, Transaction_TO, TransactionBox,
};
use std::future::ready;

/// Refuses every call.
pub struct UndeclaredTransaction;

impl UndeclaredTransaction {
    pub fn into_transaction_box() -> TransactionBox {
        Transaction_TO::from_value(Self, TD_Opaque)
    }
}

fn refused<T>() -> RResult<T, HostError> {
    let message = "the plugin does not declare `own_transactions`: write in a closure (`cx.write`), which can run again, or declare it";
    RResult::RErr(HostError::new(HostErrorCode::Refused, message))
}

impl AbiTransaction for UndeclaredTransaction {
    fn run(&self, _: RVec<Statement>) -> FfiFuture<RResult<RVec<StatementResult>, HostError>> {
        ready(refused()).into_ffi()
    }

    fn defer(&self, _: Statement) -> RResult<(), HostError> {
        refused()
    }

    fn begin_event(&self, _: u32) {}

    fn publish(&self, _: NewEvent) -> RResult<(), HostError> {
        refused()
    }

    fn call(&self, _: RString, _: FfiBytes) -> FfiFuture<RResult<CapabilityResponse, HostError>> {
        ready(refused()).into_ffi()
    }

    fn commit(&self) -> FfiFuture<RResult<(), HostError>> {
        ready(refused()).into_ffi()
    }
}
