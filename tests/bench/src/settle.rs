//! The pause before each measurement, until the machine has done what the one before left to it: pages on their way to the disk,
//! a database that tidies up after many rows, processes that end.

use anyhow::{Context as _, Result};
use std::{
    fs,
    process::Command,
    thread::sleep,
    time::{Duration, Instant},
};

const LOOK: Duration = Duration::from_millis(200);
/// This many quiet samples one after the other.
const LOOKS: u32 = 3;
/// A hundredth of a second, as the kernel counts, that all processors together may be busy between two looks.
const BUSY_TICKS_MAX: u64 = 2;
/// A machine that has other work is measured as it is.
const LIMIT: Duration = Duration::from_secs(20);

/// Does nothing in a debug build, whose figures mean nothing.
pub fn settle() -> Result<()> {
    if cfg!(debug_assertions) {
        return Ok(());
    }
    let begun = Instant::now();
    Command::new("sync").status().context("sync")?;
    let (mut before, mut quiet) = (busy_ticks()?, 0);
    while quiet < LOOKS && begun.elapsed() < LIMIT {
        sleep(LOOK);
        let now = busy_ticks()?;
        quiet = if now.saturating_sub(before) <= BUSY_TICKS_MAX { quiet + 1 } else { 0 };
        before = now;
    }
    if quiet < LOOKS {
        println!("  the machine has other work, and has had it for {} s", LIMIT.as_secs());
    }
    Ok(())
}

/// Of all processors: user, nice, system, and what waits for the disk.
fn busy_ticks() -> Result<u64> {
    busy_of(&fs::read_to_string("/proc/stat")?).context("/proc/stat has another form")
}

fn busy_of(stat: &str) -> Option<u64> {
    let mut numbers = stat.lines().next()?.strip_prefix("cpu ")?.split_whitespace().map(str::parse::<u64>);
    let mut next = || numbers.next()?.ok();
    let (user, nice, system, _idle, disk) = (next()?, next()?, next()?, next()?, next()?);
    Some(user + nice + system + disk)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_time_is_not_busy() {
        let stat = "cpu  10 2 30 4000 5 600 70 8 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n";
        assert_eq!(busy_of(stat), Some(47));
        assert_eq!(busy_of("intr 1 2 3"), None);
        assert!(busy_ticks().is_ok());
    }
}
