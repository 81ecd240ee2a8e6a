//! Faults that are planted on purpose, from outside of the gateway: a simulation that does not find them proves nothing.

mod planting;

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
    /// the signatures of payers that are contracts are not verified
    SignaturesNotVerified "signatures-not-verified",
    /// the relay forgets the calls that it sends
    RelayForgetsCalls "relay-forgets-calls",
    /// the relay's calls of a day are not counted
    RelayCapsNotCounted "relay-caps-not-counted",
    /// x402 does not look whether a voucher was taken before
    VoucherNotChecked "voucher-not-checked",
    /// x402 charges for work that has failed
    FailedWorkCharged "failed-work-charged",
    /// x402 does not release the payments of work that has failed
    ReleaseLost "release-lost",
    /// x402 voids the payments of work that was done
    DoneWorkVoided "done-work-voided",
    /// x402 takes work for done that had not ended when the gateway was killed
    ReservationsKeptAtKill "reservations-kept-at-kill",
    /// one signed order in three is stored without its payment, which is not in its transaction
    PaymentNotInTransaction "payment-not-in-transaction",
    /// one signed order in three is not stored, and its payment is
    OrderNotInTransaction "order-not-in-transaction",
    /// the rewards of a day are not counted
    RewardCapNotCounted "reward-cap-not-counted",
    /// a referral that was paid is paid again
    RewardPaidAgain "reward-paid-again",
    /// what is paid for referrals is not counted against the budget
    BudgetNotCounted "budget-not-counted",
    /// the server forgets one COMMIT in twenty that it has answered
    ServerForgetsCommits "server-forgets-commits",
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
            | Self::VoucherNotChecked
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
            | Self::SignaturesNotVerified
            | Self::RelayForgetsCalls
            | Self::RelayCapsNotCounted => Workload::Payments,
            Self::VoucherNotChecked
            | Self::FailedWorkCharged
            | Self::ReleaseLost
            | Self::DoneWorkVoided
            | Self::ReservationsKeptAtKill
            | Self::PaymentNotInTransaction
            | Self::OrderNotInTransaction => Workload::Orders,
            Self::RewardCapNotCounted | Self::RewardPaidAgain | Self::BudgetNotCounted => Workload::Referrals,
            _ => Workload::Forum,
        }
    }
}
