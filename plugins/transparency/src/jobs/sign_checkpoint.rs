//! Appends what the activity log has got to the tree, and signs the new checkpoint.
//!
//! The rule: leaves, tiles and checkpoint are committed in one transaction, which only the job with the newest token can commit. What
//! was signed and not committed was seen by nobody.

use crate::{
    Transparency,
    model::{Checkpoint, Tile, leaf_hash},
    store::{
        checkpoints, leaves,
        origins::{self, Origin},
        published::{self, Log},
        tiles,
    },
};
use plugin_api::{HostError, HostErrorCode, Job, PluginContext, Sql};
use std::time::Duration;

const NAME: &str = "sign_checkpoint";
const INTERVAL: Duration = Duration::from_secs(10);
/// Of one run: a log that was turned on late catches up in several.
const PAGES_MAX: usize = 20;

pub fn job() -> Job<Transparency> {
    Job::every(NAME, INTERVAL, sign_checkpoint)
}

async fn sign_checkpoint(cx: PluginContext<Transparency>) -> Result<(), HostError> {
    for _ in 0..PAGES_MAX {
        // After the last page, too: it puts the checkpoint into the file.
        let origin = match published::check(&cx).await? {
            Log::Stopped(_) => return Ok(()),
            Log::New(origin) => {
                origins::begin(&cx, &origin, cx.plugin().config.previous.as_ref()).await?;
                continue;
            }
            Log::Signed(origin) | Log::Unsigned(origin) => origin,
        };
        origins::reseal(&cx, &origin).await?;
        if !append_page(&cx, &origin).await? {
            return Ok(());
        }
    }
    cx.wake(NAME).await
}

/// Returns whether there was something to append.
async fn append_page(cx: &PluginContext<Transparency>, origin: &Origin) -> Result<bool, HostError> {
    let db = cx.db();
    let last = leaves::last_event(&db, origin.epoch).await?;
    if origin.note.is_some() && leaves::next_events(&db, last, 1).await?.is_empty() {
        return Ok(false);
    }
    let token = origins::take_token(cx, origin.epoch).await?;
    // Read again: until the token was taken, another gateway could append.
    let Some(page) = Page::read(cx, origin.epoch).await? else { return Ok(false) };
    let epoch = origin.epoch;
    let written = cx
        .write(async move |tx| {
            origins::hold_token(tx, epoch, token).await?;
            tx.batch(page.statements(tx.now_s())).await.map(drop)
        })
        .await;
    match written {
        Ok(()) => Ok(true),
        Err(error) if error.is(HostErrorCode::Constraint) => {
            cx.info(&format!("the page is left to another gateway: {error}"));
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// What one transaction appends.
struct Page {
    epoch: i64,
    first_leaf: u64,
    /// By event.
    entries: Vec<(i64, Vec<u8>)>,
    tiles: Vec<Tile>,
    checkpoint: Checkpoint,
    note: String,
}

impl Page {
    /// `None` when another gateway began the next origin, or the tiles are not those of the checkpoint.
    async fn read(cx: &PluginContext<Transparency>, epoch: i64) -> Result<Option<Self>, HostError> {
        let db = cx.db();
        let Some(origin) = origins::present(&db).await?.filter(|origin| origin.epoch == epoch) else { return Ok(None) };
        let Some(mut edge) = tiles::edge(&db, epoch, origin.newest.size).await? else { return Ok(None) };
        let events = leaves::next_page(&db, leaves::last_event(&db, epoch).await?).await?;
        let (first_leaf, mut tiles) = (edge.size(), Vec::new());
        let entries: Vec<(i64, Vec<u8>)> = events.iter().map(|event| (event.id, event.entry())).collect();
        entries.iter().for_each(|(_, entry)| edge.append(leaf_hash(entry), &mut tiles));
        tiles.extend(edge.partial_tiles());
        let checkpoint = Checkpoint::new(&origin.newest.origin, edge.size(), &edge.root());
        let note = origin.sign(cx, &checkpoint, cx.now_s()).await?;
        Ok(Some(Self { epoch, first_leaf, entries, tiles, checkpoint, note }))
    }

    fn statements(&self, now_s: i64) -> Vec<Sql> {
        leaves::insert(self.epoch, self.first_leaf, &self.entries)
            .chain(self.tiles.iter().map(|tile| tiles::upsert(self.epoch, tile)))
            .chain([checkpoints::insert(self.epoch, &self.checkpoint, &self.note, now_s)])
            .collect()
    }
}
