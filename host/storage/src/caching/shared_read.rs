//! One read for all callers that wait for it at the same time.
//!
//! The rule that must not break: **a caller gets the result of a read that began after its call.** So one that calls while a
//! read runs waits for the next one. No caller waits for another one's future to be polled: when the one that reads is
//! dropped, one of those that wait reads.

use parking_lot::Mutex;
use tokio::sync::Notify;

#[derive(Default)]
pub(crate) struct SharedRead {
    state: Mutex<State>,
    /// Notified whenever a read ends or is dropped.
    over: Notify,
}

#[derive(Default)]
struct State {
    /// How many reads have begun: the number of the last one.
    begun: u64,
    is_running: bool,
    ended: Option<FinishedRead>,
}

/// The last read that was not dropped.
#[derive(Clone, Copy)]
struct FinishedRead {
    number: u64,
    has_succeeded: bool,
}

enum NextAction<'s> {
    Done { has_succeeded: bool },
    Wait,
    Read(RunningRead<'s>),
}

impl SharedRead {
    /// Whether a read has succeeded that began after this call. Of callers that wait for the same read one runs its `read`.
    pub(crate) async fn run<F: Future<Output = bool>>(&self, read: impl FnOnce() -> F) -> bool {
        let wanted = self.state.lock().begun + 1;
        loop {
            // Before the state is looked at: it is notified from here on, also before it is polled.
            let over = self.over.notified();
            match self.step(wanted) {
                NextAction::Done { has_succeeded } => return has_succeeded,
                NextAction::Wait => over.await,
                NextAction::Read(running) => {
                    let has_succeeded = read().await;
                    running.end(has_succeeded);
                    return has_succeeded;
                }
            }
        }
    }

    /// What a caller does that waits for the read with this number, or a later one.
    fn step(&self, wanted: u64) -> NextAction<'_> {
        let mut state = self.state.lock();
        if let Some(FinishedRead { has_succeeded, .. }) = state.ended.filter(|ended| ended.number >= wanted) {
            return NextAction::Done { has_succeeded };
        }
        if state.is_running {
            return NextAction::Wait;
        }
        state.begun += 1;
        state.is_running = true;
        NextAction::Read(RunningRead { shared: self, number: state.begun })
    }
}

/// Lets the others go on when it is dropped.
struct RunningRead<'s> {
    shared: &'s SharedRead,
    number: u64,
}

impl RunningRead<'_> {
    fn end(self, has_succeeded: bool) {
        self.shared.state.lock().ended = Some(FinishedRead { number: self.number, has_succeeded });
    }
}

impl Drop for RunningRead<'_> {
    fn drop(&mut self) {
        self.shared.state.lock().is_running = false;
        self.shared.over.notify_waiters();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{
        FutureExt as _,
        future::{BoxFuture, join_all},
    };
    use std::{
        sync::{
            Arc,
            atomic::{AtomicU64, Ordering::SeqCst},
        },
        time::Duration,
    };
    use tokio::sync::{Semaphore, SemaphorePermit};

    /// Reads that go on when the test lets them, and are counted.
    struct Reads {
        shared: SharedRead,
        count: AtomicU64,
        permits: Semaphore,
    }

    impl Reads {
        fn new() -> Self {
            Self { shared: SharedRead::default(), count: AtomicU64::new(0), permits: Semaphore::new(0) }
        }

        fn call(&self) -> BoxFuture<'_, bool> {
            self.call_for(true)
        }

        fn call_for(&self, result: bool) -> BoxFuture<'_, bool> {
            let read = move || async move {
                self.count.fetch_add(1, SeqCst);
                self.permits.acquire().await.map(SemaphorePermit::forget).is_ok() && result
            };
            self.shared.run(read).boxed()
        }

        fn let_end(&self, count: usize) {
            self.permits.add_permits(count);
        }

        fn count(&self) -> u64 {
            self.count.load(SeqCst)
        }
    }

    #[tokio::test]
    async fn a_call_that_comes_while_a_read_runs_gets_the_next_one() {
        let reads = Reads::new();
        let mut first = reads.call();
        assert_eq!(first.as_mut().now_or_never(), None);
        let mut later = join_all((0..100).map(|_| reads.call()));
        assert_eq!((&mut later).now_or_never(), None);
        reads.let_end(1);
        assert!(first.await);
        assert_eq!((&mut later).now_or_never(), None, "the first read began before they called");
        reads.let_end(1);
        assert_eq!(later.await, [true; 100]);
        assert_eq!(reads.count(), 2, "all of them share one");
    }

    #[tokio::test]
    async fn a_call_after_a_read_has_ended_reads_again() {
        let reads = Reads::new();
        for number in 1..=3 {
            reads.let_end(1);
            assert!(reads.call().await);
            assert_eq!(reads.count(), number);
        }
    }

    #[tokio::test]
    async fn whoever_waits_reads_when_the_one_that_reads_is_dropped() {
        let reads = Reads::new();
        let (mut first, mut second, mut third) = (reads.call(), reads.call(), reads.call());
        for call in [&mut first, &mut second, &mut third] {
            assert_eq!(call.as_mut().now_or_never(), None);
        }
        assert_eq!(reads.count(), 1);
        drop(first);
        drop(third);
        assert_eq!(second.as_mut().now_or_never(), None);
        assert_eq!(reads.count(), 2);
        reads.let_end(1);
        assert!(second.await);
        // One that waits and is dropped changes nothing either.
        reads.let_end(1);
        assert!(reads.call().await);
    }

    #[tokio::test]
    async fn a_read_that_fails_fails_for_all_who_wait_for_it_and_for_nobody_else() {
        let reads = Reads::new();
        let mut first = reads.call();
        assert_eq!(first.as_mut().now_or_never(), None);
        let mut later = join_all((0..10).map(|_| reads.call_for(false)));
        assert_eq!((&mut later).now_or_never(), None);
        reads.let_end(2);
        assert!(first.await);
        assert_eq!(later.await, [false; 10]);
        assert_eq!(reads.count(), 2);
        reads.let_end(1);
        assert!(reads.call().await);
    }

    /// Each caller must get a value that is at least as new as what was written before its call, whoever is dropped.
    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn nobody_gets_an_older_value_and_nobody_waits_for_ever() {
        #[derive(Default)]
        struct Register {
            shared: SharedRead,
            written: AtomicU64,
            seen: AtomicU64,
            reads: AtomicU64,
        }
        let register = Arc::<Register>::default();
        let caller = |number: u64| {
            let register = register.clone();
            async move {
                for round in 0..500_u64 {
                    let written = register.written.fetch_add(1, SeqCst) + 1;
                    let read = || async {
                        register.reads.fetch_add(1, SeqCst);
                        let value = register.written.load(SeqCst);
                        tokio::task::yield_now().await;
                        register.seen.fetch_max(value, SeqCst);
                        true
                    };
                    let call = register.shared.run(read);
                    if (number + round).is_multiple_of(3) {
                        // Polled once and dropped.
                        let _ = tokio::time::timeout(Duration::ZERO, call).await;
                    } else {
                        assert!(call.await);
                        assert!(register.seen.load(SeqCst) >= written);
                    }
                }
            }
        };
        let callers: Vec<_> = (0..16).map(|number| tokio::spawn(caller(number))).collect();
        let all = tokio::time::timeout(Duration::from_secs(60), join_all(callers)).await;
        all.expect("somebody waits for ever").into_iter().for_each(|ended| ended.unwrap());
    }
}
