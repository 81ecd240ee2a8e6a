//! The database server of a run is away for a while, now and then.

use crate::{dice::Dice, site::Site, trace::Trace};
use std::{rc::Rc, time::Duration};

/// Longer than gateways look for what became of a COMMIT.
const AWAY_MS_MAX: u64 = 8_000;

pub struct DatabaseActor {
    pub site: Rc<Site>,
    pub trace: Trace,
}

impl DatabaseActor {
    /// Goes on for ever: its task is dropped.
    pub async fn run(self, mut dice: Dice) {
        loop {
            tokio::time::sleep(Duration::from_millis(dice.below(60_000))).await;
            self.trace.record("database", "away");
            self.site.database.set_away(true);
            // Short ones more often than long ones.
            let away_ms_max = dice.below(AWAY_MS_MAX);
            tokio::time::sleep(Duration::from_millis(dice.below(away_ms_max))).await;
            self.site.database.set_away(false);
            self.trace.record("database", "back");
        }
    }
}
