//! Every kind of claims that is emitted, as data: a file per plugin that states them.

mod agents;
mod aicv;
mod economy;
mod memory;
mod referrals;
mod x402;

use super::vocabulary::Kind;

/// Every kind that is emitted, in the order of the specification.
pub const KINDS: &[Kind] = &[
    agents::REGISTRATION,
    aicv::AGENT_STATE,
    agents::ESCROW_JOB,
    x402::X402_RECEIPT,
    x402::X402_PAYMENT,
    economy::STREAM,
    economy::STREAM_PAYMENT,
    economy::SUBSCRIPTION_PLAN,
    agents::FEEDBACK,
    agents::VALIDATION,
    economy::DISPUTE,
    aicv::ENDORSEMENT,
    memory::MEMORY_ANCHOR,
    economy::TOKEN_LAUNCH,
    referrals::REFERRAL,
    aicv::CONTRIBUTION,
    agents::RELIABILITY,
    agents::CAPABILITY,
];
