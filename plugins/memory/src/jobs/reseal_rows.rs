//! Seals rows again after the operator has a newer secrets key, so that the old one can be removed. Without a new key it reads two
//! empty lists.

use crate::{Memory, store};
use plugin_api::{HostError, Job, PluginContext, Sql};
use std::time::Duration;

const INTERVAL: Duration = Duration::from_secs(10 * 60);
/// Values of a page are up to 3 MiB.
const PAGE_ROWS: u32 = 50;
/// The next run goes on.
const PAGES_MAX: u32 = 200;

pub fn job() -> Job<Memory> {
    Job::every("reseal_rows", INTERVAL, reseal_rows).timeout(Duration::from_secs(9 * 60))
}

/// What a run did.
#[derive(Default)]
struct Progress {
    resealed: usize,
    unopened: usize,
}

async fn reseal_rows(cx: PluginContext<Memory>) -> Result<(), HostError> {
    let key_id = store::sealed::key_id(&cx).await?;
    let mut progress = Progress::default();
    reseal_values(&cx, &key_id, &mut progress).await?;
    reseal_records(&cx, &key_id, &mut progress).await?;
    let Progress { resealed, unopened } = progress;
    if resealed > 0 {
        cx.info(&format!("sealed {resealed} rows again with the newest secrets key"));
    }
    if unopened > 0 {
        cx.warn(&format!("{unopened} rows do not open with the secrets keys of this gateway: their key is missing, or they were changed"));
    }
    Ok(())
}

async fn reseal_values(cx: &PluginContext<Memory>, key_id: &str, progress: &mut Progress) -> Result<(), HostError> {
    let mut after = (String::new(), String::new());
    for _ in 0..PAGES_MAX {
        let rows = store::values::stale(&cx.db(), key_id, (&after.0, &after.1), PAGE_ROWS).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = (last.address.to_string(), last.name_tag.clone());
        let mut updates = Vec::new();
        for row in &rows {
            progress.note(row.resealed(cx, key_id).await, &mut updates);
        }
        store_updates(cx, updates).await?;
    }
    Ok(())
}

async fn reseal_records(cx: &PluginContext<Memory>, key_id: &str, progress: &mut Progress) -> Result<(), HostError> {
    let mut after = (String::new(), 0);
    for _ in 0..PAGES_MAX {
        let rows = store::records::stale(&cx.db(), key_id, (&after.0, after.1), PAGE_ROWS).await?;
        let Some(last) = rows.last() else { return Ok(()) };
        after = (last.address.to_string(), last.seq);
        let mut updates = Vec::new();
        for row in &rows {
            progress.note(row.resealed(cx, key_id).await, &mut updates);
        }
        store_updates(cx, updates).await?;
    }
    Ok(())
}

impl Progress {
    /// A row that does not open must not hold up the others.
    fn note(&mut self, resealed: Result<Sql, HostError>, updates: &mut Vec<Sql>) {
        match resealed {
            Ok(update) => {
                self.resealed += 1;
                updates.push(update);
            }
            Err(_unopened) => self.unopened += 1,
        }
    }
}

async fn store_updates(cx: &PluginContext<Memory>, updates: Vec<Sql>) -> Result<(), HostError> {
    if updates.is_empty() {
        return Ok(());
    }
    cx.write(async move |tx| tx.batch(updates.clone()).await.map(drop)).await
}
