//! The one thread that commits: many transactions, one commit, one sync of the disk. It also does what may take long, and
//! ends transactions that keep the others waiting.
//!
//! The rule that must not break: **a transaction is acknowledged only after the COMMIT of its group succeeded, and a group
//! that SQLite rolled back, in whole and by itself, fails for every one of its members.**

use super::{
    desk::{Desk, Order, Seat},
    member::{Ask, Message},
};
use std::{sync::Arc, time::Instant};

/// Serves until the desk is closed and nobody waits.
pub fn run(desk: &Desk) {
    loop {
        match desk.next_order() {
            Order::Call { message, ask, seat, deadline } => call(desk, message, ask, &seat, deadline),
            Order::Undo(done) => {
                undo(desk);
                if let Some(done) = done {
                    let _ = done.send(());
                }
            }
            Order::Commit => {
                let mut work = desk.work();
                work.commit_group();
                drop(work);
                desk.writer_is_done(None);
            }
            Order::Task(task) => {
                let mut work = desk.work();
                task(&mut work);
                work.ensure_idle();
                drop(work);
                desk.writer_is_done(None);
            }
            Order::Look => {
                desk.work().look_for_others();
                desk.writer_is_done(None);
            }
            Order::Close => break,
        }
    }
    let _ = desk.work().guarded.connection.execute_batch("PRAGMA optimize");
}

/// A call in the holder's place.
fn call(desk: &Desk, message: Message, ask: Ask, seat: &Arc<Seat>, deadline: Instant) {
    let Ask { reply, cancelled } = ask;
    let mut work = desk.work();
    let answered = match (work.open(deadline, seat.triggers, true), message) {
        (Err(error), _) => Err((error, reply)),
        (Ok(()), Message::Run(statements)) => match work.run(&statements, &cancelled) {
            Ok(outcomes) => Ok(Some((reply, outcomes))),
            Err(error) => Err((error, reply)),
        },
        (Ok(()), Message::Commit(last)) => work.finish(&last, &cancelled, seat.version.as_ref(), reply).map(|()| None),
    };
    let group = work.group();
    drop(work);
    match answered {
        Ok(Some((reply, outcomes))) => {
            // First, so that the caller finds its turn; one that has left is noticed here.
            desk.end_work(seat);
            let _ = reply.send(Ok(outcomes));
        }
        // It is acknowledged with its group.
        Ok(None) => desk.writer_is_done(group),
        Err((error, reply)) => {
            // Before the answer, so that the caller finds the old state.
            undo(desk);
            let _ = reply.send(Err(error));
        }
    }
}

fn undo(desk: &Desk) {
    let mut work = desk.work();
    work.undo();
    let group = work.group();
    drop(work);
    desk.writer_is_done(group);
}
