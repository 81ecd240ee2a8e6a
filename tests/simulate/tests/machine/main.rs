//! The simulated machine. One test: a process is simulated once.
#![allow(clippy::unwrap_used, reason = "tests")]

use gateway_clock::Clock;
use gateway_simulate::machine;
use std::{
    collections::HashSet,
    sync::{
        Arc, Condvar, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    thread,
    time::{Duration, Instant},
};

const EPOCH_MS: i64 = 1_000_000;

#[test]
fn time_passes_when_all_wait_and_no_thread_runs_that_is_paused_or_killed() {
    machine::start(1, EPOCH_MS);
    let begun = Instant::now();
    let ticks = Arc::new(AtomicU64::new(0));
    let ticking = ticks.clone();
    let (group, _thread) = machine::in_new_group(move || {
        thread::spawn(move || {
            loop {
                thread::sleep(Duration::from_secs(1));
                ticking.fetch_add(1, SeqCst);
            }
        })
    });
    // Three hours, in a moment of real time.
    thread::sleep(Duration::from_secs(3 * 3600) + Duration::from_millis(500));
    let counted = ticks.load(SeqCst);
    // Each look at the clock takes a microsecond.
    assert!((10_790..=10_800).contains(&counted), "{counted} ticks");
    machine::pause(group);
    thread::sleep(Duration::from_secs(60));
    assert_eq!(ticks.load(SeqCst), counted);
    machine::resume(group);
    thread::sleep(Duration::from_secs(3));
    // The sleep in which it was paused is over at once.
    let resumed = ticks.load(SeqCst);
    assert!((counted + 3..=counted + 4).contains(&resumed), "{resumed} ticks after {counted}");
    machine::kill(group);
    thread::sleep(Duration::from_secs(60));
    assert_eq!(ticks.load(SeqCst), resumed);
    assert!(begun.elapsed() >= Duration::from_secs(10_923) && begun.elapsed() < Duration::from_secs(10_933));
    assert_eq!(Clock::System.now_ms(), machine::now_ms(), "the gateway's clock is the machine's");

    // A wait with a limit ends at that, and one that is woken does not.
    let pair = Arc::new((Mutex::new(false), Condvar::new()));
    let waited = Instant::now();
    let guard = pair.0.lock().unwrap();
    let (guard, timeout) = pair.1.wait_timeout(guard, Duration::from_secs(5)).unwrap();
    assert!(timeout.timed_out() && waited.elapsed() >= Duration::from_secs(5));
    drop(guard);
    let setter = pair.clone();
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_secs(2));
        *setter.0.lock().unwrap() = true;
        setter.1.notify_all();
    });
    let guard = pair.0.lock().unwrap();
    let (guard, timeout) = pair.1.wait_timeout_while(guard, Duration::from_secs(50), |is_set| !*is_set).unwrap();
    assert!(*guard && !timeout.timed_out());
    drop(guard);
    thread.join().unwrap();

    // All of many threads run, and end.
    let done: Vec<_> = (0..20_u64).map(|number| thread::spawn(move || number)).collect();
    let numbers: HashSet<u64> = done.into_iter().map(|thread| thread.join().unwrap()).collect();
    assert_eq!(numbers.len(), 20);
}
