//! The capability `queue`: what plugins push to their durable queues and end, in their transactions.
//!
//! The rule: a plugin reaches the queues that its manifest declares, which are tables of its own, and no others.

use gateway_queue::{end_statement, is_lease_held, new_ids, push_statements, renew_statement};
use gateway_storage::{Database, StorageError};
use plugin_api::{
    abi::{FfiBytes, HostError, HostErrorCode, Statement, StatementResult},
    host::decode_call,
    manifest::{QueueCall, QueueSpec, RenewCall},
};

/// Tasks of one call.
const PUSHED_MAX: usize = 1_000;
/// Bytes of a task's key, its group and what makes it unique.
const NAME_BYTES_MAX: usize = 512;

/// The call of a plugin that has these queues.
pub(crate) fn parse(queues: &[QueueSpec], request: &[u8]) -> Result<QueueCall, HostError> {
    let call: QueueCall = decode_call("a call of a queue", request)?;
    match &call {
        QueueCall::Push { table, tasks } => {
            check_declared(queues, table)?;
            if tasks.len() > PUSHED_MAX {
                return Err(invalid(format!("{} tasks in a call, at most {PUSHED_MAX}", tasks.len())));
            }
            let names = |task: &plugin_api::manifest::PushedTask| {
                [task.key.len(), task.group.len(), task.unique.as_ref().map_or(0, String::len)]
            };
            if tasks.iter().flat_map(names).any(|bytes| bytes > NAME_BYTES_MAX) {
                return Err(invalid(format!("a key, group or `unique` has more than {NAME_BYTES_MAX} bytes")));
            }
        }
        QueueCall::End { table, .. } => check_declared(queues, table)?,
    }
    Ok(call)
}

fn check_declared(queues: &[QueueSpec], table: &str) -> Result<(), HostError> {
    if queues.iter().any(|queue| queue.table == table) {
        return Ok(());
    }
    let message = format!("the plugin does not declare the queue {table:?}: see `Definition::on_queue`");
    Err(HostError::new(HostErrorCode::Refused, message))
}

/// Adds tasks, or ends one, within the transaction whose statements `run` executes.
pub(crate) async fn call<F>(
    call: QueueCall,
    now_ms: i64,
    run: impl FnOnce(Vec<Statement>) -> F,
) -> Result<FfiBytes, HostError>
where
    F: Future<Output = Result<Vec<StatementResult>, StorageError>>,
{
    match call {
        QueueCall::Push { table, tasks } => {
            let ids = new_ids(&run(push_statements(&table, &tasks, now_ms)).await?)?;
            let ids = serde_json::to_vec(&ids).map_err(|error| invalid(error.to_string()))?;
            Ok(ids.into())
        }
        QueueCall::End { table, lease, outcome } => {
            if is_lease_held(&run(vec![end_statement(&table, &lease, &outcome)]).await?) {
                return Ok(FfiBytes::default());
            }
            let message = format!("the lease of the key {:?} was lost: another gateway has the task", lease.key);
            Err(HostError::new(HostErrorCode::Constraint, message))
        }
    }
}

/// Whether the lease was still there.
pub(crate) async fn renew(database: &Database, queues: &[QueueSpec], request: &[u8]) -> Result<bool, HostError> {
    let RenewCall { table, lease, lease_ms } = decode_call("a lease", request)?;
    check_declared(queues, &table)?;
    let renew = renew_statement(&table, &lease, lease_ms, database.dialect());
    Ok(is_lease_held(&[database.execute(renew).await?]))
}

fn invalid(message: String) -> HostError {
    HostError::new(HostErrorCode::Invalid, message)
}
