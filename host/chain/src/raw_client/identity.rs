//! Whether a result is of what was requested. The rule: a server that answers with another block, transaction or chain is treated
//! as one that does not answer.

use alloy_primitives::{B256, U64};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, value::RawValue};

#[derive(Deserialize)]
struct HasHash {
    hash: B256,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct HasTransactionHash {
    transaction_hash: B256,
}

#[derive(Deserialize)]
struct HasNumber {
    number: U64,
}

/// Null, "there is none", is believed of every method.
pub(crate) fn belongs(chain_id: u64, method: &str, params: &RawValue, result: &RawValue) -> bool {
    if result.get() == "null" {
        return true;
    }
    match method {
        "eth_chainId" => parsed::<U64>(result).is_some_and(|id| id == U64::from(chain_id)),
        "eth_getBlockByHash" | "eth_getTransactionByHash" => {
            parsed::<HasHash>(result).is_some_and(|result| Some(result.hash) == first(params))
        }
        "eth_getTransactionReceipt" => {
            parsed::<HasTransactionHash>(result).is_some_and(|result| Some(result.transaction_hash) == first(params))
        }
        // The number of "latest" and other names is the server's to say.
        "eth_getBlockByNumber" => match first::<U64>(params) {
            Some(number) => parsed::<HasNumber>(result).is_some_and(|result| result.number == number),
            None => true,
        },
        _ => true,
    }
}

fn parsed<T: DeserializeOwned>(result: &RawValue) -> Option<T> {
    serde_json::from_str(result.get()).ok()
}

/// The first parameter, if it is such a value.
fn first<T: DeserializeOwned>(params: &RawValue) -> Option<T> {
    let params: Vec<Value> = serde_json::from_str(params.get()).ok()?;
    params.into_iter().next().and_then(|first| serde_json::from_value(first).ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn is_believed(method: &str, params: &Value, result: &Value) -> bool {
        let raw = |value: &Value| RawValue::from_string(value.to_string()).unwrap();
        belongs(3961, method, &raw(params), &raw(result))
    }

    #[test]
    fn a_result_is_of_what_was_requested() {
        let (one, other) = (B256::with_last_byte(1), B256::with_last_byte(2));
        for method in ["eth_getBlockByHash", "eth_getTransactionByHash"] {
            assert!(is_believed(method, &json!([one, true]), &json!({ "hash": one, "number": "0x1" })));
            assert!(is_believed(method, &json!([one, true]), &json!(null)));
            assert!(!is_believed(method, &json!([one, true]), &json!({ "hash": other })));
            assert!(!is_believed(method, &json!([one, true]), &json!("0x1")));
        }
        assert!(is_believed("eth_getTransactionReceipt", &json!([one]), &json!({ "transactionHash": one })));
        assert!(!is_believed("eth_getTransactionReceipt", &json!([one]), &json!({ "transactionHash": other })));
        assert!(is_believed("eth_getBlockByNumber", &json!(["0x7", false]), &json!({ "number": "0x7" })));
        assert!(!is_believed("eth_getBlockByNumber", &json!(["0x7", false]), &json!({ "number": "0x8" })));
        assert!(is_believed("eth_getBlockByNumber", &json!(["latest", false]), &json!({ "number": "0x8" })));
        assert!(is_believed("eth_chainId", &json!([]), &json!("0xf79")));
        assert!(!is_believed("eth_chainId", &json!([]), &json!("0x1")));
        assert!(is_believed("eth_gasPrice", &json!([]), &json!("0x1")));
    }
}
