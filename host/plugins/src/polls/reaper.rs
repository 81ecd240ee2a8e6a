//! Drops a plugin's values on a thread of its own, where it may hang.

use super::{operation_registry::OperationNumber, thread_slot::UnwatchedFrame};
use std::{
    sync::{
        OnceLock,
        mpsc::{Sender, channel},
    },
    thread,
};

type Value = (OperationNumber, Box<dyn Send>);

/// One thread per plugin, started when there is something to drop.
#[derive(Default)]
pub(crate) struct Reaper(OnceLock<Option<Sender<Value>>>);

impl Reaper {
    /// A value that cannot be handed over is leaked: its drop must not run on a serving thread.
    pub(crate) fn drop_later(&self, operation: OperationNumber, value: impl Send + 'static) {
        let value: Value = (operation, Box::new(value));
        match self.0.get_or_init(start) {
            Some(thread) => {
                if let Err(refused) = thread.send(value) {
                    std::mem::forget(refused);
                }
            }
            None => std::mem::forget(value),
        }
    }
}

fn start() -> Option<Sender<Value>> {
    let (sender, values) = channel::<Value>();
    let drop_each = move || {
        for (operation, value) in values {
            let _frame = UnwatchedFrame::enter(operation);
            drop(value);
        }
    };
    let started = thread::Builder::new().name("reaper".to_owned()).spawn(drop_each);
    if let Err(error) = started {
        tracing::error!(%error, "no thread can be started to drop values of a plugin; they are leaked");
        return None;
    }
    Some(sender)
}
