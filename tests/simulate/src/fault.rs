//! Faults that are planted on purpose, from outside of the gateway: a simulation that does not find them proves nothing.

use crate::configuration::Workload;

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
    /// the disk says that it has synced what it has not, and loses its power
    DiskDoesNotSync "disk-does-not-sync",
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
    /// each gateway remembers only the signatures that came to itself
    GuardNotShared "guard-not-shared",
    /// each gateway knows only the writes of an address that came to itself
    IntervalNotShared "interval-not-shared",
    /// each gateway counts only its own drips
    CapsNotShared "caps-not-shared",
    /// a COMMIT that was not answered is taken for one that failed, and its attempt is not looked up
    LostCommitTakenForFailed "lost-commit-taken-for-failed",
    /// a COMMIT that was not answered is taken for one that took effect
    LostCommitTakenForDone "lost-commit-taken-for-done",
    /// gateways do not tell each other what they have changed, and answer from old caches
    ChangesNotTold "changes-not-told",
    /// events get their places in the log before their writers commit
    EventsPlacedEarly "events-placed-early",
    /// a gateway that takes over the log leaves out a place
    SequencerLeavesGap "sequencer-leaves-gap",
    /// one event in seven stays in the outbox when it was moved to the log
    OutboxMovedTwice "outbox-moved-twice",
    /// a job that lost its lease still writes
    JobLeaseNotChecked "job-lease-not-checked",
    /// payin pays on first sight, without confirmations
    PayinPaysOnSight "payin-pays-on-sight",
    /// a quote of payin that was paid can be paid again
    PayinPaysAgain "payin-pays-again",
    /// payin forgets payouts on their way when the gateway is killed
    PayinForgetsAtKill "payin-forgets-at-kill",
    /// the payouts of a day are not counted
    PayinCapNotCounted "payin-cap-not-counted",
    /// x402 forgets the vouchers that it has sent to the vault
    VoucherForgotten "voucher-forgotten",
    /// x402 loses the vouchers that wait for a batch when the gateway is killed
    VouchersLostAtKill "vouchers-lost-at-kill",
    /// x402 puts vouchers that it has sent into another batch when the gateway is killed
    VouchersRepeatAtKill "vouchers-repeat-at-kill",
    /// the relay forgets the calls that it sends
    RelayForgetsCalls "relay-forgets-calls",
    /// the relay's calls of a day are not counted
    RelayCapsNotCounted "relay-caps-not-counted",
    /// the server forgets one COMMIT in twenty that it has answered
    ServerForgetsCommits "server-forgets-commits",
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

    /// How many gateways it takes: see [`crate::Settings::gateways`].
    pub const fn gateways(self) -> usize {
        match self {
            Self::GuardNotShared
            | Self::IntervalNotShared
            | Self::CapsNotShared
            | Self::LostCommitTakenForFailed
            | Self::LostCommitTakenForDone
            | Self::ChangesNotTold
            | Self::EventsPlacedEarly
            | Self::SequencerLeavesGap
            | Self::OutboxMovedTwice
            | Self::JobLeaseNotChecked
            | Self::ServerForgetsCommits => 3,
            _ => 1,
        }
    }

    /// What it is about.
    pub(crate) const fn workload(self) -> Workload {
        match self {
            Self::PayinPaysOnSight
            | Self::PayinPaysAgain
            | Self::PayinForgetsAtKill
            | Self::PayinCapNotCounted
            | Self::VoucherForgotten
            | Self::VouchersLostAtKill
            | Self::VouchersRepeatAtKill
            | Self::RelayForgetsCalls
            | Self::RelayCapsNotCounted => Workload::Payments,
            _ => Workload::Forum,
        }
    }

    /// Triggers, by what they do.
    pub(crate) const fn triggers(self) -> &'static [&'static str] {
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
            _ if matches!(self.workload(), Workload::Payments) => self.triggers_of_payments(),
            _ => self.triggers_of_shared(),
        }
    }

    const fn triggers_of_payments(self) -> &'static [&'static str] {
        match self {
            Self::PayinPaysOnSight => {
                &["AFTER INSERT ON payin_quotes BEGIN UPDATE payin_quotes SET required = 0 WHERE id = NEW.id; END"]
            }
            Self::PayinPaysAgain => &["AFTER UPDATE OF is_mined ON payin_quotes WHEN NEW.is_mined = 1 BEGIN \
                 UPDATE payin_quotes SET status = 'confirmed', intent = NULL, attempt = attempt + 1, is_mined = 0 \
                 WHERE id = NEW.id; END"],
            Self::PayinCapNotCounted => &[
                "AFTER INSERT ON payin_counters BEGIN UPDATE payin_counters SET used = 0; END",
                "AFTER UPDATE ON payin_counters WHEN NEW.used <> 0 BEGIN UPDATE payin_counters SET used = 0; END",
            ],
            Self::VoucherForgotten => &["AFTER UPDATE OF state ON x402_vouchers WHEN NEW.state = 'submitted' BEGIN \
                 DELETE FROM x402_vouchers WHERE payer = NEW.payer AND nonce = NEW.nonce; END"],
            Self::RelayForgetsCalls => &["AFTER UPDATE OF intent ON relay_calls BEGIN \
                 UPDATE host_tx_intents SET name = name || ' forgotten ' || NEW.id WHERE id = NEW.intent; \
                 DELETE FROM relay_calls WHERE id = NEW.id; END"],
            Self::RelayCapsNotCounted => &[
                "AFTER INSERT ON relay_counters BEGIN UPDATE relay_counters SET used = 0; END",
                "AFTER UPDATE ON relay_counters WHEN NEW.used <> 0 BEGIN UPDATE relay_counters SET used = 0; END",
            ],
            _ => &[],
        }
    }

    /// Those of several gateways.
    const fn triggers_of_shared(self) -> &'static [&'static str] {
        match self {
            Self::LostCommitTakenForFailed => &[
                "BEFORE INSERT ON host_replay_guard WHEN NEW.attempt LIKE 'lost %' BEGIN DELETE FROM host_replay_guard \
                 WHERE remember_until_s = NEW.remember_until_s AND digest = NEW.digest; END",
            ],
            Self::LostCommitTakenForDone => {
                &["BEFORE INSERT ON host_replay_guard WHEN NEW.attempt LIKE 'lost %' BEGIN \
                 INSERT OR IGNORE INTO host_replay_guard (remember_until_s, digest, address, attempt) \
                 VALUES (NEW.remember_until_s, NEW.digest, NEW.address, substr(NEW.attempt, 6)); END"]
            }
            Self::ChangesNotTold => &["BEFORE INSERT ON host_changes BEGIN SELECT RAISE(IGNORE); END"],
            Self::EventsPlacedEarly => &["AFTER INSERT ON host_activity_outbox BEGIN \
                 INSERT OR IGNORE INTO host_activity (id, type, ts, actor, ref_kind, ref_id, data, unique_key) \
                 VALUES (NEW.id, NEW.type, NEW.ts, NEW.actor, NEW.ref_kind, NEW.ref_id, NEW.data, NEW.unique_key); \
                 DELETE FROM host_activity_outbox WHERE id = NEW.id; END"],
            Self::SequencerLeavesGap => {
                &["AFTER UPDATE OF token ON host_activity_sequencer WHEN NEW.token > OLD.token BEGIN \
                 UPDATE host_activity_sequencer SET next_position = next_position + 1 WHERE id = 1; END"]
            }
            Self::OutboxMovedTwice => &["AFTER DELETE ON host_activity_outbox WHEN OLD.id % 7 = 3 BEGIN \
                 INSERT INTO host_activity_outbox (type, ts, actor, ref_kind, ref_id, data) \
                 VALUES (OLD.type, OLD.ts, OLD.actor, OLD.ref_kind, OLD.ref_id, OLD.data); END"],
            _ => &[],
        }
    }

    /// Parts of statements, and what gateways run in their place.
    pub(crate) const fn altered_statements(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::JobLeaseNotChecked => {
                &[("lease_holder = $3 AND last_started_ms = $4 FOR KEY SHARE", "$3 = $3 AND $4 = $4 FOR KEY SHARE")]
            }
            _ => &[],
        }
    }

    /// What changes in the database when a request goes to another gateway than the one before.
    pub(crate) const fn at_another_gateway(self) -> Option<&'static str> {
        match self {
            Self::GuardNotShared => Some("DELETE FROM host_replay_guard"),
            Self::IntervalNotShared => Some("DELETE FROM host_write_slots"),
            Self::CapsNotShared => Some("DELETE FROM faucet_counters"),
            _ => None,
        }
    }

    pub(crate) const fn forgotten_commits_per_mille(self) -> u32 {
        if matches!(self, Self::ServerForgetsCommits) { 50 } else { 0 }
    }

    /// What changes on the disk of a gateway that was killed.
    pub(crate) const fn at_kill(self) -> Option<&'static str> {
        match self {
            Self::GuardForgetsAtKill => Some("DELETE FROM host_replay_guard"),
            Self::PayinForgetsAtKill => {
                Some("UPDATE payin_quotes SET intent = NULL, attempt = attempt + 1 WHERE status = 'confirmed'")
            }
            Self::VouchersLostAtKill => Some("DELETE FROM x402_vouchers WHERE state = 'queued'"),
            Self::VouchersRepeatAtKill => {
                Some("UPDATE x402_vouchers SET state = 'queued', batch = NULL WHERE state = 'submitted'")
            }
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
}
