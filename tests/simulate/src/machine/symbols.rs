//! The functions of the C library that the process defines itself. A thread that is not simulated, and every thread before the
//! simulation begins, gets the real ones.
#![allow(unsafe_code, reason = "defines functions of the C library, with their names and types")]
#![allow(clippy::missing_safety_doc, reason = "that of the function of the same name in the C library")]

use super::{
    disk,
    real::{self, ThreadBody},
    scheduler::{self, Wait, is_inside, machine},
    turn::Turn,
};
use nix::libc::{
    self, c_int, c_long, c_uint, c_void, clockid_t, epoll_event, pthread_attr_t, pthread_t, sockaddr, sockaddr_in,
    socklen_t, timespec, timeval,
};
use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering::SeqCst},
};

const SECOND_NS: u64 = 1_000_000_000;
/// `FUTEX_WAKE | FUTEX_PRIVATE_FLAG`.
const WAKE_PRIVATE: usize = 129;
/// What a sync of a file takes, at least and at most.
const SYNC_NS: (u64, u64) = (50_000, 4_000_000);
/// What a socket has room for, in both directions.
const SOCKET_BYTES: c_int = 16 * 1024 * 1024;
/// How often the keys of a thread are destroyed; its thread-local values of Rust are gone before the last time.
const LAST_ROUND: usize = 3;

fn fail(error: c_int) -> c_int {
    // SAFETY: the address of this thread's own error number.
    unsafe { *libc::__errno_location() = error };
    -1
}

/// # Safety
/// It is null or valid.
unsafe fn duration_ns(time: *const timespec) -> Option<u64> {
    // SAFETY: as the caller says.
    let time = unsafe { time.as_ref() }?;
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Some(seconds.saturating_mul(SECOND_NS).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0)))
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long {
    if is_inside() {
        if number == libc::SYS_futex {
            // SAFETY: the arguments are those of a futex.
            if let Some(result) = unsafe { futex(a, b, c, d, f) } {
                return result;
            }
        } else if number == libc::SYS_getrandom {
            // SAFETY: `a` has room for `b` bytes.
            return unsafe { getrandom(a as *mut c_void, b, 0) } as c_long;
        }
    }
    // SAFETY: the caller's arguments.
    unsafe { real::syscall(number, a, b, c, d, e, f) }
}

/// Nothing for an operation that nobody in this process uses to wait.
///
/// # Safety
/// The word is valid, and the time is null or valid.
unsafe fn futex(word: usize, operation: usize, value: usize, time: usize, bits: usize) -> Option<c_long> {
    let flags = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
    let operation = c_int::try_from(operation).ok()?;
    // SAFETY: the address of a word of 32 bits that is only used atomically.
    let current = || unsafe { AtomicU32::from_ptr(word as *mut u32) }.load(SeqCst);
    // The kernel compares 32 bits as well.
    let (expected, bits) = (low_half(value), low_half(bits));
    // SAFETY: as the caller says; a wake has a number in its place.
    let time_ns = || unsafe { duration_ns(time as *const timespec) };
    let (until_ns, bits) = match operation & !flags {
        libc::FUTEX_WAIT => (time_ns().map(|ns| machine(|machine| machine.now_ns()).saturating_add(ns)), u32::MAX),
        // An absolute time of the monotonic clock.
        libc::FUTEX_WAIT_BITSET => (time_ns(), bits),
        libc::FUTEX_WAKE => return Some(wake(word, value, u32::MAX)),
        libc::FUTEX_WAKE_BITSET => return Some(wake(word, value, bits)),
        _ => return None,
    };
    if current() != expected {
        return Some(c_long::from(fail(libc::EAGAIN)));
    }
    let was_woken = scheduler::wait(Wait::Futex { word, bits, until_ns });
    Some(c_long::from(if was_woken { 0 } else { fail(libc::ETIMEDOUT) }))
}

fn low_half(value: usize) -> u32 {
    u32::try_from(value & 0xffff_ffff).unwrap_or(u32::MAX)
}

fn wake(word: usize, count: usize, bits: u32) -> c_long {
    let woken = machine(|machine| machine.wake(word, count, bits));
    if woken > 0 {
        scheduler::maybe_preempt();
    } else {
        // A thread that is not simulated may wait for it, such as the one that runs the tests.
        // SAFETY: a wake only compares the address.
        unsafe { real::syscall(libc::SYS_futex, word, WAKE_PRIVATE, count, 0, 0, 0) };
    }
    c_long::try_from(woken).unwrap_or(c_long::MAX)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int {
    if !is_inside() {
        // SAFETY: the caller's arguments.
        return unsafe { real::clock_gettime(clock, time) };
    }
    let ns = machine(|machine| {
        let now_ns = machine.read_clock_ns();
        let is_wall_clock = matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_REALTIME_COARSE);
        if is_wall_clock { machine.wall_clock_ns(now_ns) } else { i128::from(now_ns) }
    });
    let second_ns = i128::from(SECOND_NS);
    // SAFETY: the caller gives room for a time.
    unsafe {
        (*time).tv_sec = ns.div_euclid(second_ns).try_into().unwrap_or(0);
        (*time).tv_nsec = ns.rem_euclid(second_ns).try_into().unwrap_or(0);
    }
    0
}

/// Sockets of the kernel, with room for all that is sent at once: what does not fit would go on when the other side acknowledges, in real time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int {
    // SAFETY: numbers.
    let socket = unsafe { real::socket(domain, kind, protocol) };
    if is_inside() && socket >= 0 {
        real::set_buffers(socket, SOCKET_BYTES);
    }
    socket
}

/// SQLite's clock.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int {
    if !is_inside() {
        // SAFETY: the caller's arguments.
        return unsafe { real::gettimeofday(time, zone) };
    }
    let ns = machine(|machine| {
        let now_ns = machine.read_clock_ns();
        machine.wall_clock_ns(now_ns)
    });
    let second_ns = i128::from(SECOND_NS);
    // SAFETY: the caller gives room for a time.
    unsafe {
        (*time).tv_sec = ns.div_euclid(second_ns).try_into().unwrap_or(0);
        (*time).tv_usec = (ns.rem_euclid(second_ns) / 1000).try_into().unwrap_or(0);
    }
    0
}

/// The port of an address of IPv4, in the order of the network; none of another one.
///
/// # Safety
/// The address is valid.
unsafe fn port_of<'a>(address: *mut sockaddr) -> Option<&'a mut u16> {
    // SAFETY: as the caller says.
    let family = unsafe { (*address).sa_family };
    // SAFETY: an address of this family is one of these.
    (c_int::from(family) == libc::AF_INET).then(|| unsafe { &mut (*address.cast::<sockaddr_in>()).sin_port })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn connect(socket: c_int, address: *const sockaddr, bytes: socklen_t) -> c_int {
    if is_inside() && bytes as usize == size_of::<sockaddr_in>() {
        // SAFETY: the caller gives an address of that size, which is copied.
        let mut shown = unsafe { *address.cast::<sockaddr_in>() };
        // SAFETY: the copy is valid.
        if let Some(port) = unsafe { port_of((&raw mut shown).cast()) } {
            *port = machine(|machine| machine.ports.real(u16::from_be(*port))).to_be();
        }
        // SAFETY: the copy lives as long as the call.
        return unsafe { real::connect(socket, (&raw const shown).cast(), bytes) };
    }
    // SAFETY: the caller's arguments.
    unsafe { real::connect(socket, address, bytes) }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn getsockname(socket: c_int, address: *mut sockaddr, bytes: *mut socklen_t) -> c_int {
    // SAFETY: the caller's arguments.
    let result = unsafe { real::getsockname(socket, address, bytes) };
    if is_inside() && result == 0 {
        // SAFETY: the kernel has just written it.
        if let Some(port) = unsafe { port_of(address) } {
            *port = machine(|machine| machine.ports.assign(u16::from_be(*port))).to_be();
        }
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn getpeername(socket: c_int, address: *mut sockaddr, bytes: *mut socklen_t) -> c_int {
    // SAFETY: the caller's arguments.
    let result = unsafe { real::getpeername(socket, address, bytes) };
    if is_inside() && result == 0 {
        // SAFETY: the kernel has just written it.
        if let Some(port) = unsafe { port_of(address) } {
            *port = machine(|machine| machine.ports.shown_for(u16::from_be(*port))).to_be();
        }
    }
    result
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn epoll_wait(queue: c_int, events: *mut epoll_event, max: c_int, timeout_ms: c_int) -> c_int {
    if !is_inside() {
        // SAFETY: the caller's arguments.
        return unsafe { real::epoll_wait(queue, events, max, timeout_ms) };
    }
    if timeout_ms == 0 {
        scheduler::wait(Wait::Ready);
    } else {
        let timeout_ns = u64::try_from(timeout_ms).ok().map(|ms| ms * 1_000_000);
        let until_ns = timeout_ns.map(|ns| machine(|machine| machine.now_ns()).saturating_add(ns));
        scheduler::wait(Wait::Events { queue, until_ns });
    }
    // SAFETY: the caller's arguments, without waiting.
    unsafe { real::epoll_wait(queue, events, max, 0) }
}

struct NewThread {
    body: ThreadBody,
    argument: *mut c_void,
    number: usize,
    turn: &'static Turn,
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_create(
    thread: *mut pthread_t,
    attributes: *const pthread_attr_t,
    body: ThreadBody,
    argument: *mut c_void,
) -> c_int {
    if !is_inside() {
        // SAFETY: the caller's arguments.
        return unsafe { real::pthread_create(thread, attributes, body, argument) };
    }
    let (number, turn) = scheduler::register();
    let new = Box::into_raw(Box::new(NewThread { body, argument, number, turn }));
    // SAFETY: the caller's arguments, but for the body, which calls theirs.
    let result = unsafe { real::pthread_create(thread, attributes, run_thread, new.cast()) };
    if result != 0 {
        scheduler::give_up("no thread can be started");
    }
    // SAFETY: the C library has just written it.
    let handle = unsafe { *thread };
    machine(|machine| machine.set_handle(number, handle_number(handle)));
    0
}

fn handle_number(handle: pthread_t) -> usize {
    usize::try_from(handle).unwrap_or(usize::MAX)
}

extern "C" fn run_thread(new: *mut c_void) -> *mut c_void {
    // SAFETY: made by `pthread_create` above for this thread alone.
    let new = unsafe { Box::from_raw(new.cast::<NewThread>()) };
    scheduler::begin(new.number, new.turn);
    set_round(1);
    (new.body)(new.argument)
}

/// Its destructor is the last code of this process that a thread runs.
fn round_key() -> libc::pthread_key_t {
    static KEY: OnceLock<libc::pthread_key_t> = OnceLock::new();
    *KEY.get_or_init(|| {
        let mut key = 0;
        // SAFETY: the key and its destructor live as long as the process.
        let result = unsafe { libc::pthread_key_create(&raw mut key, Some(end_round)) };
        if result != 0 {
            scheduler::give_up("no key of threads is left");
        }
        key
    })
}

fn set_round(round: usize) {
    // SAFETY: the value is a number, never an address.
    unsafe { libc::pthread_setspecific(round_key(), round as *const c_void) };
}

unsafe extern "C" fn end_round(round: *mut c_void) {
    if !is_inside() {
        return;
    }
    if (round as usize) < LAST_ROUND {
        return set_round(round as usize + 1);
    }
    scheduler::end();
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int {
    while is_inside() {
        let Some(number) = machine(|machine| machine.number_of(handle_number(thread))) else { break };
        scheduler::wait(Wait::Join { number });
    }
    // SAFETY: the caller's arguments. The thread has given its last turn away: it ends in a moment of real time.
    unsafe { real::pthread_join(thread, result) }
}

fn sleep_ns(ns: u64) {
    let until_ns = machine(|machine| machine.now_ns()).saturating_add(ns);
    scheduler::wait(Wait::Sleep { until_ns });
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn clock_nanosleep(
    clock: clockid_t,
    flags: c_int,
    time: *const timespec,
    left: *mut timespec,
) -> c_int {
    if !is_inside() {
        // SAFETY: the caller's arguments.
        return unsafe { real::clock_nanosleep(clock, flags, time, left) };
    }
    // SAFETY: the caller gives a time.
    let ns = unsafe { duration_ns(time) }.unwrap_or(0);
    if flags & libc::TIMER_ABSTIME == 0 {
        sleep_ns(ns);
    } else {
        scheduler::wait(Wait::Sleep { until_ns: ns });
    }
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn nanosleep(time: *const timespec, left: *mut timespec) -> c_int {
    if !is_inside() {
        // SAFETY: the caller's arguments.
        return unsafe { real::nanosleep(time, left) };
    }
    // SAFETY: the caller gives a time.
    sleep_ns(unsafe { duration_ns(time) }.unwrap_or(0));
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn usleep(time_us: c_uint) -> c_int {
    if !is_inside() {
        // SAFETY: a number.
        return unsafe { real::usleep(time_us) };
    }
    sleep_ns(u64::from(time_us) * 1000);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn sched_yield() -> c_int {
    if !is_inside() {
        // SAFETY: it has no arguments.
        return unsafe { real::sched_yield() };
    }
    machine(|machine| machine.read_clock_ns());
    scheduler::wait(Wait::Ready);
    0
}

/// A sync takes its time and leaves the disk alone: the simulation keeps nothing over its own end.
fn sync(file: c_int) -> c_int {
    let ns = machine(|machine| SYNC_NS.0 + machine.random.below(SYNC_NS.1 - SYNC_NS.0));
    sleep_ns(ns);
    disk::note_sync(file);
    0
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fsync(file: c_int) -> c_int {
    // SAFETY: the caller's argument.
    if is_inside() { sync(file) } else { unsafe { real::fsync(file) } }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn fdatasync(file: c_int) -> c_int {
    // SAFETY: the caller's argument.
    if is_inside() { sync(file) } else { unsafe { real::fdatasync(file) } }
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn getrandom(bytes: *mut c_void, count: usize, flags: c_uint) -> isize {
    if !is_inside() {
        // SAFETY: the caller's arguments.
        return unsafe { real::getrandom(bytes, count, flags) };
    }
    if count > 0 {
        // SAFETY: the caller gives room for so many bytes.
        let bytes = unsafe { std::slice::from_raw_parts_mut(bytes.cast::<u8>(), count) };
        machine(|machine| machine.random.fill(bytes));
    }
    isize::try_from(count).unwrap_or(isize::MAX)
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn getentropy(bytes: *mut c_void, count: usize) -> c_int {
    if !is_inside() {
        // SAFETY: the caller's arguments.
        return unsafe { real::getentropy(bytes, count) };
    }
    // SAFETY: the caller's arguments.
    unsafe { getrandom(bytes, count, 0) };
    0
}
