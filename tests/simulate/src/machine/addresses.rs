//! Addresses in memory that are the same in every run: some hash maps take the keys of their order from them.
#![allow(unsafe_code, reason = "asks the kernel for it in a child process")]

use nix::libc;
use std::{os::unix::process::CommandExt as _, process::Command};

/// Of personality(2), with the type that it takes.
const ADDR_NO_RANDOMIZE: libc::c_ulong = 0x004_0000;

/// The program will be at the same addresses each time it is started. Where the kernel refuses it, as in some containers, nothing changes.
pub fn fix_addresses(command: &mut Command) {
    let fix = || {
        // SAFETY: a number of this process, which it passes on to the program.
        unsafe { libc::personality(ADDR_NO_RANDOMIZE) };
        Ok(())
    };
    // SAFETY: the closure calls the kernel alone.
    unsafe { command.pre_exec(fix) };
}
