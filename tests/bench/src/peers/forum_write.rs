//! The signed write of the forum on axum, sqlx and k256: the checks of the gateway, then its rows in one transaction.

use super::forum_rows::{Author, PostView, ThreadDetail, ThreadView};
use alloy_primitives::{Address, eip191_hash_message, hex, keccak256};
use axum::http::StatusCode;
use host::clock::Clock;
use k256::ecdsa::{RecoveryId, Signature, VerifyingKey};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use sha2::{Digest as _, Sha256};
use sqlx::SqlitePool;

const WINDOW_S: i64 = 300;
const INTERVAL_MS: i64 = 1000;
const EXCERPT_CHARS: usize = 240;

pub struct Refusal {
    pub status: StatusCode,
    pub reason: &'static str,
}

pub struct SignedThread {
    signer: String,
    digest: String,
    thread: NewThread,
}

#[derive(Deserialize)]
struct NewThread {
    title: String,
    body: String,
    #[serde(default)]
    tags: Vec<String>,
}

fn refused(status: StatusCode, reason: &'static str) -> Refusal {
    Refusal { status, reason }
}

/// Form, time, signature: what needs no database.
pub fn check(body: &[u8]) -> Result<SignedThread, Refusal> {
    let malformed = || refused(StatusCode::BAD_REQUEST, "malformed body");
    let mut payload: Map<String, Value> = serde_json::from_slice(body).map_err(|_| malformed())?;
    let mut text = |name: &str| payload.remove(name).ok_or_else(malformed);
    let (address, ts, sig) = (text("address")?, text("ts")?, text("sig")?);
    let address: Address = address.as_str().and_then(|address| address.parse().ok()).ok_or_else(malformed)?;
    let ts = ts.as_i64().ok_or_else(malformed)?;
    if (Clock::System.now_s() - ts).abs() > WINDOW_S {
        return Err(refused(StatusCode::UNAUTHORIZED, "ts is too far from now"));
    }
    let payload = Value::Object(payload);
    let canonical = serde_json_canonicalizer::to_string(&payload).map_err(|_| malformed())?;
    let hash = hex::encode(Sha256::digest(canonical.as_bytes()));
    let signer = address.to_checksum(None);
    let message = format!("Service Commons\naction: thread.create\naddress: {signer}\nts: {ts}\nbody: {hash}");
    let digest = eip191_hash_message(message);
    if sig.as_str().and_then(|sig| recover(&digest.0, sig)) != Some(address) {
        return Err(refused(StatusCode::UNAUTHORIZED, "the signature is not by this address"));
    }
    let thread: NewThread = serde_json::from_value(payload).map_err(|_| malformed())?;
    if thread.title.trim().is_empty() || thread.body.trim().is_empty() || thread.tags.len() > 5 {
        return Err(refused(StatusCode::BAD_REQUEST, "title, body or tags are not as they must be"));
    }
    Ok(SignedThread { signer, digest: hex::encode(digest), thread })
}

fn recover(digest: &[u8; 32], sig: &str) -> Option<Address> {
    let bytes = hex::decode(sig).ok()?;
    let (rs, v) = bytes.split_at_checked(64)?;
    let signature = Signature::from_slice(rs).ok()?;
    let recovery = RecoveryId::from_byte(v.first()?.checked_sub(27)?)?;
    let key = VerifyingKey::recover_from_prehash(digest, &signature, recovery).ok()?;
    let public = key.to_encoded_point(false);
    Some(Address::from_slice(&keccak256(&public.as_bytes()[1..])[12..]))
}

/// Guard, interval, thread, post, tags and event; all or nothing.
pub async fn store(pool: &SqlitePool, signed: SignedThread) -> Result<ThreadDetail, super::forum::Failed> {
    let SignedThread { signer, digest, thread: NewThread { title, body, tags } } = signed;
    let (now_ms, now_s) = (Clock::System.now_ms(), Clock::System.now_s());
    let excerpt = excerpt(&body);
    let mut tx = pool.begin().await?;
    let replay =
        "INSERT INTO host_replay_guard (address, digest, remember_until_s) VALUES (?, ?, ?) ON CONFLICT DO NOTHING";
    let replay = sqlx::query(replay).bind(&signer).bind(digest).bind(now_s + 3 * WINDOW_S).execute(&mut *tx).await?;
    if replay.rows_affected() == 0 {
        return Err(refused(StatusCode::CONFLICT, "this signature was already used").into());
    }
    let slot = "INSERT INTO host_write_slots (address, last_ms) VALUES (?, ?) ON CONFLICT (address) DO UPDATE \
                SET last_ms = excluded.last_ms WHERE host_write_slots.last_ms <= excluded.last_ms - ?";
    let slot = sqlx::query(slot).bind(&signer).bind(now_ms).bind(INTERVAL_MS).execute(&mut *tx).await?;
    if slot.rows_affected() == 0 {
        return Err(refused(StatusCode::TOO_MANY_REQUESTS, "one write a second and address").into());
    }
    let insert = "INSERT INTO forum_threads (title, tags, author, created_at, last_post_at, post_count, upvotes, excerpt) \
                  VALUES (?, ?, ?, ?4, ?4, 1, 0, ?) RETURNING id";
    let insert = sqlx::query_scalar(insert).bind(&title).bind(json!(tags).to_string()).bind(&signer);
    let id: i64 = insert.bind(now_s).bind(&excerpt).fetch_one(&mut *tx).await?;
    let post = "INSERT INTO forum_posts (thread_id, author, body, created_at) VALUES (?, ?, ?, ?) RETURNING id";
    let post = sqlx::query_scalar(post).bind(id).bind(&signer).bind(&body).bind(now_s).fetch_one(&mut *tx).await?;
    for tag in &tags {
        let insert = sqlx::query("INSERT INTO forum_thread_tags (tag, thread_id) VALUES (?, ?)");
        insert.bind(tag).bind(id).execute(&mut *tx).await?;
    }
    let data = json!({ "threadId": id, "title": title, "tags": tags, "excerpt": excerpt }).to_string();
    let event = "INSERT INTO host_activity (type, ts, actor, ref_kind, ref_id, data) VALUES ('thread.create', ?, ?, 'thread', ?, ?)";
    let event = sqlx::query(event).bind(now_s).bind(&signer).bind(id.to_string()).bind(data);
    event.execute(&mut *tx).await?;
    tx.commit().await?;
    Ok(detail(id, post, signer, title, body, tags, excerpt, now_s))
}

fn excerpt(body: &str) -> String {
    let line = body.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(EXCERPT_CHARS) {
        Some(_) => line.chars().take(EXCERPT_CHARS - 1).chain(['…']).collect(),
        None => line,
    }
}

#[allow(clippy::too_many_arguments, reason = "the columns of a thread and its opening post")]
fn detail(
    id: i64,
    post: i64,
    signer: String,
    title: String,
    body: String,
    tags: Vec<String>,
    excerpt: String,
    now_s: i64,
) -> ThreadDetail {
    let (created_at, last_post_at) = (now_s, now_s);
    let author = Author::of(signer.clone());
    let thread = ThreadView { id, title, tags, author, created_at, last_post_at, post_count: 1, excerpt, upvotes: 0 };
    let post = PostView { id: post, thread_id: id, author: Author::of(signer), body, reply_to: None, created_at };
    ThreadDetail { thread, posts: vec![post] }
}
