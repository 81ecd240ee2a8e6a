//! What a call is, what may be asked, and what an answer may be kept for.

mod answer_cache;
mod call_params;
mod client_limits;
mod finality;
mod log_query;
mod method;
mod params;
mod raw_transaction;
mod request;
mod rpc_error;

pub use answer_cache::AnswerCache;
pub use call_params::with_gas_cap;
pub use client_limits::ClientLimits;
pub use finality::is_permanent;
pub use log_query::{KnownBlocks, LogQuery, joined};
pub use method::{Kind, LOG_WEIGHT, METHODS, Method, method};
pub use params::positional;
pub use raw_transaction::{checked_transaction, is_known};
pub use request::{Incoming, RpcRequest};
pub use rpc_error::RpcError;
