//! Lists of threads.
//!
//! Without a search the page walks the index of its order, the total is a stored count, and no post is read. A search (`q`)
//! finds titles and posts by their indexes: its cost grows with what it finds.

use crate::model::{Sort, ThreadId};
use plugin_api::{Address, HostError, List, Query, Search, SearchIndex, Sql, json_text, sql};
use serde::Deserialize;

/// The rows decode as [`crate::model::ThreadState`]s.
const THREADS: List =
    List::new("forum_threads t", "t.kept AS rendered, t.id, t.author, t.last_post_at, t.post_count, t.upvotes");

/// The newest first.
const UNANSWERED: List =
    List::new("forum_threads", "id, title, excerpt, tags, author, created_at").order_by("created_at DESC, id DESC");

const COUNT: &str = "SELECT row_count FROM forum_threads_counts";
const COUNT_TAGGED: &str = "SELECT row_count FROM forum_thread_tags_counts WHERE tag = $1";

const TITLES: SearchIndex = SearchIndex::new("forum_threads", &["title"]);
const POSTS: SearchIndex = SearchIndex::new("forum_posts", &["body"]);

const TAGGED: &str = "SELECT thread_id FROM forum_thread_tags WHERE tag = $1";
/// Asks for the tags of each thread.
const IS_TAGGED: &str = "EXISTS (SELECT 1 FROM forum_thread_tags g WHERE g.tag = {} AND g.thread_id = t.id)";

/// So many threads are rather sorted than looked for in the order of all.
const FEW: i64 = 5_000;

/// Threads with this tag, normalised as in storage, that contain the searched text in the title or in any post.
pub async fn threads(
    db: &impl Query,
    sort: Sort,
    tag: Option<&str>,
    search: Option<&Search>,
) -> Result<List, HostError> {
    let threads = THREADS.order_by(sort.order_by());
    if let Some(search) = search {
        return Ok(threads.hits("t.id", hits(search)).filter(IS_TAGGED, tag));
    }
    let Some(tag) = tag else { return Ok(threads.stored_total(sql(COUNT))) };
    let threads = threads.stored_total(sql(COUNT_TAGGED).bind(tag));
    let tagged: Option<i64> = db.row(sql(COUNT_TAGGED).bind(tag)).await?;
    // Where many have the tag, the first ones in the order are found soon.
    let is_few = tagged.unwrap_or_default() < FEW;
    Ok(if is_few { threads.hits("t.id", sql(TAGGED).bind(tag)) } else { threads.filter(IS_TAGGED, Some(tag)) })
}

/// The ids of the threads that a search finds.
fn hits(search: &Search) -> Sql {
    TITLES.select("id", search).push(" UNION ").push_sql(POSTS.select("thread_id", search))
}

#[derive(Deserialize)]
pub struct UnansweredThread {
    pub id: ThreadId,
    pub title: String,
    pub excerpt: String,
    #[serde(deserialize_with = "json_text")]
    pub tags: Vec<String>,
    pub author: Address,
    pub created_at: i64,
}

/// [`UnansweredThread`]s: all threads without replies, or this one if it has none.
pub fn unanswered(thread: Option<i64>) -> List {
    UNANSWERED.filter_if(true, "post_count <= 1").filter("id = {}", thread)
}
