//! Many wallets that write at the same time, to one gateway or to several in turn.

use super::{Dice, Outcome, Write, stored::OPENING};
use crate::e2e::{Site, THREADS, posts_of, signed};
use futures_util::future::join_all;
use gateway_tests::process::LIMIT;
use plugin_testing::{TestGateway, Value, Wallet, json};
use reqwest::{RequestBuilder, StatusCode};
use std::{
    sync::{
        Mutex,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed},
    },
    time::Duration,
};

/// What a writer waits after a response that leaves the outcome open, or none: a gateway that is away refuses at once, and would get
/// thousands of requests in a second.
const PAUSE: Duration = Duration::from_millis(5);

/// How the title of a thread begins.
pub const THREAD: &str = "thread ";

/// Writers and what they share.
pub struct Load<'a> {
    pub sites: &'a [Site],
    /// Part of every text, so that no other load writes the same.
    pub name: String,
    /// Threads that are known to be there.
    pub threads: Mutex<Vec<i64>>,
    pub stop: AtomicBool,
    pub acknowledged: AtomicUsize,
    /// Responses that leave the outcome open: 503.
    pub unavailable: AtomicUsize,
    /// Whether a writer ends when it gets no answer.
    pub ends_when_lost: bool,
    /// Whether it only retries.
    pub only_retries: bool,
}

impl<'a> Load<'a> {
    pub fn new(sites: &'a [Site], name: impl Into<String>) -> Self {
        Self {
            sites,
            name: name.into(),
            threads: Mutex::default(),
            stop: AtomicBool::new(false),
            acknowledged: AtomicUsize::new(0),
            unavailable: AtomicUsize::new(0),
            ends_when_lost: false,
            only_retries: false,
        }
    }

    /// Writes until told to stop; `retries` are sent before, as clients do that got no answer.
    pub async fn run(&self, wallets: &[Wallet], dice: &Dice, retries: Vec<Write>) -> Vec<Write> {
        let mut shares: Vec<Vec<Write>> = wallets.iter().map(|_| Vec::new()).collect();
        for (index, write) in retries.into_iter().enumerate() {
            shares[index % wallets.len()].push(write);
        }
        let writers = (0..)
            .zip(wallets)
            .zip(shares)
            .map(|((number, wallet), retries)| self.write_on(number, wallet, dice.fork(number as u64), retries));
        join_all(writers).await.concat()
    }

    /// Waits until that many writes are acknowledged.
    pub async fn reached(&self, acknowledged: u64) {
        let is_reached = async || self.acknowledged() >= acknowledged;
        TestGateway::eventually(LIMIT, "the load goes on", is_reached).await;
    }

    pub fn acknowledged(&self) -> u64 {
        self.acknowledged.load(Relaxed) as u64
    }

    pub fn refused(&self) -> usize {
        self.unavailable.load(Relaxed)
    }

    pub fn end(&self) {
        self.stop.store(true, Relaxed);
    }

    async fn write_on(&self, number: usize, wallet: &Wallet, mut dice: Dice, retries: Vec<Write>) -> Vec<Write> {
        let mut done = Vec::new();
        let mut retries = retries.into_iter();
        for turn in 0.. {
            let site = &self.sites[(turn + number) % self.sites.len()];
            let is_over = self.stop.load(Relaxed);
            let mut write = match retries.next() {
                Some(write) => write,
                None if is_over || self.only_retries => return done,
                None => self.next_write(wallet, &mut dice, turn),
            };
            let was_answered = !is_over && self.deliver(site, &mut write).await;
            done.push(write);
            if is_over || (self.ends_when_lost && !was_answered) {
                done.extend(retries);
                return done;
            }
        }
        done
    }

    /// Whether there was an answer.
    async fn deliver(&self, site: &Site, write: &mut Write) -> bool {
        let Some((status, code, body)) = send(site, write).await else {
            tokio::time::sleep(PAUSE).await;
            return false;
        };
        write.outcome = match (status, code.as_str()) {
            (201, _) => Outcome::Acknowledged,
            // An earlier attempt was stored.
            (409, "replay") => Outcome::Acknowledged,
            (429, _) if write.outcome == Outcome::Unknown => Outcome::Refused,
            (503, _) => Outcome::Unknown,
            other => panic!("{other:?}: {write:?}"),
        };
        if status == 503 {
            self.unavailable.fetch_add(1, Relaxed);
            tokio::time::sleep(PAUSE).await;
        }
        if write.outcome == Outcome::Acknowledged {
            self.acknowledged.fetch_add(1, Relaxed);
        }
        if write.text.starts_with(THREAD)
            && let Some(id) = body["id"].as_i64()
        {
            self.threads.lock().unwrap().push(id);
        }
        true
    }

    /// A reply, and now and then a thread.
    fn next_write(&self, wallet: &Wallet, dice: &mut Dice, turn: usize) -> Write {
        let text = format!("{} {turn}", self.name);
        let thread = {
            let threads = self.threads.lock().unwrap();
            let count = threads.len() as u64;
            if count == 0 || dice.below(8) == 0 {
                None
            } else {
                usize::try_from(dice.below(count)).ok().and_then(|index| threads.get(index).copied())
            }
        };
        match thread {
            Some(thread) => Write::reply(wallet, thread, &text),
            None => Write::thread(wallet, &text),
        }
    }
}

impl Write {
    /// A thread, signed now.
    pub fn thread(wallet: &Wallet, text: &str) -> Self {
        let title = format!("{THREAD}{text} {}", wallet.address());
        let payload = json!({ "title": title, "body": format!("{OPENING}{title}") });
        Self::signed(wallet, "thread.create", THREADS.to_owned(), title, &payload)
    }

    /// A reply, signed now.
    pub fn reply(wallet: &Wallet, thread: i64, text: &str) -> Self {
        let text = format!("{text} {}", wallet.address());
        let payload = json!({ "body": text });
        Self::signed(wallet, "post.create", posts_of(thread), text, &payload)
    }

    fn signed(wallet: &Wallet, action: &str, path: String, text: String, payload: &Value) -> Self {
        let body = signed(wallet, action, payload);
        Self { path, body, author: wallet.address().to_owned(), text, outcome: Outcome::Unknown }
    }
}

/// Status, code and body of the answer; nothing when there was none. Status 201 is an acknowledgement even when the
/// connection breaks off behind it.
pub async fn send(site: &Site, write: &Write) -> Option<(u16, String, Value)> {
    let request = site.request(reqwest::Method::POST, &write.path).header("content-type", "application/json");
    let response = crate::e2e::in_time(request.body(write.body.to_string()).send()).await.ok()?;
    let status = response.status().as_u16();
    let retry_after = response.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse::<u64>().ok());
    assert!(status != 503 || retry_after.is_some_and(|seconds| seconds > 0), "503 without Retry-After: {write:?}");
    let body = crate::e2e::in_time(response.bytes()).await.unwrap_or_default();
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    Some((status, body["code"].as_str().unwrap_or_default().to_owned(), body))
}

/// The status of an answer that came as a whole; counts that the request has ended.
pub async fn status_of(request: RequestBuilder, answered: &AtomicU64) -> Option<StatusCode> {
    let answer = async {
        let response = request.send().await.ok()?;
        let status = response.status();
        response.bytes().await.ok().map(|_| status)
    };
    let answer = answer.await;
    answered.fetch_add(1, Relaxed);
    answer
}
