//! What is signed and in no block: handed out, handed out again, replaced by a better offer.

use super::{
    Trouble,
    fees::{self, Fees},
    lane::{Lane, Turn},
    raw::Unsigned,
    row::{Attempt, IntentRow},
};
use crate::chain::RpcFailure;
use alloy_primitives::Bytes;
use plugin_api::manifest::TxState;

/// Offers that one turn makes when a server finds each too low.
const OFFERS_MAX: u32 = 8;
/// Blocks that pass a transaction by before it is replaced.
const BLOCKS_MIN: i64 = 2;

/// What servers said of a transaction.
#[derive(Debug, PartialEq, Eq)]
enum Reception {
    /// At least one has it.
    Taken,
    /// All that answered want more.
    TooLow,
    /// Nobody has it, and why.
    Refused(String),
}

impl Lane {
    pub(super) async fn pursue(&mut self, turn: &mut Turn) -> Result<(), Trouble> {
        let mut signed = std::mem::take(&mut turn.signed);
        let is_open = |intent: &&mut IntentRow| intent.is_pending();
        for intent in signed.iter_mut().filter(is_open) {
            if intent.nonce() >= turn.account.count {
                self.pursue_one(turn, intent).await?;
            }
        }
        turn.signed = signed;
        Ok(())
    }

    async fn pursue_one(&self, turn: &mut Turn, intent: &mut IntentRow) -> Result<(), Trouble> {
        let Some(newest) = turn.attempts_of(intent).last().copied().cloned() else {
            return Err(Trouble::Unsigned(format!("intent {} has a nonce and no transaction", intent.id)));
        };
        let is_next = intent.nonce() == turn.account.count;
        let now_ms = turn.now_ms;
        let age = |since_ms: i64| now_ms.saturating_sub(since_ms).unsigned_abs();
        let is_passed_by = i64::try_from(turn.account.block).unwrap_or(i64::MAX) >= newest.block + BLOCKS_MIN;
        if is_next && is_passed_by && age(newest.signed_ms) >= self.settings().replace_ms {
            let better = self.outbid(turn, intent, &newest).await?;
            if let Some(better) = better {
                return self.hand_out(turn, intent, better).await;
            }
        }
        let is_due = newest.sent_ms.is_none_or(|sent_ms| age(sent_ms) >= self.settings().resend_ms);
        if is_due || intent.state == TxState::Signed { self.hand_out(turn, intent, newest).await } else { Ok(()) }
    }

    /// Hands it out, and better offers while it is found too low.
    pub(super) async fn hand_out(
        &self,
        turn: &mut Turn,
        intent: &mut IntentRow,
        attempt: Attempt,
    ) -> Result<(), Trouble> {
        let mut attempt = attempt;
        for _ in 0..OFFERS_MAX {
            match reception(self.chain.hand_out(&attempt.raw).await) {
                Reception::Taken => {
                    self.store().sent(intent, attempt.hash, turn.now_ms).await?;
                    intent.state = TxState::Sent;
                    return Ok(());
                }
                Reception::TooLow => match self.outbid(turn, intent, &attempt).await? {
                    Some(better) => attempt = better,
                    None => {
                        let reason = format!(
                            "the RPC servers want a higher fee than tx.max_fee_gwei ({}) allows",
                            self.settings().max_fee_gwei
                        );
                        return self.store().explain(intent, &reason).await;
                    }
                },
                Reception::Refused(reason) => return self.store().explain(intent, &reason).await,
            }
        }
        Ok(())
    }

    /// Signs and stores a better offer with the same nonce; none at the operator's limit, or without the key.
    async fn outbid(
        &self,
        turn: &mut Turn,
        intent: &mut IntentRow,
        last: &Attempt,
    ) -> Result<Option<Attempt>, Trouble> {
        let last_fees = Fees { tip: last.tip_wei, max: last.max_fee_wei };
        let offer = fees::next(self.settings(), turn.account.base_fee, last_fees);
        let (Some(key), Some(fees)) = (&self.key, offer) else { return Ok(None) };
        let unsigned = Unsigned {
            chain_id: self.chain.chain_id,
            nonce: intent.nonce(),
            to: intent.target,
            value: intent.value_wei,
            data: &data(intent)?,
            gas: last.gas.unsigned_abs(),
            fees,
        };
        // Later than the one before, so that the order of signing is kept.
        let signed_ms = turn.now_ms.max(last.signed_ms + 1);
        let better = unsigned.sign(key, intent.id, turn.account.block, signed_ms).map_err(Trouble::Unsigned)?;
        self.store().replace(intent, self.place(), &better, turn.now_ms).await?;
        intent.state = TxState::Signed;
        turn.attempts.push(better.clone());
        let (nonce, tip) = (better.nonce, better.tip_wei);
        tracing::info!(intent = intent.id, nonce, %tip, hash = %better.hash, "a transaction is replaced by a better offer");
        Ok(Some(better))
    }
}

/// The call of an intent.
pub fn data(intent: &IntentRow) -> Result<Bytes, Trouble> {
    intent.data.parse().map_err(|_| Trouble::Unsigned(format!("the call of intent {} is not 0x…", intent.id)))
}

/// One server that has it is enough: it tells the others.
fn reception(answers: Vec<Result<(), RpcFailure>>) -> Reception {
    if answers.is_empty() {
        return Reception::Refused("no RPC server answers".to_owned());
    }
    let mut reception = Reception::TooLow;
    for answer in answers {
        match answer {
            Ok(()) => return Reception::Taken,
            Err(failure) => match text_of(&failure) {
                text if is_known(&text) => return Reception::Taken,
                text if is_too_low(&text) => {}
                _ => reception = Reception::Refused(format!("an RPC server refuses it: {failure}")),
            },
        }
    }
    reception
}

fn text_of(failure: &RpcFailure) -> String {
    if failure.is_refusal() { failure.to_string().to_lowercase() } else { String::new() }
}

/// In the words of geth, nethermind, erigon, besu and anvil.
fn is_known(text: &str) -> bool {
    ["already known", "known transaction", "already imported", "alreadyknown", "already in mempool"]
        .iter()
        .any(|words| text.contains(words))
}

fn is_too_low(text: &str) -> bool {
    ["underpriced", "fee too low", "feetoolow", "tip too low", "below the minimum", "gas price too low"]
        .iter()
        .any(|words| text.contains(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(message: &str) -> Result<(), RpcFailure> {
        Err(RpcFailure::Refused { code: -32000, message: message.to_owned(), data: None })
    }

    #[test]
    fn what_servers_say_is_understood() {
        assert_eq!(reception(vec![refused("already known"), refused("no")]), Reception::Taken);
        assert_eq!(reception(vec![refused("replacement transaction underpriced")]), Reception::TooLow);
        assert_eq!(reception(vec![refused("transaction underpriced: tip needed 1"), Ok(())]), Reception::Taken);
        let other = reception(vec![refused("nonce too low"), refused("transaction underpriced")]);
        assert!(matches!(&other, Reception::Refused(reason) if reason.contains("nonce too low")), "{other:?}");
        let silent = reception(vec![Err(RpcFailure::Garbage("already known".to_owned()))]);
        assert!(matches!(silent, Reception::Refused(_)), "only an answer counts: {silent:?}");
        assert!(matches!(reception(Vec::new()), Reception::Refused(_)));
    }
}
