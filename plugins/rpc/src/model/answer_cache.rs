//! Answers that cannot change. Rule: bounded in bytes, and asked for again after a while: what a server said wrongly does not stay.

use lru::LruCache;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

const AGE_MAX_MS: i64 = 600_000;
/// One larger answer would push out many.
const PART_OF_CACHE_MAX: usize = 8;

pub struct AnswerCache {
    bytes_max: usize,
    answers: Mutex<Answers>,
}

struct Answers {
    by_call: LruCache<String, KeptAnswer>,
    bytes: usize,
}

struct KeptAnswer {
    result: Arc<[u8]>,
    kept_at_ms: i64,
}

impl AnswerCache {
    pub fn new(bytes_max: usize) -> Self {
        Self { bytes_max, answers: Mutex::new(Answers { by_call: LruCache::unbounded(), bytes: 0 }) }
    }

    /// `call` is the method with its parameters.
    pub fn get(&self, call: &str, now_ms: i64) -> Option<Arc<[u8]>> {
        let mut answers = self.locked();
        let kept = answers.by_call.get(call)?;
        if now_ms.saturating_sub(kept.kept_at_ms) <= AGE_MAX_MS {
            return Some(kept.result.clone());
        }
        answers.remove(call);
        None
    }

    pub fn insert(&self, call: String, result: Arc<[u8]>, now_ms: i64) {
        let bytes = size(&call, &result);
        if bytes > self.bytes_max / PART_OF_CACHE_MAX {
            return;
        }
        let mut answers = self.locked();
        answers.remove(&call);
        answers.bytes += bytes;
        answers.by_call.push(call, KeptAnswer { result, kept_at_ms: now_ms });
        while answers.bytes > self.bytes_max {
            let Some((call, kept)) = answers.by_call.pop_lru() else { break };
            answers.bytes -= size(&call, &kept.result);
        }
    }

    pub fn bytes(&self) -> usize {
        self.locked().bytes
    }

    fn locked(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Answers {
    fn remove(&mut self, call: &str) {
        if let Some(kept) = self.by_call.pop(call) {
            self.bytes -= size(call, &kept.result);
        }
    }
}

/// With what the cache itself needs for an answer.
fn size(call: &str, result: &[u8]) -> usize {
    call.len() + result.len() + 128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_that_were_used_last_stay() {
        let cache = AnswerCache::new(8 * 1000);
        for number in 0..20 {
            cache.insert(number.to_string(), Arc::from(vec![0; 800]), 0);
            assert!(cache.get("0", 0).is_some() && cache.bytes() <= 8000);
        }
        assert!(cache.get("1", 0).is_none() && cache.get("19", 0).is_some());
        cache.insert("large".to_owned(), Arc::from(vec![0; 1000]), 0);
        assert!(cache.get("large", 0).is_none());
    }

    #[test]
    fn an_answer_is_asked_for_again_after_a_while() {
        let cache = AnswerCache::new(8 * 1000);
        cache.insert("call".to_owned(), Arc::from(*b"1"), 5);
        assert_eq!(cache.get("call", AGE_MAX_MS + 5).as_deref(), Some(&b"1"[..]));
        assert_eq!((cache.get("call", AGE_MAX_MS + 6), cache.bytes()), (None, 0));
        cache.insert("call".to_owned(), Arc::from(*b"2"), 9);
        cache.insert("call".to_owned(), Arc::from(*b"3"), 9);
        assert_eq!((cache.get("call", 9).as_deref(), cache.bytes()), (Some(&b"3"[..]), 4 + 1 + 128));
    }

    #[test]
    fn without_room_nothing_is_kept() {
        let cache = AnswerCache::new(0);
        cache.insert("call".to_owned(), Arc::from(*b"1"), 0);
        assert_eq!((cache.get("call", 0), cache.bytes()), (None, 0));
    }
}
