//! The runtime that commands run on.

use super::exit::failure;
use crate::exit_code::ExitCode;

/// Tasks that a worker thread polls before it polls the sockets again: a new request is queued soon even under load.
const TASKS_PER_LOOK: u32 = 16;

pub fn with_runtime<T>(work: impl Future<Output = T>) -> Result<T, ExitCode> {
    match tokio::runtime::Builder::new_multi_thread().enable_all().event_interval(TASKS_PER_LOOK).build() {
        Ok(runtime) => {
            let done = runtime.block_on(work);
            // A hung thread of a plugin must not keep the process alive: everything durable is written by now.
            runtime.shutdown_background();
            Ok(done)
        }
        Err(error) => Err(failure(ExitCode::Failure, &error)),
    }
}
