//! Types and rules of A2A, without a database: agents as they are called, cards, JSON-RPC in the dialects of A2A, tasks.

mod agent;
mod card;
mod card_v1;
mod dialect;
mod envelope;
mod invocation;
mod job;
mod method;
mod output;
mod part;
mod rpc_error;
mod rpc_request;
mod send_params;
mod task;
mod task_state;

pub use agent::CallableAgent;
pub use card::{Card, CardSubject};
pub use card_v1::CardV1;
pub use dialect::Dialect;
pub use envelope::Envelope;
pub use invocation::Invocation;
pub use job::{Job, JobStatus, job_of_task};
pub use output::Output;
pub use rpc_error::RpcError;
pub use rpc_request::{RpcCall, RpcRequest, TaskQuery};
pub use send_params::SendParams;
pub use task::{Task, new_task_id};
pub use task_state::TaskState;

/// A larger body is a 413; `http.body_bytes_max` of the gateway may allow less.
pub const BODY_BYTES_MAX: u64 = 1024 * 1024;
