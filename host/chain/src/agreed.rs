//! Answers that decide about money.
//!
//! The rule: two servers of the operator's configuration say the same, or there is no answer.

use super::Chain;
use plugin_api::{
    abi::{HostError, HostErrorCode},
    manifest::ChainAsk,
};
use serde_json::Value;

impl Chain {
    /// Asks the servers in their order until two have answered.
    pub(super) async fn agreed_answer(&self, ask: ChainAsk) -> Result<Value, HostError> {
        if self.sources.len() < 2 {
            let reason = format!("only one is configured: add another to chains.{}.rpc", self.name);
            return Err(self.no_agreement(&reason));
        }
        let ask = self.at_one_block(ask)?;
        let mut first: Option<(usize, Value)> = None;
        let mut silent = None;
        for place in self.places() {
            match (self.seen_by(place).answer(ask.clone()).await, &first) {
                // The question itself is wrong.
                (Err(error), _) if error.is(HostErrorCode::Invalid) => return Err(error),
                (Err(error), _) => silent = Some(error),
                (Ok(answer), None) => first = Some((place, answer)),
                (Ok(answer), Some((_, other))) if is_same(&answer, other) => return Ok(answer),
                (Ok(_), Some((other, _))) => {
                    let (one, other) = (self.label(*other), self.label(place));
                    tracing::warn!(
                        chain = self.name,
                        one,
                        other,
                        "two RPC servers answer a question about money differently"
                    );
                    return Err(self.no_agreement(&format!("{one} and {other} answer differently")));
                }
            }
        }
        let reason = silent.map_or_else(String::new, |error| format!(": {}", error.message));
        Err(self.no_agreement(&format!("fewer than two answer{reason}")))
    }

    /// The question about a block that two servers have, where it would be about each one's newest.
    fn at_one_block(&self, ask: ChainAsk) -> Result<ChainAsk, HostError> {
        let mut heads: Vec<u64> = self.reports().into_iter().filter_map(|report| report.head).collect();
        heads.sort_unstable();
        let newest = match heads.iter().rev().nth(1) {
            Some(head) => *head,
            None => self.known_head()?.number,
        };
        Ok(match ask {
            ChainAsk::Head => ChainAsk::Block { number: newest },
            ChainAsk::Finalized => ChainAsk::Block { number: self.final_number(newest) },
            ChainAsk::Call { calls, block: None } => ChainAsk::Call { calls, block: Some(newest) },
            ChainAsk::Balance { address, block: None } => ChainAsk::Balance { address, block: Some(newest) },
            ask => ask,
        })
    }

    fn label(&self, place: usize) -> &str {
        self.sources.get(place).map_or("", |source| &source.label)
    }

    fn no_agreement(&self, reason: &str) -> HostError {
        let message = format!("chain {}: two RPC servers must agree on this, and {reason}", self.name);
        HostError::new(HostErrorCode::Unavailable, message)
    }
}

/// Servers word a revert differently.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            let is_reverted = |answer: &Value| answer.get("reverted").is_some();
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| one == other || is_reverted(one) && is_reverted(other))
        }
        _ => one == other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn answers_are_the_same_but_for_the_words_of_a_revert() {
        let reverted = |reason: &str| json!([{ "value": "1" }, { "reverted": reason }]);
        assert!(is_same(&reverted("execution reverted"), &reverted("VM Exception")));
        assert!(!is_same(&reverted("execution reverted"), &json!([{ "value": "1" }, { "value": "2" }])));
        assert!(!is_same(&json!("1"), &json!("2")));
    }
}
