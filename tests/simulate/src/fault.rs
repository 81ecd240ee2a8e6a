//! Faults that are planted on purpose, from outside of the gateway: a simulation that does not find them proves nothing.

use rusqlite::Connection;
use std::{path::Path, time::Duration};

/// Waits for the gateway's own writes.
const LOCK_TIMEOUT: Duration = Duration::from_secs(20);

macro_rules! faults {
    ($($(#[doc = $doc:literal])* $variant:ident $name:literal,)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Fault {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Fault {
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }

            /// What is wrong, in a line.
            pub const fn summary(self) -> &'static str {
                match self {
                    $(Self::$variant => concat!($($doc,)*),)*
                }
            }
        }
    };
}

faults! {
    /// no signature is remembered
    NoReplayGuard "no-replay-guard",
    /// signatures are forgotten when the gateway is killed
    GuardForgetsAtKill "guard-forgets-at-kill",
    /// the write interval of an address is not remembered
    NoWriteInterval "no-write-interval",
    /// one post in seven is not stored
    PostLost "post-lost",
    /// one post in seven is stored twice
    PostDoubled "post-doubled",
    /// one post in seven is stored with another text
    PostAltered "post-altered",
    /// one post in seven is stored as somebody else's
    PostOfAnother "post-of-another",
    /// a thread counts one post in seven twice
    CountDrifts "count-drifts",
    /// one event in seven is not logged
    EventLost "event-lost",
    /// one event in seven is logged twice
    EventDoubled "event-doubled",
    /// one event in seven names another actor
    EventOfAnother "event-of-another",
    /// the stream leaves out an event now and then
    StreamLosesEvent "stream-loses-event",
    /// the stream sends an event twice now and then
    StreamRepeatsEvent "stream-repeats-event",
    /// the stream swaps two events now and then
    StreamSwapsEvents "stream-swaps-events",
    /// a stream that is resumed leaves out one event
    StreamResumesLate "stream-resumes-late",
    /// a write is answered and never made now and then
    AnswersWithoutWriting "answers-without-writing",
    /// a write is refused and made now and then
    RefusesWhatItStores "refuses-what-it-stores",
    /// the disk comes back without the newest commits, which it said were durable
    DiskLosesCommits "disk-loses-commits",
    /// the disk comes back without the end of the database's log
    DiskCutsLog "disk-cuts-log",
    /// one message in three is not stored
    MessageLost "message-lost",
    /// the index keeps what was in blocks that the chain has replaced
    IndexKeepsUndone "index-keeps-undone",
    /// the index loses one agent in three
    IndexLosesAgent "index-loses-agent",
    /// the faucet's drips of a day are not counted
    DayCapNotCounted "day-cap-not-counted",
    /// the faucet's drips of a client are not counted
    ClientCapNotCounted "client-cap-not-counted",
    /// the faucet forgets whom it has paid
    CooldownForgotten "cooldown-forgotten",
    /// the journal loses transactions that are not final when the gateway is killed
    JournalForgetsAtKill "journal-forgets-at-kill",
    /// the journal takes sent transactions for unsent ones when the gateway is killed
    JournalRepeatsAtKill "journal-repeats-at-kill",
    /// the journal sends twice the amount
    JournalDoublesAmount "journal-doubles-amount",
    /// the journal pays somebody else
    JournalPaysAnother "journal-pays-another",
}

/// One row in seven.
macro_rules! on_post {
    ($change:literal) => {
        concat!("AFTER INSERT ON forum_posts WHEN NEW.id % 7 = 3 BEGIN ", $change, "; END")
    };
}

macro_rules! on_event {
    ($change:literal) => {
        concat!("AFTER INSERT ON host_activity WHEN NEW.id % 7 = 3 BEGIN ", $change, "; END")
    };
}

impl Fault {
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|fault| fault.name() == name)
    }

    /// Triggers, by what they do.
    const fn triggers(self) -> &'static [&'static str] {
        match self {
            Self::NoReplayGuard => &[
                "AFTER INSERT ON host_replay_guard BEGIN DELETE FROM host_replay_guard WHERE digest = NEW.digest; END",
            ],
            Self::NoWriteInterval => &[
                "AFTER INSERT ON host_write_slots BEGIN UPDATE host_write_slots SET last_ms = 0 WHERE address = NEW.address; END",
                "AFTER UPDATE ON host_write_slots WHEN NEW.last_ms <> 0 BEGIN \
                 UPDATE host_write_slots SET last_ms = 0 WHERE address = NEW.address; END",
            ],
            Self::PostLost => &[on_post!("DELETE FROM forum_posts WHERE id = NEW.id")],
            Self::PostDoubled => &[on_post!(
                "INSERT INTO forum_posts (thread_id, author, body, reply_to, created_at) \
                 VALUES (NEW.thread_id, NEW.author, NEW.body, NEW.reply_to, NEW.created_at)"
            )],
            Self::PostAltered => &[on_post!("UPDATE forum_posts SET body = body || '!' WHERE id = NEW.id")],
            Self::PostOfAnother => &[on_post!("UPDATE forum_posts SET author = '0x' || author WHERE id = NEW.id")],
            Self::CountDrifts => {
                &[on_post!("UPDATE forum_threads SET post_count = post_count + 1 WHERE id = NEW.thread_id")]
            }
            Self::EventLost => &[on_event!("DELETE FROM host_activity WHERE id = NEW.id")],
            Self::EventDoubled => &[on_event!(
                "INSERT INTO host_activity (type, ts, actor, ref_kind, ref_id, data) \
                 VALUES (NEW.type, NEW.ts, NEW.actor, NEW.ref_kind, NEW.ref_id, NEW.data)"
            )],
            Self::EventOfAnother => &[on_event!("UPDATE host_activity SET actor = NULL WHERE id = NEW.id")],
            Self::MessageLost => &["AFTER INSERT ON messages_messages WHEN NEW.id % 3 = 1 BEGIN \
                 DELETE FROM messages_messages WHERE id = NEW.id; END"],
            Self::IndexKeepsUndone => &["BEFORE DELETE ON agents_agents BEGIN SELECT RAISE(IGNORE); END"],
            Self::IndexLosesAgent => &["AFTER INSERT ON agents_agents WHEN NEW.id % 3 = 1 BEGIN \
                 DELETE FROM agents_agents WHERE id = NEW.id; END"],
            Self::DayCapNotCounted => &[
                "AFTER INSERT ON faucet_counters WHEN NEW.name = 'day' BEGIN \
                 UPDATE faucet_counters SET used = 0 WHERE name = 'day'; END",
                "AFTER UPDATE ON faucet_counters WHEN NEW.name = 'day' AND NEW.used <> 0 BEGIN \
                 UPDATE faucet_counters SET used = 0 WHERE name = 'day'; END",
            ],
            Self::ClientCapNotCounted => &[
                "AFTER INSERT ON faucet_counters WHEN NEW.name = 'client' BEGIN \
                 UPDATE faucet_counters SET used = 0 WHERE name = 'client'; END",
                "AFTER UPDATE ON faucet_counters WHEN NEW.name = 'client' AND NEW.used <> 0 BEGIN \
                 UPDATE faucet_counters SET used = 0 WHERE name = 'client'; END",
            ],
            Self::CooldownForgotten => {
                &["AFTER UPDATE OF intent ON faucet_drips BEGIN DELETE FROM faucet_drips WHERE id = NEW.id; END"]
            }
            Self::JournalDoublesAmount => &["AFTER UPDATE OF intent ON faucet_drips BEGIN \
                 UPDATE host_tx_intents SET value_wei = '1000000000000000000' WHERE id = NEW.intent; END"],
            Self::JournalPaysAnother => &["AFTER UPDATE OF intent ON faucet_drips BEGIN \
                 UPDATE host_tx_intents SET target = '0x00000000000000000000000000000000000000AA' WHERE id = NEW.intent; END"],
            _ => &[],
        }
    }

    /// What changes on the disk of a gateway that was killed.
    pub(crate) const fn at_kill(self) -> Option<&'static str> {
        match self {
            Self::GuardForgetsAtKill => Some("DELETE FROM host_replay_guard"),
            Self::JournalForgetsAtKill => Some(
                "DELETE FROM host_tx_attempts WHERE intent IN (SELECT id FROM host_tx_intents WHERE state <> 'final'); \
                 DELETE FROM host_tx_intents WHERE state <> 'final'",
            ),
            Self::JournalRepeatsAtKill => Some(
                "DELETE FROM host_tx_attempts; UPDATE host_tx_intents SET state = 'queued', sender = NULL, nonce = NULL, \
                 hash = NULL, block = NULL, block_hash = NULL, succeeded = NULL",
            ),
            _ => None,
        }
    }

    /// Changes the database of a gateway that has started.
    pub(crate) fn plant(self, database: &Path) -> Result<(), String> {
        let plant = || {
            if self.triggers().is_empty() {
                return Ok(());
            }
            let connection = Connection::open(database)?;
            connection.busy_timeout(LOCK_TIMEOUT)?;
            for (number, trigger) in self.triggers().iter().enumerate() {
                connection.execute_batch(&format!("CREATE TRIGGER IF NOT EXISTS planted_{number} {trigger}"))?;
            }
            Ok(())
        };
        plant().map_err(|error: rusqlite::Error| format!("{} cannot be planted: {error}", self.name()))
    }
}
