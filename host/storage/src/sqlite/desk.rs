//! Whose turn it is with the one connection that writes.
//!
//! The rule that must not break: **one party has the turn, and who does not have it leaves the connection alone.** A
//! transaction keeps the turn from its first statement to its end. It runs short statements on the thread that asks; what
//! may take long, or goes wrong, the writer thread does in its place. So a write needs no other thread but for its commit.

use super::{
    member::{Ask, Message},
    queue::Refused,
    work::{Opened, Work},
};
use crate::Version;
use crate::scope::Triggers;
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::{
    collections::VecDeque,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicBool, Ordering::Relaxed},
    },
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// More waiting transactions than this are refused: nobody would get an answer in time.
const WAITING_MAX: usize = 10_000;
/// How soon a commit of another process is noticed, at the latest.
const LOOK_FOR_OTHERS_EVERY: Duration = Duration::from_secs(1);
/// How long a group stays open for newcomers.
const GROUP_TIME_MAX: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug)]
pub struct DeskLimits {
    /// A transaction from its first statement to its end.
    pub total: Duration,
    /// A transaction between two calls.
    pub idle: Duration,
    /// Transactions that share a commit.
    pub group_max: usize,
}

pub struct Desk {
    state: Mutex<State>,
    /// Calls the writer thread.
    called: Condvar,
    limits: DeskLimits,
    work: Mutex<Work>,
}

struct State {
    turn: Turn,
    waiting: VecDeque<Waiting>,
    /// For the writer thread.
    order: Option<Order>,
    /// The open group, as who had the turn last left it.
    group: Option<Opened>,
    /// Somebody asked for its commit.
    commit_wanted: bool,
    /// One of its members will ask.
    is_led: bool,
    is_closed: bool,
}

enum Turn {
    Free,
    Member(Holder),
    Writer,
}

struct Holder {
    seat: Arc<Seat>,
    is_at_work: bool,
    /// When its last call ended.
    idle_since: Instant,
    deadline: Instant,
}

/// One transaction, as both sides know it.
pub struct Seat {
    /// Why the writer ended it, for calls that come later.
    pub ending: OnceLock<&'static str>,
    /// Of the plugin whose tables it may write.
    pub version: Option<Version>,
    pub triggers: Triggers,
    /// The caller has gone: what was done is to be undone.
    has_left: AtomicBool,
}

impl Seat {
    pub fn new(version: Option<Version>, triggers: Triggers) -> Arc<Self> {
        Arc::new(Self { ending: OnceLock::new(), version, triggers, has_left: AtomicBool::new(false) })
    }
}

pub type Task = Box<dyn FnOnce(&mut Work) + Send>;

enum Waiting {
    Member(Arc<Seat>, oneshot::Sender<()>),
    /// Work that needs the connection for itself, for example migrations; runs between groups.
    Task(Task),
}

/// What the writer thread is to do. It has the turn, or does the holder's work for it.
pub enum Order {
    Call {
        message: Message,
        ask: Ask,
        seat: Arc<Seat>,
        deadline: Instant,
    },
    /// Takes back what the transaction did whose turn it was.
    Undo(Option<oneshot::Sender<()>>),
    Commit,
    Task(Task),
    Look,
    Close,
}

/// Whose turn has come, or will.
pub enum Place {
    Now,
    Later(oneshot::Receiver<()>),
}

impl Desk {
    pub fn new(work: Work, limits: DeskLimits) -> Self {
        let state = State {
            turn: Turn::Free,
            waiting: VecDeque::new(),
            order: None,
            group: None,
            commit_wanted: false,
            is_led: false,
            is_closed: false,
        };
        Self { state: Mutex::new(state), called: Condvar::new(), limits, work: Mutex::new(work) }
    }

    /// The connection, for who has the turn.
    pub fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock()
    }

    /// Asks for the turn.
    pub fn queue(&self, seat: &Arc<Seat>) -> Result<Place, Refused> {
        let mut state = self.state.lock();
        state.admit()?;
        if matches!(state.turn, Turn::Free) && state.waiting.is_empty() {
            state.turn = self.turn_of(seat.clone());
            return Ok(Place::Now);
        }
        let (ready, turn) = oneshot::channel();
        state.waiting.push_back(Waiting::Member(seat.clone(), ready));
        Ok(Place::Later(turn))
    }

    /// Runs the task on the writer thread, between groups.
    pub fn queue_task(&self, task: Task) -> Result<(), Refused> {
        let mut state = self.state.lock();
        state.admit()?;
        state.waiting.push_back(Waiting::Task(task));
        if matches!(state.turn, Turn::Free) {
            self.pass_on(&mut state);
        }
        Ok(())
    }

    /// Before the holder touches the connection; answers its deadline, or nothing when its turn is over.
    pub fn begin_work(&self, seat: &Arc<Seat>) -> Option<Instant> {
        let mut state = self.state.lock();
        let holder = state.holder(seat)?;
        holder.is_at_work = true;
        Some(holder.deadline)
    }

    /// The holder keeps the turn.
    pub fn end_work(&self, seat: &Arc<Seat>) {
        let mut state = self.state.lock();
        let Some(holder) = state.holder(seat) else { return };
        holder.is_at_work = false;
        holder.idle_since = Instant::now();
        if seat.has_left.load(Relaxed) {
            self.give_to_writer(&mut state, Order::Undo(None));
        }
    }

    /// The writer thread makes the call in the holder's place, who is at work until then.
    pub fn delegate(&self, seat: &Arc<Seat>, deadline: Instant, message: Message, ask: Ask) {
        let mut state = self.state.lock();
        state.order = Some(Order::Call { message, ask, seat: seat.clone(), deadline });
        self.called.notify_one();
    }

    /// The holder's work waits for the group's commit. Answers the group when nobody else sees to that commit.
    pub fn finish(&self, seat: &Arc<Seat>, group: Option<Opened>) -> Option<Opened> {
        let mut state = self.state.lock();
        state.holder(seat)?;
        state.group = group;
        self.pass_on(&mut state);
        if !matches!(state.turn, Turn::Free) || state.is_led {
            return None;
        }
        state.is_led = state.group.is_some();
        state.group
    }

    /// The group as it is now, when others have joined it and may still do so.
    pub fn grown(&self, group: Opened) -> Option<Opened> {
        let state = self.state.lock();
        let now = state.group.filter(|now| now.number == group.number)?;
        (now.members > group.members && !self.is_full(&now)).then_some(now)
    }

    /// The holder's work is taken back; `done` hears when it is. False: it has no turn.
    pub fn undo(&self, seat: &Arc<Seat>, done: Option<oneshot::Sender<()>>) -> bool {
        let mut state = self.state.lock();
        let is_holder = state.holder(seat).is_some();
        if is_holder {
            self.give_to_writer(&mut state, Order::Undo(done));
        }
        is_holder
    }

    /// The caller has gone. Work under way is finished first: stopping it could harm the others of its group.
    pub fn leave(&self, seat: &Arc<Seat>) {
        let mut state = self.state.lock();
        seat.has_left.store(true, Relaxed);
        if state.holder(seat).is_some_and(|holder| !holder.is_at_work) {
            self.give_to_writer(&mut state, Order::Undo(None));
        }
    }

    /// Asks for the group's commit, unless it is over already.
    pub fn want_commit(&self, group: u64) {
        let mut state = self.state.lock();
        if state.group.as_ref().is_none_or(|open| open.number != group) {
            return;
        }
        state.commit_wanted = true;
        if matches!(state.turn, Turn::Free) {
            self.pass_on(&mut state);
        }
    }

    /// No new transactions from now on; those that wait are still served.
    pub fn close(&self) {
        self.state.lock().is_closed = true;
        self.called.notify_one();
    }

    /// What the writer thread is to do next; waits for it.
    pub fn next_order(&self) -> Order {
        let mut state = self.state.lock();
        loop {
            if let Some(order) = state.order.take() {
                return order;
            }
            if let Turn::Member(holder) = &state.turn
                && !holder.is_at_work
                && self.is_late(holder)
            {
                let _ = holder.seat.ending.set("it kept the database waiting for too long");
                tracing::warn!("a transaction was rolled back: it kept the writer waiting");
                state.turn = Turn::Writer;
                return Order::Undo(None);
            }
            let is_free = matches!(state.turn, Turn::Free);
            if is_free && state.is_closed && state.group.is_none() {
                return Order::Close;
            }
            let patience = LOOK_FOR_OTHERS_EVERY.min(self.limits.idle);
            let nobody_called = self.called.wait_for(&mut state, patience).timed_out();
            if nobody_called && matches!(state.turn, Turn::Free) {
                state.turn = Turn::Writer;
                return if state.group.is_some() { Order::Commit } else { Order::Look };
            }
        }
    }

    /// The writer thread is done with the turn, or with the one of the member that it worked for. What is open without
    /// anybody to come is committed.
    pub fn writer_is_done(&self, group: Option<Opened>) {
        let mut state = self.state.lock();
        state.commit_wanted = group.is_some();
        state.is_led &= group.is_some();
        state.group = group;
        self.pass_on(&mut state);
    }

    fn is_late(&self, holder: &Holder) -> bool {
        let now = Instant::now();
        now >= holder.deadline || now.saturating_duration_since(holder.idle_since) >= self.limits.idle
    }

    fn turn_of(&self, seat: Arc<Seat>) -> Turn {
        let now = Instant::now();
        Turn::Member(Holder { seat, is_at_work: false, idle_since: now, deadline: now + self.limits.total })
    }

    fn give_to_writer(&self, state: &mut State, order: Order) {
        state.turn = Turn::Writer;
        state.order = Some(order);
        self.called.notify_one();
    }

    /// Gives the turn to who comes next.
    fn pass_on(&self, state: &mut State) {
        if state.group.as_ref().is_some_and(|group| self.is_full(group)) {
            return self.give_to_writer(state, Order::Commit);
        }
        while let Some(next) = state.waiting.pop_front() {
            match next {
                Waiting::Member(seat, ready) => {
                    state.turn = self.turn_of(seat);
                    if ready.send(()).is_ok() {
                        return;
                    }
                }
                Waiting::Task(task) if state.group.is_none() => return self.give_to_writer(state, Order::Task(task)),
                task @ Waiting::Task(_) => {
                    state.waiting.push_front(task);
                    return self.give_to_writer(state, Order::Commit);
                }
            }
        }
        if state.group.is_some() && (state.commit_wanted || state.is_closed) {
            return self.give_to_writer(state, Order::Commit);
        }
        state.turn = Turn::Free;
        if state.is_closed {
            self.called.notify_one();
        }
    }

    fn is_full(&self, group: &Opened) -> bool {
        group.members >= self.limits.group_max || group.since.elapsed() >= GROUP_TIME_MAX
    }
}

impl State {
    fn admit(&self) -> Result<(), Refused> {
        if self.is_closed {
            return Err(Refused::Closed);
        }
        if self.waiting.len() >= WAITING_MAX {
            return Err(Refused::Full);
        }
        Ok(())
    }

    fn holder(&mut self, seat: &Arc<Seat>) -> Option<&mut Holder> {
        match &mut self.turn {
            Turn::Member(holder) if Arc::ptr_eq(&holder.seat, seat) => Some(holder),
            _ => None,
        }
    }
}
