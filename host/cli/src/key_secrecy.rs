//! Keeps the operators' keys out of the reach of other processes and of plugins.
//!
//! The rules: no process of the same user reads the gateway's memory, and no core dump holds a key; a key that came by a
//! variable is not left in the environment, which plugins and child processes read.

#![allow(unsafe_code, reason = "nothing else changes the environment of a process")]

use gateway_config::is_key;
use nix::{libc, sys::prctl::set_dumpable};
use std::{
    env,
    ffi::{CString, OsStr, OsString},
    os::unix::ffi::OsStrExt as _,
};

/// Forbids core dumps, and debuggers of the same user.
pub(crate) fn forbid_dumps() {
    if let Err(error) = set_dumpable(false) {
        tracing::warn!(%error, "other processes of this user can read the keys in memory");
    }
}

/// Overwrites and removes the keys in the environment; the configuration holds them by now. Called by the command line before it
/// starts a thread.
pub(crate) fn forget_keys_in_environment() {
    let names = env::vars_os().map(|(name, _)| name);
    let keys: Vec<OsString> = names.filter(|name| is_key(&name.to_string_lossy())).collect();
    for name in keys {
        overwrite(&name);
        // SAFETY: no other thread runs yet that could read the environment.
        unsafe { env::remove_var(&name) };
    }
}

/// Removing a variable leaves its text where the system put it, and `/proc/self/environ` shows that.
fn overwrite(name: &OsStr) {
    let Ok(name) = CString::new(name.as_bytes()) else { return };
    // SAFETY: `getenv` returns null or a text that ends with a zero byte, in the process's own writable memory. No other thread
    // runs yet that could use it.
    unsafe {
        let value = libc::getenv(name.as_ptr());
        if !value.is_null() {
            std::ptr::write_bytes(value, b'x', libc::strlen(value));
        }
    }
}
