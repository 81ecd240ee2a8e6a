//! Whether an answer can change. Rule: what is about a block by its number is permanent only when no reorganisation can remove that
//! block any more, and "there is none" never is.

use alloy_primitives::{B256, U64};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct InBlock {
    block_number: Option<U64>,
}

/// `final_block` is the newest one that no reorganisation removes, by the gateway's own polls.
pub fn is_permanent(method: &str, params: &[Value], result: &[u8], final_block: Option<u64>) -> bool {
    if matches!(result, b"null" | b"[]") {
        return false;
    }
    let is_final = |number: U64| final_block.is_some_and(|last| number <= U64::from(last));
    match method {
        "eth_getBlockByHash" | "eth_getBlockTransactionCountByHash" | "eth_getTransactionByBlockHashAndIndex" => true,
        "eth_getLogs" => params.first().is_some_and(|filter| value::<B256>(filter.get("blockHash")).is_some()),
        "eth_getBlockByNumber" | "eth_getBlockTransactionCountByNumber" | "eth_getTransactionByBlockNumberAndIndex" => {
            value::<U64>(params.first()).is_some_and(is_final)
        }
        "eth_getTransactionByHash" | "eth_getTransactionReceipt" => {
            let found = serde_json::from_slice::<InBlock>(result).ok();
            found.and_then(|found| found.block_number).is_some_and(is_final)
        }
        _ => false,
    }
}

/// "latest" and the other names are no number.
fn value<T: DeserializeOwned>(json: Option<&Value>) -> Option<T> {
    serde_json::from_value(json?.clone()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn kept(method: &str, params: Value, result: &Value) -> bool {
        let Value::Array(params) = params else { return false };
        is_permanent(method, &params, result.to_string().as_bytes(), Some(100))
    }

    #[test]
    fn what_names_a_block_by_hash_cannot_change() {
        let hash = B256::with_last_byte(1);
        assert!(kept("eth_getBlockByHash", json!([hash, false]), &json!({ "number": "0xffff" })));
        assert!(!kept("eth_getBlockByHash", json!([hash, false]), &json!(null)));
        assert!(kept("eth_getLogs", json!([{ "blockHash": hash }]), &json!([{ "logIndex": "0x0" }])));
        assert!(!kept("eth_getLogs", json!([{ "blockHash": hash }]), &json!([])));
        assert!(!kept(
            "eth_getLogs",
            json!([{ "fromBlock": "0x1", "toBlock": "0x2" }]),
            &json!([{ "logIndex": "0x0" }])
        ));
    }

    #[test]
    fn what_names_a_block_by_number_cannot_change_once_that_is_final() {
        let block = json!({ "hash": B256::ZERO });
        assert!(kept("eth_getBlockByNumber", json!(["0x64", false]), &block));
        for later in ["0x65", "latest", "pending", "finalized", "safe", "earliest"] {
            assert!(!kept("eth_getBlockByNumber", json!([later, false]), &block), "{later}");
        }
        assert!(!is_permanent("eth_getBlockByNumber", &[json!("0x1"), json!(false)], b"{}", None));
    }

    #[test]
    fn a_transaction_cannot_change_once_its_block_is_final() {
        for method in ["eth_getTransactionByHash", "eth_getTransactionReceipt"] {
            assert!(kept(method, json!([B256::ZERO]), &json!({ "blockNumber": "0x64" })));
            assert!(!kept(method, json!([B256::ZERO]), &json!({ "blockNumber": "0x65" })));
            assert!(!kept(method, json!([B256::ZERO]), &json!({ "blockNumber": null })));
            assert!(!kept(method, json!([B256::ZERO]), &json!(null)));
        }
    }

    #[test]
    fn the_state_is_not_kept() {
        for method in ["eth_call", "eth_getBalance", "eth_blockNumber", "eth_gasPrice", "eth_getCode"] {
            assert!(!kept(method, json!(["0x1", "0x1"]), &json!("0x1")), "{method}");
        }
    }
}
