//! A client that reads threads, at any gateway: an answer must have every post that was acknowledged before it asked.

use crate::{dice::Dice, ledger::Ledger, replica::Request, site::Site, trace::Trace};
use std::{cell::RefCell, rc::Rc, time::Duration};

/// Reads of one thread, one soon after the other: the later ones come from caches.
const READS: usize = 3;

pub struct ThreadReader {
    pub site: Rc<Site>,
    pub ledger: Rc<RefCell<Ledger>>,
    /// Threads that are known to be there.
    pub threads: Rc<RefCell<Vec<i64>>>,
    pub trace: Trace,
    pub name: String,
    pub dice: Dice,
    pub count: u64,
}

impl ThreadReader {
    pub async fn run(mut self) {
        for _ in 0..self.count {
            tokio::time::sleep(Duration::from_millis(self.dice.below(3000))).await;
            let thread = {
                let threads = self.threads.borrow();
                threads.get(self.dice.index(threads.len())).copied()
            };
            let Some(thread) = thread else { continue };
            for _ in 0..READS {
                self.read(thread).await;
                tokio::time::sleep(Duration::from_millis(self.dice.below(200))).await;
            }
        }
    }

    async fn read(&self, thread: i64) {
        let acknowledged = self.ledger.borrow().posts.get(&thread).copied().unwrap_or_default();
        let request = Request::get(&format!("/api/forum/threads/{thread}"));
        let Some(answer) = self.site.send(request).await else { return };
        let posts = answer.body["postCount"].as_i64();
        self.trace.record(&self.name, &format!("{thread} {} {posts:?}", answer.status));
        let wrong = match (answer.status, posts) {
            (200, Some(posts)) if posts >= acknowledged => return,
            (503, _) => return,
            (200, Some(posts)) => format!("thread {thread} has {posts} posts, and {acknowledged} were acknowledged"),
            (status, _) => format!("answered {status} {} to a read of thread {thread}", answer.code()),
        };
        self.ledger.borrow_mut().refuse(format!("{}: {wrong}", self.name));
    }
}
