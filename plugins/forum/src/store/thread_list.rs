//! Lists of threads.
//!
//! Without a search the page walks the index of its order, the total is a stored count, and no post is read. A search (`q`) reads
//! every post (of the tag, if given) once: its cost grows with the forum.

use crate::model::{Sort, ThreadId};
use plugin_api::{Address, List, Search, Sql, json_text, sql};
use serde::Deserialize;

/// The rows decode as [`crate::model::ThreadState`]s.
const THREADS: List =
    List::new("forum_threads t", "t.kept AS rendered, t.id, t.author, t.last_post_at, t.post_count, t.upvotes");

/// The newest first.
const UNANSWERED: List =
    List::new("forum_threads", "id, title, excerpt, tags, author, created_at").order_by("created_at DESC, id DESC");

/// The count of all threads has the empty tag.
const COUNT: &str = "SELECT threads FROM forum_thread_counts WHERE tag = $1";

/// Threads with this tag, normalised as in storage, that contain the searched text in the title or in any post.
pub fn threads(sort: Sort, tag: Option<&str>, search: Option<&Search>) -> List {
    let threads = THREADS.order_by(sort.order_by());
    match search {
        Some(search) => threads.hits("t.id", hits(search, tag)),
        None => threads
            .filter("t.id IN (SELECT thread_id FROM forum_thread_tags WHERE tag = {})", tag)
            .stored_total(sql(COUNT).bind(tag.unwrap_or_default())),
    }
}

/// The ids of the threads that a search finds.
fn hits(search: &Search, tag: Option<&str>) -> Sql {
    let (in_title, in_body) = (search.condition("title", "$1"), search.condition("body", "$1"));
    let tagged = |id: &str| match tag {
        Some(_) => format!(" AND {id} IN (SELECT thread_id FROM forum_thread_tags WHERE tag = $2)"),
        None => String::new(),
    };
    let hits = sql(format!(
        "SELECT id FROM forum_threads WHERE {in_title}{} UNION SELECT thread_id FROM forum_posts WHERE {in_body}{}",
        tagged("id"),
        tagged("thread_id"),
    ));
    tag.into_iter().fold(hits.bind(search.needle()), Sql::bind)
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
