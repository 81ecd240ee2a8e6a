//! One file per route, named after its operation; and what the two routes that call agents share.

mod agent_call;
pub mod call_a2a;
pub mod get_a2a_card;
pub mod get_old_a2a_card;
pub mod invoke_agent;
mod rpc_response;
mod send_message;
mod send_to_job;
