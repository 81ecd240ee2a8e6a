//! Responses that decide about money.
//!
//! The rule: two configured servers respond the same, or the request fails.

use super::Chain;
use plugin_api::{
    abi::{HostError, HostErrorCode},
    manifest::ChainMethod,
};
use serde_json::Value;

impl Chain {
    /// Sends the request to the servers in their order until two have responded.
    pub(super) async fn quorum_response(&self, request: ChainMethod) -> Result<Value, HostError> {
        if self.servers.len() < 2 {
            let reason = format!("only one is configured: add another to chains.{}.rpc", self.name);
            return Err(self.no_quorum(&reason));
        }
        let needs_block = matches!(request, ChainMethod::Head | ChainMethod::Finalized);
        let request = self.at_common_block(request)?;
        let response = self.same_response(request).await?;
        // A server in front of others may have told of a block that those which are asked now do not have yet.
        if needs_block && response.is_null() {
            return Err(self.no_quorum("they do not have the newest block yet"));
        }
        Ok(response)
    }

    async fn same_response(&self, request: ChainMethod) -> Result<Value, HostError> {
        let mut first: Option<(usize, Value)> = None;
        let mut last_error = None;
        for index in self.available() {
            match (self.pinned_to(index).respond(request.clone()).await, &first) {
                // No other server would accept it either.
                (Err(error), _) if error.is(HostErrorCode::Invalid) => return Err(error),
                (Err(error), _) => last_error = Some(error),
                (Ok(response), None) => first = Some((index, response)),
                (Ok(response), Some((_, other))) if is_same(&response, other) => return Ok(response),
                (Ok(_), Some((other, _))) => {
                    let (one, other) = (self.label(*other), self.label(index));
                    tracing::warn!(
                        chain = self.name,
                        one,
                        other,
                        "two RPC servers answer a question about money differently"
                    );
                    return Err(self.no_quorum(&format!("{one} and {other} answer differently")));
                }
            }
        }
        let reason = last_error.map_or_else(String::new, |error| format!(": {}", error.message));
        Err(self.no_quorum(&format!("fewer than two answer{reason}")))
    }

    /// Replaces "the newest block", which differs between servers, by the number of a block that two servers have.
    fn at_common_block(&self, request: ChainMethod) -> Result<ChainMethod, HostError> {
        let mut heads: Vec<u64> = self.reports().into_iter().filter_map(|report| report.head).collect();
        heads.sort_unstable();
        let newest = match heads.iter().rev().nth(1) {
            Some(head) => *head,
            None => self.require_head()?.number,
        };
        Ok(match request {
            ChainMethod::Head => ChainMethod::Block { number: newest },
            ChainMethod::Finalized => ChainMethod::Block { number: self.final_number(newest) },
            ChainMethod::Call { calls, block: None } => ChainMethod::Call { calls, block: Some(newest) },
            ChainMethod::Balance { address, block: None } => ChainMethod::Balance { address, block: Some(newest) },
            request => request,
        })
    }

    fn label(&self, index: usize) -> &str {
        self.servers.get(index).map_or("", |server| &server.label)
    }

    fn no_quorum(&self, reason: &str) -> HostError {
        let message = format!("chain {}: two RPC servers must agree on this, and {reason}", self.name);
        HostError::new(HostErrorCode::Unavailable, message)
    }
}

/// Compares two responses. Two reverts are the same: servers word the reason differently.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            let is_reverted = |value: &Value| value.get("reverted").is_some();
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
    fn reverts_with_different_reasons_are_the_same_response() {
        let reverted = |reason: &str| json!([{ "value": "1" }, { "reverted": reason }]);
        assert!(is_same(&reverted("execution reverted"), &reverted("VM Exception")));
        assert!(!is_same(&reverted("execution reverted"), &json!([{ "value": "1" }, { "value": "2" }])));
        assert!(!is_same(&json!("1"), &json!("2")));
    }
}
