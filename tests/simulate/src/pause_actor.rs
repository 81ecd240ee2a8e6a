//! Gateways that share a database stand still for a while, now and then, as a process does that is stopped or swapped out. When one goes
//! on, it believes that it still has what others have taken over.

use crate::{dice::Dice, site::Site, trace::Trace};
use std::{rc::Rc, time::Duration};

const BETWEEN_MS_MAX: u64 = 15_000;
/// Longer than the leases of the sequencer, of jobs and of senders.
const PAUSE_MS_MAX: u64 = 25_000;

pub struct PauseActor {
    pub site: Rc<Site>,
    pub trace: Trace,
}

impl PauseActor {
    /// Goes on for ever: its task is dropped.
    pub async fn run(self, mut dice: Dice) {
        loop {
            tokio::time::sleep(Duration::from_millis(dice.below(BETWEEN_MS_MAX))).await;
            let place = dice.index(self.site.count());
            self.trace.record("site", &format!("{place} stands still"));
            self.site.pause(place);
            tokio::time::sleep(Duration::from_millis(dice.below(PAUSE_MS_MAX))).await;
            self.site.resume(place);
            self.trace.record("site", &format!("{place} goes on"));
        }
    }
}
