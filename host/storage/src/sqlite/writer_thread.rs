//! The thread that commits: many transactions, one commit, one sync of the disk. It also runs slow calls, and rolls
//! back transactions that keep the others waiting.
//!
//! The rule that must not break: **a transaction is acknowledged only after the COMMIT of its group succeeded. If
//! SQLite rolls back a group by itself, each of its transactions fails.**

use super::{
    transaction_call::{PendingReply, TransactionCall},
    transaction_handle::TransactionHandle,
    write_scheduler::WriteScheduler,
    writer_command::WriterCommand,
};
use gateway_telemetry::run_in_log_context;
use std::sync::Arc;
use std::time::Instant;

/// Runs until the scheduler is closed and no transaction waits.
pub(crate) fn run(scheduler: &WriteScheduler) {
    loop {
        match scheduler.next_command() {
            WriterCommand::Call { call, mut pending, transaction, deadline } => {
                run_in_log_context(pending.log_context.take(), || {
                    execute(scheduler, call, pending, &transaction, deadline)
                });
            }
            WriterCommand::RollBack(done) => {
                roll_back(scheduler);
                if let Some(done) = done {
                    let _ = done.send(());
                }
            }
            WriterCommand::CommitGroup => {
                scheduler.connection().commit_group();
                scheduler.end_command(None);
            }
            WriterCommand::RunTask(task) => {
                let mut connection = scheduler.connection();
                task(&mut connection);
                connection.ensure_idle();
                drop(connection);
                scheduler.end_command(None);
            }
            WriterCommand::CheckForeignCommits => {
                scheduler.connection().check_foreign_commits();
                scheduler.end_command(None);
            }
            WriterCommand::Close => break,
        }
    }
    let _ = scheduler.connection().optimize();
}

/// Executes a call on behalf of the lock holder.
fn execute(
    scheduler: &WriteScheduler,
    call: TransactionCall,
    pending: PendingReply,
    transaction: &Arc<TransactionHandle>,
    deadline: Instant,
) {
    let PendingReply { reply, cancelled, log_context: _ } = pending;
    let mut connection = scheduler.connection();
    let result = match (connection.begin_transaction(deadline, true), call) {
        (Err(error), _) => Err((error, reply)),
        (Ok(()), TransactionCall::Run(statements)) => match connection.run(&statements, &cancelled) {
            Ok(outcomes) => Ok(Some((reply, outcomes))),
            Err(error) => Err((error, reply)),
        },
        (Ok(()), TransactionCall::Commit(statements)) => {
            let owner = transaction.written_revision();
            connection.finish_transaction(&statements, &cancelled, owner, reply).map(|()| None)
        }
    };
    let group = connection.group();
    drop(connection);
    match result {
        Ok(Some((reply, outcomes))) => {
            // Before the reply, so that the caller still holds the lock; this also notices an abandoned transaction.
            scheduler.end_call(transaction);
            let _ = reply.send(Ok(outcomes));
        }
        // The commit of the group sends the reply.
        Ok(None) => scheduler.end_command(group),
        Err((error, reply)) => {
            // Before the reply, so that the caller finds the old state.
            roll_back(scheduler);
            let _ = reply.send(Err(error));
        }
    }
}

fn roll_back(scheduler: &WriteScheduler) {
    let mut connection = scheduler.connection();
    connection.roll_back_transaction();
    let group = connection.group();
    drop(connection);
    scheduler.end_command(group);
}
