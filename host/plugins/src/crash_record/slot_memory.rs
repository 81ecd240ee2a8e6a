//! Memory that outlives the process: a mapped file.

#![allow(unsafe_code, reason = "mapping a file is unsafe by nature; it happens here for the slots of threads only")]

use nix::sys::mman::{MapFlags, ProtFlags, mmap};
use std::{
    fs::File,
    io::{self, Write as _},
    num::NonZeroUsize,
    sync::atomic::AtomicU64,
};

/// Threads that can be told apart: a page of memory. More share nothing and are not recorded.
pub(crate) const SLOTS: usize = 512;
pub(crate) const BYTES: usize = SLOTS * size_of::<AtomicU64>();

/// Fills the file with zeros and maps it for the life of the process.
pub(crate) fn map(mut file: File) -> io::Result<&'static [AtomicU64]> {
    // Written and synchronised, so that the pages have room on the disk: a store to one that has none would be a SIGBUS.
    file.write_all(&[0; BYTES])?;
    file.sync_all()?;
    let length = NonZeroUsize::new(BYTES).ok_or(io::ErrorKind::InvalidInput)?;
    // SAFETY: no address is asked for, so nothing that is mapped is replaced.
    let start =
        unsafe { mmap(None, length, ProtFlags::PROT_READ | ProtFlags::PROT_WRITE, MapFlags::MAP_SHARED, &file, 0) }?;
    // SAFETY: the mapping is page-aligned, has exactly this length, is never unmapped, and every bit pattern is a valid value.
    // The file lies in the gateway's own folder and is not truncated; whoever writes to it changes values that are only read as
    // numbers.
    Ok(unsafe { std::slice::from_raw_parts(start.cast::<AtomicU64>().as_ptr(), SLOTS) })
}
