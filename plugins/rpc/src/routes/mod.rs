//! One file per route, named after its operation; and what answers a call.

mod answer_call;
mod answerer;
pub mod call_rpc;
mod get_logs;
mod rpc_response;
