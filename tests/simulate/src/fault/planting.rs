//! How each fault is planted: by triggers, and by what changes in the database at some moments.

use super::Fault;
use crate::configuration::Workload;

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

/// One signed order in three.
macro_rules! on_signed_order {
    ($change:literal) => {
        concat!("AFTER INSERT ON shop_orders WHEN NEW.is_signed = 1 AND NEW.id % 3 = 1 BEGIN ", $change, "; END")
    };
}

impl Fault {
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
            _ if matches!(self.workload(), Workload::Orders) => self.triggers_of_orders(),
            _ if matches!(self.workload(), Workload::Referrals) => self.triggers_of_referrals(),
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

    const fn triggers_of_orders(self) -> &'static [&'static str] {
        match self {
            // Without it the key of the table would refuse the second one.
            Self::VoucherNotChecked => &["BEFORE INSERT ON x402_vouchers BEGIN \
                 DELETE FROM x402_vouchers WHERE payer = NEW.payer AND nonce = NEW.nonce; END"],
            Self::FailedWorkCharged => &["AFTER UPDATE OF state ON x402_vouchers WHEN NEW.state = 'voided' BEGIN \
                 UPDATE x402_vouchers SET state = 'queued', queued_at = NEW.closed_at, until_s = NULL, closed_at = NULL \
                 WHERE payer = NEW.payer AND nonce = NEW.nonce; END"],
            Self::ReleaseLost => &["BEFORE UPDATE OF state ON x402_vouchers WHEN NEW.state = 'voided' BEGIN \
                 SELECT RAISE(IGNORE); END"],
            Self::DoneWorkVoided => {
                &["AFTER UPDATE OF state ON x402_vouchers WHEN OLD.state = 'reserved' AND NEW.state = 'queued' BEGIN \
                 UPDATE x402_vouchers SET state = 'voided', closed_at = NEW.queued_at \
                 WHERE payer = NEW.payer AND nonce = NEW.nonce; END"]
            }
            Self::PaymentNotInTransaction => {
                &[on_signed_order!("DELETE FROM x402_vouchers WHERE payer = NEW.payer AND nonce = NEW.nonce")]
            }
            Self::OrderNotInTransaction => &[on_signed_order!("DELETE FROM shop_orders WHERE id = NEW.id")],
            _ => &[],
        }
    }

    const fn triggers_of_referrals(self) -> &'static [&'static str] {
        match self {
            Self::RewardCapNotCounted => &[
                "AFTER INSERT ON referrals_counters BEGIN UPDATE referrals_counters SET used = 0; END",
                "AFTER UPDATE ON referrals_counters WHEN NEW.used <> 0 BEGIN UPDATE referrals_counters SET used = 0; END",
            ],
            Self::BudgetNotCounted => &[
                "AFTER INSERT ON referrals_budget BEGIN UPDATE referrals_budget SET spent = '0'; END",
                "AFTER UPDATE ON referrals_budget WHEN NEW.spent <> '0' BEGIN UPDATE referrals_budget SET spent = '0'; END",
            ],
            Self::RewardPaidAgain => &["AFTER UPDATE OF state ON referrals_claims WHEN NEW.state = 'paid' BEGIN \
                 UPDATE host_tx_intents SET name = name || ' forgotten ' || id \
                 WHERE id IN (SELECT intent FROM referrals_transfers WHERE new_agent = NEW.new_agent); \
                 DELETE FROM referrals_transfers WHERE new_agent = NEW.new_agent; \
                 DELETE FROM referrals_counters; \
                 UPDATE referrals_claims SET state = 'open', job_id = NULL WHERE new_agent = NEW.new_agent; END"],
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
            Self::VoucherNotChecked => &[("nonce = $2 UNION ALL", "nonce = $2 AND state = 'voided' UNION ALL")],
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
            Self::ReservationsKeptAtKill => Some(
                "UPDATE x402_vouchers SET state = 'queued', queued_at = created_at, until_s = NULL WHERE state = 'reserved'",
            ),
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
