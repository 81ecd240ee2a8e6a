//! How many tasks may start, and of which keys.

use std::collections::HashMap;

/// Keys whose last task failed or took long share this part of the slots.
const SLOW_SHARE: usize = 4;
/// Keys that one cycle looks at, for each slot: some of them are of groups without a slot.
const CANDIDATES_PER_SLOT: usize = 4;
const CANDIDATES_MAX: usize = 256;

/// The free slots of one gateway.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskSlots {
    pub free: usize,
    /// How many of the free slots keys may have that are slow.
    pub free_for_slow: usize,
}

/// A task as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StoredTask {
    pub id: i64,
    pub payload: String,
    pub pushed_ms: i64,
    /// How many attempts have failed.
    pub attempts: i64,
}

/// A key with something to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub key: String,
    pub group: String,
    /// The task that is next. There is none where the plugin deleted it: then the cycle corrects when the key is due.
    pub task: Option<StoredTask>,
    pub is_slow: bool,
}

impl TaskSlots {
    pub(crate) fn new(concurrency: usize, running: usize, running_slow: usize) -> Self {
        let free = concurrency.saturating_sub(running);
        let slow_max = (concurrency / SLOW_SHARE).max(1);
        Self { free, free_for_slow: slow_max.saturating_sub(running_slow).min(free) }
    }

    pub(crate) fn candidates_max(free: usize) -> usize {
        (free * CANDIDATES_PER_SLOT).min(CANDIDATES_MAX)
    }

    /// Those that begin, slow keys first: they have the fewest slots, and would otherwise wait for as long as others are due.
    pub(crate) fn choose(
        self,
        candidates: Vec<Candidate>,
        mut running: HashMap<String, usize>,
        per_group: usize,
    ) -> Vec<Candidate> {
        let Self { mut free, mut free_for_slow } = self;
        let mut chosen = Vec::new();
        for candidate in candidates {
            if candidate.task.is_some() {
                let slots = if candidate.is_slow { free_for_slow } else { free };
                let in_group = running.entry(candidate.group.clone()).or_default();
                if slots == 0 || *in_group >= per_group {
                    continue;
                }
                *in_group += 1;
                free -= 1;
                free_for_slow = if candidate.is_slow { free_for_slow - 1 } else { free_for_slow.min(free) };
            }
            chosen.push(candidate);
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidates(names: &[(&str, &str, bool)]) -> Vec<Candidate> {
        let candidate = |&(key, group, is_slow): &(&str, &str, bool)| Candidate {
            key: key.to_owned(),
            group: group.to_owned(),
            task: Some(StoredTask { id: 1, payload: "{}".to_owned(), pushed_ms: 0, attempts: 0 }),
            is_slow,
        };
        names.iter().map(candidate).collect()
    }

    fn keys(chosen: &[Candidate]) -> Vec<&str> {
        chosen.iter().map(|candidate| candidate.key.as_str()).collect()
    }

    #[test]
    fn a_group_gets_its_share_of_slots() {
        let due = candidates(&[("a", "x", false), ("b", "x", false), ("c", "x", false), ("d", "y", false)]);
        let running = HashMap::from([("x".to_owned(), 1)]);
        assert_eq!(keys(&TaskSlots::new(8, 1, 0).choose(due, running, 2)), ["a", "d"]);
    }

    #[test]
    fn slow_keys_share_a_quarter() {
        let due = candidates(&[("a", "a", true), ("b", "b", true), ("c", "c", true), ("d", "d", false)]);
        assert_eq!(keys(&TaskSlots::new(8, 0, 0).choose(due.clone(), HashMap::new(), 8)), ["a", "b", "d"]);
        assert_eq!(keys(&TaskSlots::new(8, 2, 2).choose(due.clone(), HashMap::new(), 8)), ["d"]);
        // A single slot is for slow keys, too.
        assert_eq!(keys(&TaskSlots::new(1, 0, 0).choose(due, HashMap::new(), 8)), ["a"]);
    }

    #[test]
    fn no_more_tasks_start_than_there_are_slots() {
        let due = candidates(&[("a", "a", true), ("b", "b", false), ("c", "c", false)]);
        assert_eq!(keys(&TaskSlots::new(8, 6, 1).choose(due.clone(), HashMap::new(), 8)), ["a", "b"]);
        assert!(TaskSlots::new(8, 9, 9).choose(due, HashMap::new(), 8).is_empty());
    }
}
