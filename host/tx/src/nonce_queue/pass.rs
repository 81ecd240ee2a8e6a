//! What one pass over a nonce queue works on.

use crate::row::{Attempt, IntentRow};
use gateway_chain::Account;

pub(crate) struct Pass {
    pub now_ms: i64,
    pub account: Account,
    /// Intents that are signed, and neither final nor failed, in the order of nonces.
    pub signed: Vec<IntentRow>,
    pub attempts: Vec<Attempt>,
}

impl Pass {
    /// The transactions of an intent with its present nonce, oldest first.
    pub(crate) fn attempts_of(&self, intent: &IntentRow) -> Vec<&Attempt> {
        let is_of_intent = |attempt: &&Attempt| attempt.intent == intent.id && Some(attempt.nonce) == intent.nonce;
        self.attempts.iter().filter(is_of_intent).collect()
    }
}
