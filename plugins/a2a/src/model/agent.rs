//! An agent as it is called: its name in the path, and what a call costs.

use crate::error::A2aError;
use plugin_api::{Address, AgentId, Wei, payment::Price};
use serde::Deserialize;
use serde_json::{Map, Value};

#[derive(Clone, Debug, Deserialize)]
pub struct CallableAgent {
    pub agent_id: AgentId,
    pub owner: Address,
    pub endpoint: String,
    pub price_per_call: Option<Wei>,
    /// The card, where it may name a price that is no amount.
    pub unread_card: Option<String>,
}

impl CallableAgent {
    /// What a call costs. A card without a price is free; one whose price is no amount is an error, never free.
    pub fn price(&self) -> Result<Price, A2aError> {
        let Self { agent_id, owner, .. } = self;
        let amount = self.amount()?;
        Ok(Price { payee: Some(*owner), amount, description: format!("One call of agent {agent_id}") })
    }

    fn amount(&self) -> Result<Wei, A2aError> {
        let Some(card) = &self.unread_card else { return Ok(self.price_per_call.unwrap_or_default()) };
        let members: Map<String, Value> = serde_json::from_str(card).map_err(|_invalid| A2aError::UnreadablePrice)?;
        match members.get("pricePerCall") {
            None | Some(Value::Null) => Ok(Wei::ZERO),
            Some(_) => Err(A2aError::UnreadablePrice),
        }
    }

    /// The price was read before the payment. If it came into being in between, the call is refused.
    pub fn check_paid(&self, is_paid: bool) -> Result<(), A2aError> {
        if is_paid || self.price()?.is_free() { Ok(()) } else { Err(A2aError::UnreadablePrice) }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn agent(price: Option<u64>, unread_card: Option<&str>) -> CallableAgent {
        CallableAgent {
            agent_id: AgentId(7),
            owner: Address::ZERO,
            endpoint: String::new(),
            price_per_call: price.map(|price| price.to_string().parse().unwrap()),
            unread_card: unread_card.map(str::to_owned),
        }
    }

    #[test]
    fn a_price_that_is_no_amount_is_not_free() {
        for (agent, amount) in [
            (agent(None, None), 0),
            (agent(Some(0), None), 0),
            (agent(Some(5), None), 5),
            (agent(None, Some(r#"{"x":"\"pricePerCall\""}"#)), 0),
            (agent(None, Some(r#"{"pricePerCall":null}"#)), 0),
        ] {
            let price = agent.price().unwrap();
            assert_eq!((price.amount.to_string(), price.payee), (amount.to_string(), Some(Address::ZERO)));
            assert_eq!(agent.check_paid(false).is_ok(), amount == 0);
            assert!(agent.check_paid(true).is_ok());
        }
        for card in
            [r#"{"pricePerCall":"1.5"}"#, r#"{"pricePerCall":-1}"#, r#"{"pricePerCall":{}}"#, r#"{"pricePerCall":"#]
        {
            assert_eq!(agent(None, Some(card)).price(), Err(A2aError::UnreadablePrice), "{card}");
            assert_eq!(agent(None, Some(card)).check_paid(false), Err(A2aError::UnreadablePrice), "{card}");
        }
    }
}
