//! Calls that run a contract. Rule: a server never runs one with more gas than the operator allows.

use super::RpcError;
use alloy_primitives::U256;
use serde_json::Value;

/// The parameters with a gas limit of at most `gas_max`, and with a block.
pub fn with_gas_cap(mut params: Vec<Value>, gas_max: u64) -> Result<Vec<Value>, RpcError> {
    let wrong = |reason: &str| RpcError::invalid_params(format!("params: {reason}"));
    let Some(Value::Object(call)) = params.first_mut() else {
        return Err(wrong("the call is an object"));
    };
    let gas = match call.get("gas") {
        None | Some(Value::Null) => U256::from(gas_max),
        Some(gas) => {
            let gas = gas.as_str().filter(|gas| gas.starts_with("0x")).and_then(|gas| gas.parse::<U256>().ok());
            gas.ok_or_else(|| wrong("gas is no number in hexadecimal digits"))?.min(U256::from(gas_max))
        }
    };
    call.insert("gas".to_owned(), format!("{gas:#x}").into());
    if params.get(1).is_none_or(Value::is_null) {
        params.truncate(1);
        params.push("latest".into());
    }
    Ok(params)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn gas_is_capped() {
        let capped = |params: Value| match params {
            Value::Array(params) => with_gas_cap(params, 1000).map_err(|error| error.code),
            _ => Err(0),
        };
        for (gas, expected) in [(json!("0x10"), "0x10"), (json!("0x3e9"), "0x3e8"), (json!(null), "0x3e8")] {
            assert_eq!(
                capped(json!([{ "to": "0x1", "gas": gas }, "0x7"])),
                Ok(vec![json!({ "to": "0x1", "gas": expected }), json!("0x7")])
            );
        }
        assert_eq!(capped(json!([{}])), Ok(vec![json!({ "gas": "0x3e8" }), json!("latest")]));
        for wrong in
            [json!([]), json!(["0x1"]), json!([{ "gas": 7 }]), json!([{ "gas": "7" }]), json!([{ "gas": "0xz" }])]
        {
            assert_eq!(capped(wrong), Err(-32602));
        }
    }
}
