//! Signed transactions before they are sent. Rule: one that no block of this chain will include is refused with the reason, because
//! its sender would wait for ever.

use super::RpcError;
use alloy_consensus::{Transaction as _, TxEnvelope, transaction::SignerRecoverable as _};
use alloy_eips::eip2718::Decodable2718 as _;
use alloy_primitives::{B256, U256, hex};
use serde_json::Value;

/// Nodes take no larger ones into their pools.
const BYTES_MAX: usize = 128 * 1024;
/// What servers say of a transaction that they have already.
const KNOWN: [&str; 4] = ["already known", "alreadyknown", "already imported", "known transaction"];

/// The hash of a transaction for this chain with at least this tip.
pub fn checked_transaction(raw: Option<&Value>, chain_id: u64, tip_min: U256) -> Result<B256, RpcError> {
    let wrong = |reason: String| RpcError::invalid_params(format!("params[0]: {reason}"));
    let text = raw.and_then(Value::as_str).filter(|raw| raw.starts_with("0x"));
    let text =
        text.ok_or_else(|| wrong("0x and the signed transaction in hexadecimal digits are needed".to_owned()))?;
    let bytes = hex::decode(text).map_err(|error| wrong(error.to_string()))?;
    if bytes.len() > BYTES_MAX {
        return Err(RpcError::refused(format!("oversized data: {} bytes, at most {BYTES_MAX} are sent", bytes.len())));
    }
    let envelope = TxEnvelope::decode_2718_exact(&bytes).map_err(|error| wrong(format!("no transaction: {error}")))?;
    match envelope.chain_id() {
        Some(id) if id == chain_id => {}
        Some(id) => return Err(RpcError::refused(format!("invalid chain id for signer: have {id} want {chain_id}"))),
        None => {
            let text = "only replay-protected transactions are sent: sign it for this chain (EIP-155)";
            return Err(RpcError::refused(format!("{text}, chain id {chain_id}")));
        }
    }
    let tip = U256::from(envelope.max_priority_fee_per_gas().unwrap_or_else(|| envelope.max_fee_per_gas()));
    if tip < tip_min {
        let text =
            format!("transaction underpriced: tip of {tip} wei per gas, and no signer includes less than {tip_min}");
        return Err(RpcError::refused(text));
    }
    envelope.recover_signer().map_err(|error| RpcError::refused(format!("invalid sender: {error}")))?;
    Ok(*envelope.tx_hash())
}

/// Whether an error says that the server has the transaction: sending it once more has succeeded, too.
pub fn is_known(error: &RpcError) -> bool {
    let message = error.message.to_lowercase();
    KNOWN.iter().any(|known| message.contains(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_has_a_transaction_says_so() {
        for message in
            ["already known", "AlreadyKnown", "ALREADY_EXISTS: already known", "transaction already imported"]
        {
            assert!(is_known(&RpcError::refused(message)), "{message}");
        }
        for message in ["nonce too low", "replacement transaction underpriced", "unknown account"] {
            assert!(!is_known(&RpcError::refused(message)), "{message}");
        }
    }

    #[test]
    fn nodes_take_no_larger_transaction() {
        let raw = Value::from(format!("0x02{}", "00".repeat(BYTES_MAX)));
        let refused = checked_transaction(Some(&raw), 1, U256::ZERO).err();
        assert!(refused.is_some_and(|error| error.code == -32000 && error.message.contains("oversized")));
    }
}
