//! A client that reads threads, at any gateway: an answer must have every post that was acknowledged before it asked.

use crate::{client::Client, replica::Request};
use std::{cell::RefCell, rc::Rc};

/// Reads of one thread, one soon after the other: the later ones come from caches.
const READS: usize = 3;

pub struct ThreadReader {
    pub client: Client,
    /// Threads that are known to be there.
    pub threads: Rc<RefCell<Vec<i64>>>,
    pub count: u64,
}

impl ThreadReader {
    pub async fn run(mut self) {
        for _ in 0..self.count {
            self.client.sleep_below(3000).await;
            let thread = {
                let threads = self.threads.borrow();
                threads.get(self.client.dice.index(threads.len())).copied()
            };
            let Some(thread) = thread else { continue };
            for _ in 0..READS {
                self.read(thread).await;
                self.client.sleep_below(200).await;
            }
        }
    }

    async fn read(&self, thread: i64) {
        let acknowledged = self.client.ledger.borrow().posts.get(&thread).copied().unwrap_or_default();
        let request = Request::get(&format!("/api/forum/threads/{thread}"));
        let Some(answer) = self.client.send_unrecorded(request).await else { return };
        let posts = answer.body["postCount"].as_i64();
        self.client.record(&format!("{thread} {} {posts:?}", answer.status));
        let wrong = match (answer.status, posts) {
            (200, Some(posts)) if posts >= acknowledged => return,
            (503, _) => return,
            (200, Some(posts)) => format!("thread {thread} has {posts} posts, and {acknowledged} were acknowledged"),
            (status, _) => format!("answered {status} {} to a read of thread {thread}", answer.code()),
        };
        self.client.violation(&wrong);
    }
}
