//! The runtimes that commands run on.
//!
//! The rule: plugins run on the threads of one runtime, operators' listener and signals on another, so that no plugin keeps the
//! process from being looked at and stopped.

use super::exit::failure;
use crate::exit_code::ExitCode;
use crate::spare_threads::SpareThreads;
use gateway_plugins::polls::polls_max;
use std::{future::Future, io};
use tokio::runtime::{Builder, Handle, Runtime};

/// Tasks that a worker thread polls before it polls the sockets again: a new request is queued soon even under load.
const TASKS_PER_IO_POLL: u32 = 16;

pub(crate) fn with_runtime<T>(work: impl Future<Output = T>) -> Result<T, ExitCode> {
    finish(&mut Builder::new_multi_thread(), |_| work)
}

/// Serves with a thread more than one plugin can hold, and with spare threads for those that are lost.
pub(crate) fn with_serving_runtime<T, W: Future<Output = T>>(
    work: impl FnOnce(Handle, SpareThreads) -> W,
) -> Result<T, ExitCode> {
    let control = Builder::new_multi_thread().worker_threads(1).thread_name("control").enable_all().build();
    let control = control.map_err(start_error)?;
    let spare = SpareThreads::for_polls(polls_max());
    let threads = polls_max() + 1 + spare.count();
    let done = finish(Builder::new_multi_thread().worker_threads(threads), |serving| {
        spare.occupy(serving.handle());
        work(control.handle().clone(), spare)
    });
    control.shutdown_background();
    done
}

fn finish<T, W: Future<Output = T>>(builder: &mut Builder, work: impl FnOnce(&Runtime) -> W) -> Result<T, ExitCode> {
    let runtime = builder.enable_all().event_interval(TASKS_PER_IO_POLL).build().map_err(start_error)?;
    let done = runtime.block_on(work(&runtime));
    // A hung thread of a plugin must not keep the process alive: everything durable is written by now.
    runtime.shutdown_background();
    Ok(done)
}

fn start_error(error: io::Error) -> ExitCode {
    failure(ExitCode::Failure, &error)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use std::{sync::mpsc::channel, thread, time::Duration};

    /// More than a busy machine needs.
    const LIMIT: Duration = Duration::from_secs(30);

    #[test]
    fn the_control_runtime_works_while_every_serving_thread_is_blocked() {
        let worked = with_serving_runtime(|control, _spare| async move {
            let (blocked, is_blocked) = channel();
            for _ in 0..=polls_max() {
                let blocked = blocked.clone();
                drop(tokio::spawn(async move {
                    blocked.send(()).unwrap();
                    thread::park();
                }));
            }
            for _ in 0..=polls_max() {
                is_blocked.recv_timeout(LIMIT).unwrap();
            }
            let (work, is_done) = channel();
            drop(control.spawn(async move { work.send(()).unwrap() }));
            is_done.recv_timeout(LIMIT)
        });
        assert!(matches!(worked, Ok(Ok(()))), "operators' listener and signals wait for plugins");
    }
}
