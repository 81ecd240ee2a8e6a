//! Schedules transactions on the one connection that writes, with a write lock.
//!
//! The rule that must not break: **one party holds the write lock, and only the holder uses the connection.** A
//! transaction holds it from its first statement to its end. Fast statements run on the calling thread. The writer
//! thread runs slow statements, and rolls back, on behalf of the holder. So a write needs another thread only for its
//! commit; README.md says what that saves.

use super::{
    group_commit::OpenGroup,
    transaction_call::{PendingReply, TransactionCall},
    transaction_handle::TransactionHandle,
    work_queue::{EnqueueError, WAITING_MAX},
    writer_command::{WriterCommand, WriterTask},
    writer_connection::WriterConnection,
};
use crate::error::{IDLE_TOO_LONG, StorageError};
use parking_lot::{Condvar, Mutex, MutexGuard};
use std::{
    collections::VecDeque,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::{Duration, Instant},
};
use tokio::sync::oneshot;

/// How often commits of other processes are looked for, at least.
const CHECK_FOREIGN_COMMITS_EVERY: Duration = Duration::from_secs(1);
/// How long a group accepts further transactions.
const GROUP_TIME_MAX: Duration = Duration::from_millis(10);

#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteLimits {
    /// A transaction from its first statement to its end.
    pub transaction_timeout: Duration,
    /// A transaction between two calls.
    pub idle_timeout: Duration,
    /// A transaction before its first statement, while others write.
    pub wait_timeout: Duration,
    /// Transactions that share a commit.
    pub group_max: usize,
}

pub(crate) struct WriteScheduler {
    state: Mutex<SchedulerState>,
    /// Wakes the writer thread.
    writer_wakeup: Condvar,
    limits: WriteLimits,
    connection: Mutex<WriterConnection>,
}

struct SchedulerState {
    lock: LockState,
    waiters: VecDeque<Waiter>,
    /// The next command of the writer thread.
    command: Option<WriterCommand>,
    /// The open group, as the last holder of the lock left it.
    group: Option<OpenGroup>,
    is_commit_requested: bool,
    /// Whether a transaction of the group waits for the right time to request its commit.
    has_commit_leader: bool,
    is_closed: bool,
}

/// Who holds the write lock.
enum LockState {
    Free,
    Transaction(LockHolder),
    WriterThread,
}

struct LockHolder {
    transaction: Arc<TransactionHandle>,
    is_in_call: bool,
    /// When its last call ended.
    idle_since: Instant,
    deadline: Instant,
}

enum Waiter {
    Transaction(WaitingTransaction),
    Task(WriterTask),
}

struct WaitingTransaction {
    transaction: Arc<TransactionHandle>,
    acquired: oneshot::Sender<Result<(), StorageError>>,
    queued_at: Instant,
}

/// When a transaction that asks for the write lock holds it.
pub(crate) enum LockGrant {
    Now,
    /// After the receiver resolves, unless it waited too long.
    Later(oneshot::Receiver<Result<(), StorageError>>),
}

impl WriteScheduler {
    pub(crate) fn new(connection: WriterConnection, limits: WriteLimits) -> Self {
        let state = SchedulerState {
            lock: LockState::Free,
            waiters: VecDeque::new(),
            command: None,
            group: None,
            is_commit_requested: false,
            has_commit_leader: false,
            is_closed: false,
        };
        Self { state: Mutex::new(state), writer_wakeup: Condvar::new(), limits, connection: Mutex::new(connection) }
    }

    /// The connection; only the holder of the write lock may call this.
    pub(crate) fn connection(&self) -> MutexGuard<'_, WriterConnection> {
        self.connection.lock()
    }

    /// Acquires the write lock, or queues for it.
    pub(crate) fn acquire(&self, transaction: &Arc<TransactionHandle>) -> Result<LockGrant, EnqueueError> {
        let mut state = self.state.lock();
        state.check_capacity()?;
        if matches!(state.lock, LockState::Free) && state.waiters.is_empty() {
            state.lock = self.lock_for(transaction.clone());
            return Ok(LockGrant::Now);
        }
        let (sender, receiver) = oneshot::channel();
        let (transaction, queued_at) = (transaction.clone(), Instant::now());
        state.waiters.push_back(Waiter::Transaction(WaitingTransaction { transaction, acquired: sender, queued_at }));
        Ok(LockGrant::Later(receiver))
    }

    /// Queues the task for the writer thread, which runs it between groups.
    pub(crate) fn queue_task(&self, task: WriterTask) -> Result<(), EnqueueError> {
        let mut state = self.state.lock();
        state.check_capacity()?;
        state.waiters.push_back(Waiter::Task(task));
        if matches!(state.lock, LockState::Free) {
            self.grant_next(&mut state);
        }
        Ok(())
    }

    /// Call before the holder uses the connection. Returns its deadline, or `None` if it no longer holds the lock.
    pub(crate) fn begin_call(&self, transaction: &Arc<TransactionHandle>) -> Option<Instant> {
        let mut state = self.state.lock();
        let holder = state.holder(transaction)?;
        holder.is_in_call = true;
        Some(holder.deadline)
    }

    /// The holder's call has ended; it keeps the lock.
    pub(crate) fn end_call(&self, transaction: &Arc<TransactionHandle>) {
        let mut state = self.state.lock();
        let Some(holder) = state.holder(transaction) else { return };
        holder.is_in_call = false;
        holder.idle_since = Instant::now();
        if transaction.is_abandoned.load(Relaxed) {
            self.hand_to_writer(&mut state, WriterCommand::RollBack(None));
        }
    }

    /// The writer thread executes the call on behalf of the holder, which stays in its call until then.
    pub(crate) fn call_on_writer(
        &self,
        transaction: &Arc<TransactionHandle>,
        deadline: Instant,
        call: TransactionCall,
        pending: PendingReply,
    ) {
        let mut state = self.state.lock();
        state.command = Some(WriterCommand::Call { call, pending, transaction: transaction.clone(), deadline });
        self.writer_wakeup.notify_one();
    }

    /// Releases the lock of a transaction that now waits for the commit of its group. Returns the group if the
    /// transaction must request that commit, as its leader.
    pub(crate) fn release_for_commit(
        &self,
        transaction: &Arc<TransactionHandle>,
        group: Option<OpenGroup>,
    ) -> Option<OpenGroup> {
        let mut state = self.state.lock();
        state.holder(transaction)?;
        state.group = group;
        self.grant_next(&mut state);
        if !matches!(state.lock, LockState::Free) || state.has_commit_leader {
            return None;
        }
        state.has_commit_leader = state.group.is_some();
        state.group
    }

    /// The group as it is now, if further transactions have joined it and more may join.
    pub(crate) fn grown_group(&self, group: OpenGroup) -> Option<OpenGroup> {
        let state = self.state.lock();
        let current = state.group.filter(|current| current.number == group.number)?;
        (current.transaction_count > group.transaction_count && !self.is_full(&current)).then_some(current)
    }

    /// Rolls back the holder's transaction and then notifies `done`. Returns `false` if it does not hold the lock.
    pub(crate) fn roll_back(&self, transaction: &Arc<TransactionHandle>, done: Option<oneshot::Sender<()>>) -> bool {
        let mut state = self.state.lock();
        let is_holder = state.holder(transaction).is_some();
        if is_holder {
            self.hand_to_writer(&mut state, WriterCommand::RollBack(done));
        }
        is_holder
    }

    /// The caller has dropped the transaction. A running call is finished first: interrupting it could roll back the
    /// whole group.
    pub(crate) fn abandon(&self, transaction: &Arc<TransactionHandle>) {
        let mut state = self.state.lock();
        transaction.is_abandoned.store(true, Relaxed);
        if state.holder(transaction).is_some_and(|holder| !holder.is_in_call) {
            self.hand_to_writer(&mut state, WriterCommand::RollBack(None));
        }
    }

    /// Requests the commit of the group, unless it is committed already.
    pub(crate) fn request_commit(&self, group_number: u64) {
        let mut state = self.state.lock();
        if state.group.as_ref().is_none_or(|open| open.number != group_number) {
            return;
        }
        state.is_commit_requested = true;
        if matches!(state.lock, LockState::Free) {
            self.grant_next(&mut state);
        }
    }

    /// Refuses new transactions from now on; the waiting ones still run.
    pub(crate) fn close(&self) {
        self.state.lock().is_closed = true;
        self.writer_wakeup.notify_one();
    }

    /// Waits for the next command of the writer thread.
    pub(crate) fn next_command(&self) -> WriterCommand {
        let mut state = self.state.lock();
        loop {
            self.refuse_late_waiters(&mut state);
            if let Some(command) = state.command.take() {
                return command;
            }
            if let LockState::Transaction(holder) = &state.lock
                && !holder.is_in_call
                && self.has_timed_out(holder)
            {
                let _ = holder.transaction.end_reason.set(IDLE_TOO_LONG);
                tracing::warn!("a transaction was rolled back: it kept the writer waiting");
                state.lock = LockState::WriterThread;
                return WriterCommand::RollBack(None);
            }
            let is_free = matches!(state.lock, LockState::Free);
            if is_free && state.is_closed && state.group.is_none() {
                return WriterCommand::Close;
            }
            let wait_max = CHECK_FOREIGN_COMMITS_EVERY.min(self.limits.idle_timeout);
            let has_timed_out = self.writer_wakeup.wait_for(&mut state, wait_max).timed_out();
            if has_timed_out && matches!(state.lock, LockState::Free) {
                state.lock = LockState::WriterThread;
                return match state.group {
                    Some(_) => WriterCommand::CommitGroup,
                    None => WriterCommand::CheckForeignCommits,
                };
            }
        }
    }

    /// The writer thread has executed a command: it releases its lock, or that of the transaction that it worked for.
    /// If the group is still open and no transaction waits, the group is committed.
    pub(crate) fn end_command(&self, group: Option<OpenGroup>) {
        let mut state = self.state.lock();
        state.is_commit_requested = group.is_some();
        state.has_commit_leader &= group.is_some();
        state.group = group;
        self.grant_next(&mut state);
    }

    /// The first one has waited the longest.
    fn refuse_late_waiters(&self, state: &mut SchedulerState) {
        let limit = self.limits.wait_timeout;
        let is_late = |waiter: &mut Waiter| match waiter {
            Waiter::Transaction(waiting) => waiting.queued_at.elapsed() >= limit,
            Waiter::Task(_) => false,
        };
        while let Some(Waiter::Transaction(waiting)) = state.waiters.pop_front_if(is_late) {
            let _ = waiting.acquired.send(Err(StorageError::waited("other transactions have been writing", limit)));
        }
    }

    fn has_timed_out(&self, holder: &LockHolder) -> bool {
        let now = Instant::now();
        now >= holder.deadline || now.saturating_duration_since(holder.idle_since) >= self.limits.idle_timeout
    }

    fn lock_for(&self, transaction: Arc<TransactionHandle>) -> LockState {
        let now = Instant::now();
        let deadline = now + self.limits.transaction_timeout * transaction.time_factor;
        LockState::Transaction(LockHolder { transaction, is_in_call: false, idle_since: now, deadline })
    }

    fn hand_to_writer(&self, state: &mut SchedulerState, command: WriterCommand) {
        state.lock = LockState::WriterThread;
        state.command = Some(command);
        self.writer_wakeup.notify_one();
    }

    /// Gives the lock to the next waiter, to the writer thread for a commit, or frees it.
    fn grant_next(&self, state: &mut SchedulerState) {
        if state.group.as_ref().is_some_and(|group| self.is_full(group)) {
            return self.hand_to_writer(state, WriterCommand::CommitGroup);
        }
        while let Some(next) = state.waiters.pop_front() {
            match next {
                Waiter::Transaction(WaitingTransaction { transaction, acquired, .. }) => {
                    state.lock = self.lock_for(transaction);
                    if acquired.send(Ok(())).is_ok() {
                        return;
                    }
                }
                Waiter::Task(task) if state.group.is_none() => {
                    return self.hand_to_writer(state, WriterCommand::RunTask(task));
                }
                task @ Waiter::Task(_) => {
                    state.waiters.push_front(task);
                    return self.hand_to_writer(state, WriterCommand::CommitGroup);
                }
            }
        }
        if state.group.is_some() && (state.is_commit_requested || state.is_closed) {
            return self.hand_to_writer(state, WriterCommand::CommitGroup);
        }
        state.lock = LockState::Free;
        if state.is_closed {
            self.writer_wakeup.notify_one();
        }
    }

    fn is_full(&self, group: &OpenGroup) -> bool {
        group.transaction_count >= self.limits.group_max || group.opened_at.elapsed() >= GROUP_TIME_MAX
    }
}

impl SchedulerState {
    fn check_capacity(&self) -> Result<(), EnqueueError> {
        if self.is_closed {
            return Err(EnqueueError::Closed);
        }
        if self.waiters.len() >= WAITING_MAX {
            return Err(EnqueueError::Full);
        }
        Ok(())
    }

    /// The lock holder, if it is this transaction.
    fn holder(&mut self, transaction: &Arc<TransactionHandle>) -> Option<&mut LockHolder> {
        match &mut self.lock {
            LockState::Transaction(holder) if Arc::ptr_eq(&holder.transaction, transaction) => Some(holder),
            _ => None,
        }
    }
}
