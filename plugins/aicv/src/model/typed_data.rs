//! The EIP-712 document that a proof signs.

use super::document::Document;
use plugin_api::{Address, Hash256, handles::Environment};
use serde_json::{Value, json};

/// The fields of the struct `AgentCV`, in their order.
pub const FIELDS: [(&str, &str); 11] = [
    ("chainId", "uint256"),
    ("registry", "address"),
    ("agentId", "uint256"),
    ("subject", "address"),
    ("claimsRoot", "bytes32"),
    ("documentHash", "bytes32"),
    ("issuedAt", "uint64"),
    ("expiresAt", "uint64"),
    ("asOfBlock", "uint64"),
    ("asOfBlockHash", "bytes32"),
    ("uri", "string"),
];
pub const PRIMARY_TYPE: &str = "AgentCV";

/// What a proof signs: the domain and the message of one document.
#[derive(Clone, Debug)]
pub struct TypedData<'a> {
    pub domain_name: &'a str,
    pub chain_id: u64,
    /// The identity registry; where none is deployed, the registry of agents.
    pub verifying_contract: Address,
    pub registry: Address,
    pub document: &'a Document,
}

impl<'a> TypedData<'a> {
    pub fn new(environment: &Environment, domain_name: &'a str, document: &'a Document) -> Self {
        let registry = environment.contract("registry").unwrap_or(Address::ZERO);
        let verifying_contract = environment.contract("identity8004").unwrap_or(registry);
        Self { domain_name, chain_id: environment.chain_id, verifying_contract, registry, document }
    }

    /// `{domain, primaryType, types, message}`; `types` without `EIP712Domain`, as libraries of wallets want it.
    pub fn json(&self) -> Value {
        let fields: Vec<Value> = FIELDS.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect();
        let Self { domain_name, chain_id, verifying_contract, registry, document } = self;
        json!({
            "domain": {
                "name": domain_name,
                "version": "1",
                "chainId": chain_id,
                "verifyingContract": verifying_contract,
            },
            "primaryType": PRIMARY_TYPE,
            "types": { PRIMARY_TYPE: fields },
            "message": {
                "chainId": chain_id,
                "registry": registry,
                "agentId": document.agent_id,
                "subject": document.owner,
                "claimsRoot": document.claims_root,
                "documentHash": document.hash,
                "issuedAt": document.issued_at,
                "expiresAt": document.expires_at,
                "asOfBlock": document.as_of_block,
                "asOfBlockHash": document.as_of_block_hash,
                "uri": document.uri,
            },
        })
    }

    /// The same with `EIP712Domain` among the types, as the gateway's signer takes it.
    pub fn for_signer(&self) -> Value {
        let mut complete = self.json();
        complete["types"]["EIP712Domain"] = json!([
            { "name": "name", "type": "string" },
            { "name": "version", "type": "string" },
            { "name": "chainId", "type": "uint256" },
            { "name": "verifyingContract", "type": "address" },
        ]);
        complete
    }

    /// The hash that is signed.
    pub fn digest(&self) -> Hash256 {
        let domain = separator(self.domain_name, self.chain_id, self.verifying_contract);
        Hash256::keccak(&[&[0x19, 0x01], &domain.0[..], &self.struct_hash().0[..]].concat())
    }

    fn struct_hash(&self) -> Hash256 {
        let Self { chain_id, registry, document, .. } = self;
        let words = [
            Hash256::keccak(struct_type().as_bytes()),
            number(*chain_id),
            address(*registry),
            integer(document.agent_id.0),
            address(document.owner),
            document.claims_root,
            document.hash,
            integer(document.issued_at),
            integer(document.expires_at),
            integer(document.as_of_block),
            document.as_of_block_hash,
            Hash256::keccak(document.uri.as_bytes()),
        ];
        hash_words(&words)
    }
}

fn struct_type() -> String {
    let fields: Vec<String> = FIELDS.iter().map(|(name, kind)| format!("{kind} {name}")).collect();
    format!("{PRIMARY_TYPE}({})", fields.join(","))
}

fn separator(name: &str, chain_id: u64, contract: Address) -> Hash256 {
    let words = [
        Hash256::keccak(b"EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)"),
        Hash256::keccak(name.as_bytes()),
        Hash256::keccak(b"1"),
        number(chain_id),
        address(contract),
    ];
    hash_words(&words)
}

fn hash_words(words: &[Hash256]) -> Hash256 {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.0).collect();
    Hash256::keccak(&bytes)
}

fn number(value: u64) -> Hash256 {
    let mut word = [0; 32];
    word[24..].copy_from_slice(&value.to_be_bytes());
    Hash256(word)
}

fn integer(value: i64) -> Hash256 {
    number(u64::try_from(value).unwrap_or_default())
}

fn address(value: Address) -> Hash256 {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&value.0);
    Hash256(word)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// Vectors of the deployed contracts.
    #[test]
    fn type_and_domain_are_those_of_the_specification() {
        let type_hash = Hash256::keccak(struct_type().as_bytes()).to_string();
        assert_eq!(type_hash, "0x2b1d5586cb79ec2016ba2bbb89aba5c9ef7df081eb5bd673a0db2154c02efa62");
        let identity = "0xf3e8c83a0472602d04Cd774e3887cBAA76c62147".parse().unwrap();
        let domain = separator("Service AI-CV", 3961, identity).to_string();
        assert_eq!(domain, "0xa35c61ce58f2a2a630185580acdcfe0543da52f7f9c6f6dc1865b56afb644012");
    }
}
