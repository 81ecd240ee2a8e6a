//! The transaction that a plugin gets where it may have none: every call fails and says why.

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

/// Every call of it fails for this reason.
pub fn refused_transaction(reason: &'static str) -> TransactionBox {
    Transaction_TO::from_value(RefusedTransaction(reason), TD_Opaque)
}

const UNDECLARED: &str = "the plugin does not declare that it uses transactions of its own: put the statements into one `write`, \
     or add `.own_transactions()` to its definition";

/// For a plugin that begins a transaction which cannot run again and does not declare that it does: its other transactions are kept
/// apart in a way that takes for granted that all of them can.
pub fn undeclared_transaction() -> TransactionBox {
    refused_transaction(UNDECLARED)
}

struct RefusedTransaction(&'static str);

impl RefusedTransaction {
    fn refusal<T>(&self) -> RResult<T, HostError> {
        RResult::RErr(HostError::new(HostErrorCode::Refused, self.0))
    }

    fn refused<T: Send + 'static>(&self) -> FfiFuture<RResult<T, HostError>> {
        ready(self.refusal()).into_ffi()
    }
}

impl AbiTransaction for RefusedTransaction {
    fn run(&self, _: RVec<Statement>) -> FfiFuture<RResult<RVec<StatementResult>, HostError>> {
        self.refused()
    }

    fn defer(&self, _: Statement) -> RResult<(), HostError> {
        self.refusal()
    }

    fn begin_event(&self, _: u32) {}

    fn publish(&self, _: NewEvent) -> RResult<(), HostError> {
        self.refusal()
    }

    fn call(&self, _: RString, _: FfiBytes) -> FfiFuture<RResult<CapabilityResponse, HostError>> {
        self.refused()
    }

    fn commit(&self) -> FfiFuture<RResult<(), HostError>> {
        self.refused()
    }
}
