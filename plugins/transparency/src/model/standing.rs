//! Whether the log goes on: the database compared with what this gateway has published.
//!
//! The rule: what was published is never contradicted. Where the database cannot continue it, the log stops until the operator begins
//! a new origin that names it.

use super::Checkpoint;

/// What is known at one moment. `kept` was read before the rest.
#[derive(Clone, Copy, Debug)]
pub struct KnownCheckpoints<'a> {
    /// The origin of the configuration, and the checkpoint of the origin before it.
    pub origin: &'a str,
    pub previous: Option<&'a Checkpoint>,
    /// The newest checkpoint that this gateway has published, as it keeps it outside of the database.
    pub kept: Option<&'a Checkpoint>,
    /// The newest origin and checkpoint of the database; size 0 for an origin without one.
    pub stored: Option<&'a Checkpoint>,
    /// The root that the tiles of the database have at the size of `kept`, and at that of `stored`.
    pub root_at_kept: Option<&'a str>,
    pub root_at_stored: Option<&'a str>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    Continues,
    /// The origin of the configuration is new, and may begin.
    Begins,
    Stopped(String),
}

pub fn standing(facts: KnownCheckpoints<'_>) -> Standing {
    let KnownCheckpoints { origin, kept, stored, .. } = facts;
    match kept {
        Some(kept) if kept.origin == origin => of_published(facts, kept),
        Some(kept) => {
            if let Some(problem) = unnamed(facts, kept) {
                return Standing::Stopped(problem);
            }
            match stored {
                Some(stored) if stored.origin == origin => of_stored(facts, stored),
                Some(stored) if stored.origin != kept.origin => Standing::Stopped(foreign(facts, stored)),
                _ => Standing::Begins,
            }
        }
        None => match stored {
            None => Standing::Begins,
            Some(stored) if stored.origin == origin => of_stored(facts, stored),
            Some(stored) => unnamed(facts, stored).map_or(Standing::Begins, Standing::Stopped),
        },
    }
}

/// This gateway has published a checkpoint of the origin.
fn of_published(facts: KnownCheckpoints<'_>, kept: &Checkpoint) -> Standing {
    let size = kept.size;
    let Some(stored) = facts.stored else {
        let reason = format!(
            "a checkpoint of size {size} was published, and the database has no log: it is another one, or of before"
        );
        return Standing::Stopped(reason);
    };
    if stored.origin != kept.origin {
        return Standing::Stopped(foreign(facts, stored));
    }
    if stored.size < size {
        let reason = format!(
            "a checkpoint of size {size} was published, and the database has {} entries: it was set back",
            stored.size
        );
        return Standing::Stopped(reason);
    }
    if facts.root_at_kept != Some(&kept.root) {
        let reason =
            format!("a checkpoint of size {size} was published, and the database has another root at that size");
        return Standing::Stopped(reason);
    }
    of_stored(facts, stored)
}

fn of_stored(facts: KnownCheckpoints<'_>, stored: &Checkpoint) -> Standing {
    if facts.root_at_stored == Some(&stored.root) {
        return Standing::Continues;
    }
    let reason = format!("the tiles in the database have another root than its checkpoint of size {}", stored.size);
    Standing::Stopped(reason)
}

fn foreign(facts: KnownCheckpoints<'_>, stored: &Checkpoint) -> String {
    format!("the log in the database is that of {}, and the configuration says {}", stored.origin, facts.origin)
}

/// Why `previous` does not name this checkpoint or a later one of its origin.
fn unnamed(facts: KnownCheckpoints<'_>, checkpoint: &Checkpoint) -> Option<String> {
    let Checkpoint { origin, size, root } = checkpoint;
    let is_named = facts.previous.is_some_and(|previous| {
        previous.origin == *origin && (previous.size > *size || (previous.size == *size && previous.root == *root))
    });
    (!is_named).then(|| {
        format!("the origin {} is new, and `previous` does not name the checkpoint of {origin} of size {size} with root {root}", facts.origin)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checkpoint(origin: &str, size: u64, root: &str) -> Checkpoint {
        Checkpoint { origin: origin.to_owned(), size, root: root.to_owned() }
    }

    struct Case {
        origin: &'static str,
        previous: Option<Checkpoint>,
        kept: Option<Checkpoint>,
        stored: Option<Checkpoint>,
        /// What the tiles say.
        roots: [&'static str; 2],
    }

    fn stands(case: &Case) -> Standing {
        let [root_at_kept, root_at_stored] = case.roots.map(Some);
        standing(KnownCheckpoints {
            origin: case.origin,
            previous: case.previous.as_ref(),
            kept: case.kept.as_ref(),
            stored: case.stored.as_ref(),
            root_at_kept,
            root_at_stored,
        })
    }

    fn case(kept: Option<Checkpoint>, stored: Option<Checkpoint>) -> Case {
        Case { origin: "one", previous: None, kept, stored, roots: ["R5", "R7"] }
    }

    #[test]
    fn a_database_that_continues_what_was_published_goes_on() {
        let (five, seven) = (checkpoint("one", 5, "R5"), checkpoint("one", 7, "R7"));
        assert_eq!(stands(&case(None, None)), Standing::Begins);
        assert_eq!(stands(&case(None, Some(seven.clone()))), Standing::Continues);
        assert_eq!(stands(&case(Some(five.clone()), Some(seven.clone()))), Standing::Continues);
        let same = Case { roots: ["R7", "R7"], ..case(Some(seven.clone()), Some(seven)) };
        assert_eq!(stands(&same), Standing::Continues);
    }

    #[test]
    fn a_database_that_contradicts_what_was_published_stops_the_log() {
        let (five, seven) = (checkpoint("one", 5, "R5"), checkpoint("one", 7, "R7"));
        let other_root = Case { roots: ["X5", "R7"], ..case(Some(five.clone()), Some(seven.clone())) };
        let other_tiles = Case { roots: ["R5", "X7"], ..case(Some(five.clone()), Some(seven.clone())) };
        for (case, part) in [
            (case(Some(five.clone()), None), "no log"),
            (case(Some(seven), Some(five.clone())), "set back"),
            (other_root, "another root at that size"),
            (other_tiles, "tiles"),
            (case(Some(five.clone()), Some(checkpoint("two", 9, "R9"))), "that of two"),
        ] {
            let standing = stands(&case);
            assert!(matches!(&standing, Standing::Stopped(reason) if reason.contains(part)), "{part}: {standing:?}");
        }
    }

    #[test]
    fn a_new_origin_begins_only_with_the_name_of_the_old_checkpoint() {
        let seven = checkpoint("one", 7, "R7");
        let new = |previous: Option<Checkpoint>, kept: Option<Checkpoint>, stored: Option<Checkpoint>| {
            stands(&Case { origin: "two", previous, kept, stored, roots: ["R5", "R7"] })
        };
        let old_database = || Some(checkpoint("one", 5, "R5"));
        for (previous, begins) in [
            (None, false),
            (Some(checkpoint("one", 6, "R6")), false),
            (Some(checkpoint("one", 7, "X7")), false),
            (Some(checkpoint("zero", 7, "R7")), false),
            (Some(seven.clone()), true),
            // Another gateway published more.
            (Some(checkpoint("one", 8, "R8")), true),
        ] {
            let standing = new(previous.clone(), Some(seven.clone()), old_database());
            assert_eq!(standing == Standing::Begins, begins, "{previous:?}: {standing:?}");
            assert_eq!(new(previous.clone(), Some(seven.clone()), None) == Standing::Begins, begins, "{previous:?}");
            // A gateway that has published nothing relies on the database.
            assert_eq!(new(previous.clone(), None, Some(seven.clone())) == Standing::Begins, begins, "{previous:?}");
        }
    }

    #[test]
    fn a_new_origin_that_another_gateway_began_goes_on() {
        let begun = |origin: &str| {
            stands(&Case {
                origin: "two",
                previous: Some(checkpoint("one", 7, "R7")),
                kept: Some(checkpoint("one", 5, "R5")),
                stored: Some(checkpoint(origin, 3, "R7")),
                roots: ["R5", "R7"],
            })
        };
        assert_eq!(begun("two"), Standing::Continues);
        assert!(matches!(begun("three"), Standing::Stopped(_)));
    }
}
