//! Leaves, root, hash and digest, computed here once more from the specification alone: sorted members by hand, and another
//! implementation of EIP-712.

use alloy_dyn_abi::TypedData;
use alloy_primitives::{Address, B256, Signature, keccak256};
use plugin_testing::{Value, json};
use std::collections::BTreeMap;

/// RFC 8785, for documents without fractions beyond two decimals.
pub fn canonical(value: &Value) -> String {
    match value {
        Value::Object(members) => {
            // UTF-16 order, which is that of the bytes for the names that occur.
            let sorted: BTreeMap<&String, &Value> = members.iter().collect();
            let members: Vec<String> =
                sorted.iter().map(|(name, value)| format!("{}:{}", json!(name), canonical(value))).collect();
            format!("{{{}}}", members.join(","))
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(canonical).collect();
            format!("[{}]", items.join(","))
        }
        Value::Number(number) if number.is_f64() => {
            let text = number.to_string();
            text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
        }
        other => other.to_string(),
    }
}

fn without(value: &Value, names: &[&str]) -> Value {
    let mut copy = value.clone();
    names.iter().for_each(|name| {
        copy.as_object_mut().unwrap().remove(*name);
    });
    copy
}

pub fn leaf(claim: &Value) -> B256 {
    keccak256(canonical(&without(claim, &["leaf"])))
}

pub fn root(mut level: Vec<B256>) -> B256 {
    if level.is_empty() {
        return keccak256([]);
    }
    while level.len() > 1 {
        level = level.chunks(2).map(|pair| keccak256([pair[0], *pair.last().unwrap()].concat())).collect();
    }
    level[0]
}

pub fn document_hash(document: &Value) -> B256 {
    keccak256(canonical(&without(document, &["proof", "documentHash"])))
}

/// Whether hashes and root are those of what they cover.
pub fn assert_hashes(document: &Value) {
    let record = super::record(document);
    for claim in record {
        assert_eq!(claim["leaf"], json!(leaf(claim)), "{claim}");
        assert_eq!(claim["proven"], claim["evidence"]["proven"]);
        assert_eq!(claim["proven"], json!(claim["evidence"]["trust"] == "chain"));
    }
    assert_eq!(document["claimsRoot"], json!(root(record.iter().map(leaf).collect())));
    assert_eq!(document["documentHash"], json!(document_hash(document)));
}

/// The digest of a proof's typed data, and who signed it.
pub fn signer(proof: &Value) -> (B256, Option<Address>) {
    let mut typed_data = proof["eip712"].clone();
    typed_data["types"]["EIP712Domain"] = json!([
        { "name": "name", "type": "string" }, { "name": "version", "type": "string" },
        { "name": "chainId", "type": "uint256" }, { "name": "verifyingContract", "type": "address" },
    ]);
    let typed_data: TypedData = serde_json::from_value(typed_data).unwrap();
    let digest = typed_data.eip712_signing_hash().unwrap();
    let signature = proof["proofValue"].as_str().map(|text| text.parse::<Signature>().unwrap());
    (digest, signature.map(|signature| signature.recover_address_from_prehash(&digest).unwrap()))
}
