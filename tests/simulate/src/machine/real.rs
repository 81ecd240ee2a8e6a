//! The functions of the C library that [`super::symbols`] hides.
#![allow(unsafe_code, reason = "calls functions of the C library by their addresses")]

use nix::libc::{
    self, c_int, c_long, c_uint, c_void, clockid_t, epoll_event, pthread_attr_t, pthread_t, sockaddr, socklen_t,
    timespec, timeval,
};
use std::{
    ffi::CStr,
    mem::transmute,
    sync::atomic::{AtomicPtr, AtomicU32, Ordering::Relaxed},
};

pub(super) type ThreadBody = extern "C" fn(*mut c_void) -> *mut c_void;

/// The address of a function in the libraries behind this program, looked up once.
struct Hidden {
    name: &'static CStr,
    address: AtomicPtr<c_void>,
}

impl Hidden {
    const fn new(name: &'static CStr) -> Self {
        Self { name, address: AtomicPtr::new(std::ptr::null_mut()) }
    }

    fn address(&self) -> *mut c_void {
        let known = self.address.load(Relaxed);
        if !known.is_null() {
            return known;
        }
        // SAFETY: the name ends with a zero.
        let found = unsafe { libc::dlsym(libc::RTLD_NEXT, self.name.as_ptr()) };
        if found.is_null() {
            super::scheduler::give_up("a function of the C library is missing");
        }
        self.address.store(found, Relaxed);
        found
    }
}

macro_rules! hidden {
    ($($(#[$doc:meta])* $name:ident($($argument:ident: $kind:ty),*) -> $result:ty;)*) => {$(
        $(#[$doc])*
        /// # Safety
        /// That of the function of this name in the C library.
        pub(super) unsafe fn $name($($argument: $kind),*) -> $result {
            static HIDDEN: Hidden = {
                const NAME: &[u8] = concat!(stringify!($name), "\0").as_bytes();
                match CStr::from_bytes_with_nul(NAME) {
                    Ok(name) => Hidden::new(name),
                    Err(_) => Hidden::new(c""),
                }
            };
            // SAFETY: the C library declares the function with these types.
            unsafe { transmute::<*mut c_void, unsafe extern "C" fn($($kind),*) -> $result>(HIDDEN.address())($($argument),*) }
        }
    )*};
}

hidden! {
    socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int;
    connect(socket: c_int, address: *const sockaddr, bytes: socklen_t) -> c_int;
    getsockname(socket: c_int, address: *mut sockaddr, bytes: *mut socklen_t) -> c_int;
    getpeername(socket: c_int, address: *mut sockaddr, bytes: *mut socklen_t) -> c_int;
    syscall(number: c_long, a: usize, b: usize, c: usize, d: usize, e: usize, f: usize) -> c_long;
    gettimeofday(time: *mut timeval, zone: *mut c_void) -> c_int;
    clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int;
    epoll_wait(queue: c_int, events: *mut epoll_event, max: c_int, timeout_ms: c_int) -> c_int;
    pthread_create(thread: *mut pthread_t, attributes: *const pthread_attr_t, body: ThreadBody, argument: *mut c_void) -> c_int;
    pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int;
    clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int;
    nanosleep(time: *const timespec, left: *mut timespec) -> c_int;
    usleep(time_us: c_uint) -> c_int;
    sched_yield() -> c_int;
    fsync(file: c_int) -> c_int;
    fdatasync(file: c_int) -> c_int;
    getrandom(bytes: *mut c_void, count: usize, flags: c_uint) -> isize;
    getentropy(bytes: *mut c_void, count: usize) -> c_int;
}

/// Waits for, or wakes, a thread that is not simulated.
pub(super) fn futex(word: &AtomicU32, operation: c_int, value: usize) {
    let operation = usize::try_from(operation | libc::FUTEX_PRIVATE_FLAG).unwrap_or(0);
    // SAFETY: the word lives longer than the call, which has no time limit.
    unsafe { syscall(libc::SYS_futex, word.as_ptr() as usize, operation, value, 0, 0, 0) };
}

/// The kernel's number of the calling thread.
pub(super) fn thread_id() -> i64 {
    // SAFETY: it has no arguments.
    unsafe { syscall(libc::SYS_gettid, 0, 0, 0, 0, 0, 0) }
}

/// Until the kernel has no such thread of this process any more.
pub(super) fn await_end(thread: i64) {
    let (process, thread) = (std::process::id() as usize, usize::try_from(thread).unwrap_or(0));
    // SAFETY: signal 0 only asks.
    while unsafe { syscall(libc::SYS_tgkill, process, thread, 0, 0, 0, 0) } == 0 {
        // SAFETY: it has no arguments.
        unsafe { sched_yield() };
    }
}

/// Whether the queue has events; takes none of them.
pub(super) fn has_events(queue: c_int) -> bool {
    let mut poll = libc::pollfd { fd: queue, events: libc::POLLIN, revents: 0 };
    // SAFETY: one descriptor, and no waiting.
    let found = unsafe { libc::poll(&raw mut poll, 1, 0) };
    found > 0
}

/// Gives a socket room for so many bytes in each direction. Without the right to it (root has it) the kernel chooses, as for any other.
pub(super) fn set_buffers(socket: c_int, bytes: c_int) {
    let options = [libc::SO_SNDBUFFORCE, libc::SO_RCVBUFFORCE];
    let size = libc::socklen_t::try_from(size_of::<c_int>()).unwrap_or(0);
    for option in options {
        // SAFETY: the value is a number of that size.
        unsafe { libc::setsockopt(socket, libc::SOL_SOCKET, option, (&raw const bytes).cast(), size) };
    }
}
