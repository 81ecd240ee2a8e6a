//! A timer of the kernel: tokio's own counts whole milliseconds.

use anyhow::Result;
use nix::sys::{
    time::TimeSpec,
    timerfd::{ClockId, Expiration, TimerFd, TimerFlags, TimerSetTimeFlags},
};
use std::{future::pending, io::ErrorKind, os::fd::AsFd as _, time::Instant};
use tokio::net::unix::pipe;

pub struct Timer {
    timer: TimerFd,
    /// The same file. tokio waits for a pipe to become readable, and for this file alike.
    expirations: pipe::Receiver,
}

impl Timer {
    pub fn new() -> Result<Self> {
        let timer = TimerFd::new(ClockId::CLOCK_MONOTONIC, TimerFlags::TFD_NONBLOCK | TimerFlags::TFD_CLOEXEC)?;
        let expirations = pipe::Receiver::from_owned_fd_unchecked(timer.as_fd().try_clone_to_owned()?)?;
        Ok(Self { timer, expirations })
    }

    /// Waits until then; for ever without a time. Dropping it is safe: the next call sets the timer anew.
    pub async fn until(&mut self, due: Option<Instant>) -> Result<()> {
        let Some(due) = due else { return pending().await };
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            self.timer.set(Expiration::OneShot(TimeSpec::from_duration(left)), TimerSetTimeFlags::empty())?;
            self.expirations.readable().await?;
            // What it was readable for may be an earlier call's time: then nothing is there, and the loop waits again.
            match self.expirations.try_read(&mut [0; size_of::<u64>()]) {
                Err(error) if error.kind() != ErrorKind::WouldBlock => return Err(error.into()),
                _ => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load;
    use std::time::Duration;

    #[test]
    fn a_time_that_was_given_up_does_not_end_the_next_wait() -> Result<()> {
        load::block_on(async {
            let mut timer = Timer::new()?;
            let begun = Instant::now();
            let (short, long) = (begun + Duration::from_micros(300), begun + Duration::from_millis(60));
            tokio::select! {
                biased;
                due = timer.until(Some(short)) => due?,
                () = std::future::ready(()) => {}
            }
            // So that the kernel's timer is over.
            std::thread::sleep(Duration::from_millis(5));
            timer.until(Some(long)).await?;
            assert!(Instant::now() >= long);
            Ok(())
        })?
    }
}
