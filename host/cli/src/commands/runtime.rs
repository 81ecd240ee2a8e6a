//! The runtime that commands run on.

use super::exit::failure;
use crate::exit_code::ExitCode;

/// Tasks that a thread polls before it looks at the sockets again: who comes while others keep it busy is soon in the queue.
const TASKS_PER_LOOK: u32 = 16;

pub fn with_runtime<T>(work: impl Future<Output = T>) -> Result<T, ExitCode> {
    match tokio::runtime::Builder::new_multi_thread().enable_all().event_interval(TASKS_PER_LOOK).build() {
        Ok(runtime) => {
            let done = runtime.block_on(work);
            // A plugin's thread that hangs must not keep the process: what counts is closed and written by now.
            runtime.shutdown_background();
            Ok(done)
        }
        Err(error) => Err(failure(ExitCode::Failure, &error)),
    }
}
