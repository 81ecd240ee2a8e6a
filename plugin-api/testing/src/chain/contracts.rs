//! Contracts whose code a test writes. What they do follows from the chain's events alone, so a reorganisation undoes it, and a server that
//! is behind knows less of it.

use super::{block::Block, log::ScriptedLog, mempool::ScriptedTx};
use plugin_api::Address;

/// A contract on a scripted chain: see [`super::ScriptedChain::deploy`].
pub trait ScriptedContract: Send + Sync {
    /// The events of a transaction to the contract in a block of this time; `earlier` are those of the contract so far. Why it reverts,
    /// otherwise: gas estimates fail for the same reason.
    fn execute(&self, earlier: &[&ScriptedLog], tx: &ScriptedTx, time_s: u64) -> Result<Vec<ScriptedLog>, String>;

    /// What a call returns after these events; none when it reverts.
    fn call(&self, earlier: &[&ScriptedLog], data: &[u8]) -> Option<Vec<u8>>;
}

/// The events of a contract in these blocks, and then in these.
pub fn events_of<'b>(
    contract: Address,
    blocks: &'b [Block],
    newest: &'b [ScriptedLog],
) -> impl Iterator<Item = &'b ScriptedLog> {
    blocks.iter().flat_map(|block| &block.logs).chain(newest).filter(move |log| log.address == contract)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::chain::{blocks::Blocks, rpc};
    use plugin_api::Wei;
    use serde_json::{Value, json};

    const CONTRACT: &str = "counter";

    /// Counts its transactions, three at most.
    struct Counter;

    impl ScriptedContract for Counter {
        fn execute(&self, earlier: &[&ScriptedLog], _: &ScriptedTx, _: u64) -> Result<Vec<ScriptedLog>, String> {
            let counted = ScriptedLog::new(CONTRACT, "Counted(uint256 count)", &[json!(earlier.len() + 1)]);
            if earlier.len() < 3 { Ok(vec![counted]) } else { Err("it is full".to_owned()) }
        }

        fn call(&self, earlier: &[&ScriptedLog], _: &[u8]) -> Option<Vec<u8>> {
            u8::try_from(earlier.len()).ok().map(|count| vec![count])
        }
    }

    fn ask(blocks: &mut Blocks, lag: u64, method: &str, params: &Value) -> Result<Value, String> {
        rpc::call(blocks, lag, method, params).map_err(|(_, message)| message)
    }

    #[test]
    fn what_a_contract_does_follows_from_the_blocks_of_the_chain() {
        let (mut blocks, to, from) = (Blocks::new(1), super::super::log::address_of(CONTRACT), Address([7; 20]));
        blocks.contracts.insert(to, std::sync::Arc::new(Counter));
        for nonce in 0..4 {
            blocks.mempool.push(vec![ScriptedTx { to, value: Wei::ZERO, ..ScriptedTx::foreign(from, nonce) }]);
            blocks.mine(Vec::new());
        }
        let call = json!([{ "to": to, "data": "0x00000000" }, "latest"]);
        assert_eq!(ask(&mut blocks, 0, "eth_call", &call), Ok(json!("0x03")));
        assert_eq!(ask(&mut blocks, 2, "eth_call", &call), Ok(json!("0x02")), "a server that is behind knows less");
        assert_eq!(ask(&mut blocks, 0, "eth_estimateGas", &call), Err("execution reverted: it is full".to_owned()));
        let status = |blocks: &mut Blocks, nonce| {
            let hash = alloy_primitives::B256::from(ScriptedTx::foreign(from, nonce).hash);
            ask(blocks, 0, "eth_getTransactionReceipt", &json!([hash])).map(|receipt| receipt["status"].clone())
        };
        assert_eq!((status(&mut blocks, 2), status(&mut blocks, 3)), (Ok(json!("0x1")), Ok(json!("0x0"))));

        // Its events are not among those that a test has to mine again: its transactions wait, and make them again.
        assert!(blocks.reorg(3).is_empty());
        assert_eq!(ask(&mut blocks, 0, "eth_call", &call), Ok(json!("0x01")));
        blocks.mine(Vec::new());
        assert_eq!(ask(&mut blocks, 0, "eth_call", &call), Ok(json!("0x03")));
    }
}
