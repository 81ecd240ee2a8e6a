//! Counts what the activity log has got since the last run, so that a record need not read all events of an agent's owner.
//!
//! The rule: counters and cursor are committed in one transaction. Writers of events pay nothing, and until this job has caught up, a
//! record reads the events behind the cursor itself.

use crate::{Aicv, store::event_counts};
use plugin_api::{HostError, HostErrorCode, Job, PluginContext};
use std::time::Duration;

const NAME: &str = "count_events";
const INTERVAL: Duration = Duration::from_secs(30);
/// Of one run: a log that was there before the counters is counted in several.
const PAGES_MAX: usize = 20;

pub fn job() -> Job<Aicv> {
    Job::every(NAME, INTERVAL, count_events)
}

async fn count_events(cx: PluginContext<Aicv>) -> Result<(), HostError> {
    for _ in 0..PAGES_MAX {
        let Some(page) = event_counts::next(&cx.db()).await? else { return Ok(()) };
        let is_last = page.is_last();
        match cx.write(async move |tx| event_counts::add(tx, &page).await).await {
            Ok(()) if is_last => return Ok(()),
            Ok(()) => {}
            Err(error) if error.is(HostErrorCode::Constraint) => {
                cx.info(&format!("the events are left to another gateway: {error}"));
                return Ok(());
            }
            Err(error) => return Err(error),
        }
    }
    cx.wake(NAME).await
}
