//! The parameters of a call, by position. Rule: a server gets them as they were parsed here, so that it cannot read them otherwise.

use super::{Kind, Method, RpcError};
use serde_json::{Value, value::RawValue};

/// Of one `eth_getProof`: each is a path through a trie on the server's disk.
const PROOF_KEYS_MAX: usize = 32;
/// Of one `eth_feeHistory`.
const PERCENTILES_MAX: usize = 100;

pub fn positional(method: &Method, params: Option<&RawValue>) -> Result<Vec<Value>, RpcError> {
    let wrong = |reason: &str| RpcError::invalid_params(format!("params: {reason}"));
    let params: Vec<Value> = match params {
        None => Vec::new(),
        // As some libraries write that there are none.
        Some(params) if params.get() == "null" => Vec::new(),
        Some(params) if params.get().starts_with('[') => {
            serde_json::from_str(params.get()).map_err(|error| wrong(&error.to_string()))?
        }
        Some(_) => return Err(wrong("an array is needed, with the values by their position")),
    };
    let (least, most) = method.params;
    if params.len() < least {
        return Err(wrong(&format!("{} values, and {least} are needed", params.len())));
    }
    if params.iter().skip(most).any(|value| !value.is_null()) {
        let text = match method.kind {
            Kind::Call => "what a call changes of the state (overrides) is not served".to_owned(),
            _ => format!("{} values, and {} takes at most {most}", params.len(), method.name),
        };
        return Err(wrong(&text));
    }
    let is_longer = |position: usize, most: usize| {
        params.get(position).and_then(Value::as_array).is_some_and(|list| list.len() > most)
    };
    if method.kind == Kind::Proof && is_longer(1, PROOF_KEYS_MAX) {
        return Err(wrong(&format!("at most {PROOF_KEYS_MAX} keys are proven at a time")));
    }
    if method.kind == Kind::FeeHistory && is_longer(2, PERCENTILES_MAX) {
        return Err(wrong(&format!("at most {PERCENTILES_MAX} percentiles are told at a time")));
    }
    Ok(params.into_iter().take(most).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::model::method;
    use serde_json::json;

    fn parsed(name: &str, params: &str) -> Result<Vec<Value>, i64> {
        let raw: &RawValue = serde_json::from_str(params).unwrap();
        positional(method(name).unwrap(), Some(raw)).map_err(|error| error.code)
    }

    #[test]
    fn parameters_are_a_list_of_the_right_length() {
        assert_eq!(positional(method("eth_chainId").unwrap(), None), Ok(vec![]));
        assert_eq!(parsed("eth_chainId", "null"), Ok(vec![]));
        assert_eq!(parsed("eth_getBalance", "[\"0x1\", null]"), Ok(vec![json!("0x1"), json!(null)]));
        assert_eq!(parsed("eth_call", "[{}, \"latest\", null, null]"), Ok(vec![json!({}), json!("latest")]));
        for (name, params) in [
            ("eth_getBalance", "[]"),
            ("eth_getBalance", "{\"address\": \"0x1\"}"),
            ("eth_getBalance", "null"),
            ("eth_getBalance", "\"0x1\""),
            ("eth_getBalance", "[1, 2, 3]"),
            ("eth_chainId", "[1]"),
            ("eth_call", "[{}, \"latest\", {}]"),
            ("eth_estimateGas", "[{}, \"latest\", {\"0x1\": {\"balance\": \"0x1\"}}]"),
        ] {
            assert_eq!(parsed(name, params), Err(-32602), "{name} {params}");
        }
        assert_eq!(positional(method("eth_getBalance").unwrap(), None).map_err(|error| error.code), Err(-32602));
        let deep = format!("[{}{}]", "[".repeat(200), "]".repeat(200));
        assert_eq!(parsed("eth_getBalance", &deep), Err(-32602));
        let keys: Vec<u32> = (0..40).collect();
        assert_eq!(parsed("eth_getProof", &json!(["0x1", keys, "latest"]).to_string()), Err(-32602));
        let many: Vec<u32> = (0..101).collect();
        assert_eq!(parsed("eth_feeHistory", &json!(["0x1", "latest", many]).to_string()), Err(-32602));
    }
}
