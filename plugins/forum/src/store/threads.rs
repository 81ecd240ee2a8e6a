//! Threads: opening one, counting a post in, reading one.

use super::posts::{self, PostRow};
use crate::model::{PostDraft, ThreadDraft, ThreadId, is_upvote};
use plugin_api::{Address, HostError, Query, Sql, Tx, json_text, sql};
use serde::Deserialize;
use serde_json::Value;

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct ThreadRow {
    pub id: ThreadId,
    pub title: String,
    #[serde(deserialize_with = "json_text")]
    pub tags: Vec<String>,
    pub author: Address,
    pub created_at: i64,
    pub last_post_at: i64,
    pub post_count: i64,
    pub excerpt: String,
    pub upvotes: i64,
}

impl ThreadRow {
    /// The thread as all its posts tell it: row and posts are read one after the other, a reply may come in between.
    pub fn counting(mut self, posts: &[PostRow]) -> Self {
        let count = |posts: usize| i64::try_from(posts).unwrap_or(i64::MAX);
        self.post_count = count(posts.len());
        self.upvotes = count(posts.iter().filter(|post| is_upvote(&post.body)).count());
        self.last_post_at = posts.iter().map(|post| post.created_at).fold(self.last_post_at, i64::max);
        self
    }
}

/// The columns of a [`ThreadRow`], of `forum_threads` called `t`.
pub const COLUMNS: &str =
    "t.id, t.title, t.tags, t.author, t.created_at, t.last_post_at, t.post_count, t.excerpt, t.upvotes";

/// Stores a thread with its opening post.
pub async fn open(tx: &Tx, author: Address, draft: ThreadDraft, now_s: i64) -> Result<(ThreadRow, PostRow), HostError> {
    let ThreadDraft { title, body, tags } = draft;
    let (excerpt, upvotes) = (body.excerpt(), i64::from(body.is_upvote()));
    let insert = sql("INSERT INTO forum_threads \
            (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt) \
            VALUES ($1, $2, $3, $4, $4, 1, $5, $6) RETURNING id")
    .bind(&title)
    .bind(Value::from(tags.clone()).to_string())
    .bind(author)
    .bind(now_s)
    .bind(upvotes)
    .bind(&excerpt);
    let id: ThreadId = tx.one(insert).await?;

    let opening = PostDraft { body, reply_to: None };
    let mut statements = vec![posts::insert(id, author, &opening, now_s), count_in(&tags)];
    if !tags.is_empty() {
        statements.push(tag_with(&tags, id));
    }
    let outcomes = tx.batch(statements).await?;
    let post = posts::inserted(outcomes.first(), id, author, opening, now_s)?;
    let (created_at, last_post_at) = (now_s, now_s);
    Ok((ThreadRow { id, title, tags, author, created_at, last_post_at, post_count: 1, excerpt, upvotes }, post))
}

/// Counts a new thread, in all and under each of its tags.
fn count_in(tags: &[String]) -> Sql {
    let rows = (2..).zip(tags).map(|(number, _)| format!(", (${number}, 1)")).collect::<String>();
    let count = sql(format!(
        "INSERT INTO forum_thread_counts (tag, threads) VALUES ($1, 1){rows} \
         ON CONFLICT (tag) DO UPDATE SET threads = forum_thread_counts.threads + 1"
    ));
    tags.iter().fold(count.bind(""), Sql::bind)
}

fn tag_with(tags: &[String], thread: ThreadId) -> Sql {
    let rows: Vec<String> = (2..).zip(tags).map(|(number, _)| format!("(${number}, $1)")).collect();
    let insert = sql(format!("INSERT INTO forum_thread_tags (tag, thread_id) VALUES {}", rows.join(", ")));
    tags.iter().fold(insert.bind(thread), Sql::bind)
}

/// Stores a reply and counts it into its thread; answers the thread's title too, or nothing when there is no thread.
pub async fn reply(
    tx: &Tx,
    thread: ThreadId,
    author: Address,
    draft: PostDraft,
    now_s: i64,
) -> Result<Option<(String, PostRow)>, HostError> {
    // The thread first: its row's lock makes the posts of one thread commit in the order of their ids.
    let count_in = sql("UPDATE forum_threads SET post_count = post_count + 1, upvotes = upvotes + $2, \
            last_post_at = CASE WHEN last_post_at < $3 THEN $3 ELSE last_post_at END WHERE id = $1 RETURNING title")
    .bind(thread)
    .bind(draft.body.is_upvote())
    .bind(now_s);
    let outcomes = tx.batch(vec![count_in, posts::insert(thread, author, &draft, now_s)]).await?;
    let Some(title) = outcomes.first().map(|outcome| outcome.first::<String>()).transpose()?.flatten() else {
        return Ok(None);
    };
    Ok(Some((title, posts::inserted(outcomes.get(1), thread, author, draft, now_s)?)))
}

pub async fn find(db: &impl Query, thread: ThreadId) -> Result<Option<ThreadRow>, HostError> {
    db.row(sql(format!("SELECT {COLUMNS} FROM forum_threads t WHERE t.id = $1")).bind(thread)).await
}

/// How much there is.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Counts {
    pub threads: i64,
    pub posts: i64,
}

pub async fn count_all(db: &impl Query) -> Result<Counts, HostError> {
    db.one(sql("SELECT count(*) AS threads, cast(coalesce(sum(post_count), 0) AS bigint) AS posts FROM forum_threads"))
        .await
}
