//! What is signed: the struct `AgentCV` by EIP-712.
//!
//! The rule: domain and types are ours. What the document says of them is compared, never used.

use alloy_primitives::{Address, B256, U256, keccak256};
use serde_json::{Map, Value, json};

const DOMAIN_TYPE: &str = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
const VERSION: &str = "1";
const PRIMARY_TYPE: &str = "AgentCV";
const FIELDS: [(&str, &str); 11] = [
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

/// Name, chain and contract that a signature is for.
#[derive(Clone, Debug)]
pub(crate) struct Domain<'d> {
    pub name: &'d str,
    pub chain_id: u64,
    pub verifying_contract: Address,
}

#[derive(Clone, Debug)]
pub(crate) struct AgentCv<'d> {
    pub chain_id: u64,
    pub registry: Address,
    pub agent_id: u64,
    pub subject: Address,
    pub claims_root: B256,
    pub document_hash: B256,
    pub issued_at: u64,
    pub expires_at: u64,
    pub as_of_block: u64,
    pub as_of_block_hash: B256,
    pub uri: &'d str,
}

fn number(number: u64) -> B256 {
    U256::from(number).into()
}

impl Domain<'_> {
    pub(crate) fn separator(&self) -> B256 {
        let words = [
            keccak256(DOMAIN_TYPE),
            keccak256(self.name),
            keccak256(VERSION),
            number(self.chain_id),
            self.verifying_contract.into_word(),
        ];
        keccak256(words.concat())
    }
}

fn type_hash() -> B256 {
    let fields: Vec<String> = FIELDS.iter().map(|(name, kind)| format!("{kind} {name}")).collect();
    keccak256(format!("{PRIMARY_TYPE}({})", fields.join(",")))
}

impl AgentCv<'_> {
    pub(crate) fn digest(&self, domain: &Domain<'_>) -> B256 {
        let words = [
            type_hash(),
            number(self.chain_id),
            self.registry.into_word(),
            number(self.agent_id),
            self.subject.into_word(),
            self.claims_root,
            self.document_hash,
            number(self.issued_at),
            number(self.expires_at),
            number(self.as_of_block),
            self.as_of_block_hash,
            keccak256(self.uri),
        ];
        keccak256([&[0x19, 0x01], &*[domain.separator(), keccak256(words.concat())].concat()].concat())
    }

    /// As `proof.eip712` must be, to the last letter.
    pub(crate) fn json(&self, domain: &Domain<'_>) -> Value {
        let types: Vec<Value> = FIELDS.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect();
        json!({
            "domain": {
                "name": domain.name, "version": VERSION, "chainId": domain.chain_id,
                "verifyingContract": domain.verifying_contract.to_checksum(None),
            },
            "primaryType": PRIMARY_TYPE,
            "types": { PRIMARY_TYPE: types },
            "message": {
                "chainId": self.chain_id, "registry": self.registry.to_checksum(None), "agentId": self.agent_id,
                "subject": self.subject.to_checksum(None), "claimsRoot": self.claims_root.to_string(),
                "documentHash": self.document_hash.to_string(), "issuedAt": self.issued_at, "expiresAt": self.expires_at,
                "asOfBlock": self.as_of_block, "asOfBlockHash": self.as_of_block_hash.to_string(), "uri": self.uri,
            },
        })
    }
}

/// The first member in which what a proof says differs from ours.
pub(crate) fn difference(stated: &Value, own: &Value) -> Option<String> {
    fn walk(path: &str, stated: &Value, own: &Value) -> Option<String> {
        match (stated, own) {
            (Value::Object(stated), Value::Object(own)) => {
                let nothing = Value::Null;
                let names: Map<String, Value> =
                    own.iter().chain(stated).map(|(name, _)| (name.clone(), Value::Null)).collect();
                names.keys().find_map(|name| {
                    // Without it some wallets do not sign, and it says nothing beyond the specification of EIP-712.
                    if path == "eip712.types" && name == "EIP712Domain" {
                        return (stated.get(name) != Some(&domain_type()) && stated.contains_key(name))
                            .then(|| format!("{path}.{name}"));
                    }
                    let path = format!("{path}.{name}");
                    match (stated.get(name), own.get(name)) {
                        (Some(stated), Some(own)) => walk(&path, stated, own),
                        (stated, own) => {
                            walk(&path, stated.unwrap_or(&nothing), own.unwrap_or(&nothing)).or(Some(path))
                        }
                    }
                })
            }
            _ if stated == own => None,
            _ => Some(path.to_owned()),
        }
    }
    walk("eip712", stated, own)
}

fn domain_type() -> Value {
    let fields = [("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")];
    fields.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloy_primitives::address;

    /// Vectors of the deployed contracts.
    #[test]
    fn type_and_separators_are_those_of_the_network() {
        assert_eq!(type_hash().to_string(), "0x2b1d5586cb79ec2016ba2bbb89aba5c9ef7df081eb5bd673a0db2154c02efa62");
        let identity = address!("0xf3e8c83a0472602d04Cd774e3887cBAA76c62147");
        let separator = |name| Domain { name, chain_id: 3961, verifying_contract: identity }.separator().to_string();
        assert_eq!(separator("Service AI-CV"), "0xa35c61ce58f2a2a630185580acdcfe0543da52f7f9c6f6dc1865b56afb644012");
        assert_eq!(separator("Ferminux AI-CV"), "0x9100deaf5f5ae2b13398567196d1d92450d57ece2e43d59d13a6890f4607aacc");
    }

    #[test]
    fn each_difference_of_typed_data_is_named() {
        let domain = Domain { name: "Service AI-CV", chain_id: 3961, verifying_contract: Address::repeat_byte(0xab) };
        let signed = AgentCv {
            chain_id: 3961,
            registry: Address::repeat_byte(1),
            agent_id: 7,
            subject: Address::repeat_byte(2),
            claims_root: B256::repeat_byte(3),
            document_hash: B256::repeat_byte(4),
            issued_at: 5,
            expires_at: 6,
            as_of_block: 7,
            as_of_block_hash: B256::ZERO,
            uri: "https://a.example",
        };
        let own = signed.json(&domain);
        assert_eq!(difference(&own, &own), None);
        let changed = |path: &str, value: Value| {
            let mut stated = own.clone();
            *stated.pointer_mut(path).unwrap() = value;
            difference(&stated, &own).unwrap()
        };
        assert_eq!(changed("/domain/chainId", json!(1)), "eip712.domain.chainId");
        assert_eq!(changed("/message/agentId", json!("7")), "eip712.message.agentId");
        assert_eq!(changed("/types/AgentCV/0/type", json!("uint64")), "eip712.types.AgentCV");
        let lower = own["domain"]["verifyingContract"].as_str().unwrap().to_lowercase();
        assert_eq!(changed("/domain/verifyingContract", json!(lower)), "eip712.domain.verifyingContract");
        let mut more = own.clone();
        more["note"] = json!("x");
        assert_eq!(difference(&more, &own).unwrap(), "eip712.note");
        more = own.clone();
        more["types"]["EIP712Domain"] = domain_type();
        assert_eq!(difference(&more, &own), None);
        more["types"]["EIP712Domain"][0]["type"] = json!("bytes");
        assert_eq!(difference(&more, &own).unwrap(), "eip712.types.EIP712Domain");
        assert_eq!(difference(&Value::Null, &own).unwrap(), "eip712");
    }
}
