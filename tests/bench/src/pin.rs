//! Which process runs on which processor: servers on the first, the load on the second, so that neither takes the
//! other's time and a server's CPU time is not spread over caches. On one processor everything shares it.

use anyhow::Result;
use nix::{
    sched::{CpuSet, sched_getaffinity, sched_setaffinity},
    unistd::Pid,
};

/// The calling thread.
const SELF: Pid = Pid::from_raw(0);

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum PinnedRole {
    Server,
    Load,
}

/// Runs `work` on the place's processor; threads and processes that it starts stay there.
pub fn on<T>(place: PinnedRole, work: impl FnOnce() -> T) -> Result<T> {
    let before = sched_getaffinity(SELF)?;
    if let Some(processor) = processor(place, &before) {
        let mut only = CpuSet::new();
        only.set(processor)?;
        sched_setaffinity(SELF, &only)?;
    }
    let done = work();
    sched_setaffinity(SELF, &before)?;
    Ok(done)
}

fn processor(place: PinnedRole, allowed: &CpuSet) -> Option<usize> {
    let mut usable = (0..CpuSet::count()).filter(|processor| allowed.is_set(*processor).unwrap_or_default());
    let (first, second) = (usable.next()?, usable.next()?);
    Some(if place == PinnedRole::Server { first } else { second })
}

/// Whether this machine has a processor for each.
pub fn is_parted() -> bool {
    sched_getaffinity(SELF).is_ok_and(|allowed| processor(PinnedRole::Load, &allowed).is_some())
}
