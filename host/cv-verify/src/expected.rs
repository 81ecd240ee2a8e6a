//! What the verifier knows from elsewhere. The rule: none of it comes from the document or from who issued it.

use alloy_primitives::Address;
use gateway_audit_verify::strict_json;
use serde::Serialize;
use serde_json::{Map, Value};
use std::{collections::BTreeMap, str::FromStr};

/// Keys of contracts, and the other names that deployment files and documents have for them.
const KEYS: [(&str, &[&str]); 11] = [
    ("registry", &["agentRegistry"]),
    ("escrow", &["serviceEscrow"]),
    ("x402Vault", &[]),
    ("streamPay", &[]),
    ("arbiterPool", &[]),
    ("identity8004", &["identityRegistry", "identityRegistry8004"]),
    ("reputation8004", &["reputationRegistry", "reputationRegistry8004"]),
    ("validation8004", &["validationRegistry", "validationRegistry8004"]),
    ("tokenFactory", &["agentTokenFactory"]),
    ("memoryAnchor", &[]),
    ("endorsements", &[]),
];

const CHAIN_ID: u64 = 3961;

/// The key of a contract by any of its names.
pub(crate) fn key_of(name: &str) -> Option<&'static str> {
    KEYS.iter().find(|(key, others)| *key == name || others.contains(&name)).map(|(key, _)| *key)
}

/// The contracts that are pinned, by their key, and the chain that they are on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contracts {
    pub chain_id: u64,
    pub registry: Address,
    pinned: BTreeMap<&'static str, Address>,
}

/// Why a file with contracts cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ContractsError {
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    #[error("`{0}` is no address with a correct checksum")]
    NoAddress(String),
    #[error("the contract `{0}` is there twice, with two addresses")]
    Twice(&'static str),
    #[error("two contracts have one address: `{0}` and `{1}`")]
    Shared(&'static str, &'static str),
    #[error("`chainId` is no number")]
    ChainId,
    #[error("there is no `registry`")]
    NoRegistry,
}

impl FromStr for Contracts {
    type Err = ContractsError;

    /// Of a deployment file: an object with `chainId` (3961 where it is missing) and addresses by key, there or in its member `contracts`.
    /// Null and the zero address are contracts that are not deployed; other members mean nothing.
    fn from_str(text: &str) -> Result<Self, ContractsError> {
        let mut file: Map<String, Value> = strict_json::object(text).map_err(ContractsError::Unreadable)?;
        let nested = match file.remove("contracts") {
            Some(Value::Object(contracts)) => contracts,
            _ => Map::new(),
        };
        let chain_id = match file.get("chainId") {
            None => CHAIN_ID,
            Some(chain_id) => chain_id.as_u64().ok_or(ContractsError::ChainId)?,
        };
        let mut pinned: BTreeMap<&'static str, Address> = BTreeMap::new();
        for (name, value) in file.iter().chain(&nested) {
            let Some(key) = key_of(name).filter(|_| !value.is_null()) else { continue };
            let address = value.as_str().and_then(address).ok_or_else(|| ContractsError::NoAddress(name.clone()))?;
            if !address.is_zero() && pinned.insert(key, address).is_some_and(|other| other != address) {
                return Err(ContractsError::Twice(key));
            }
        }
        for (key, address) in &pinned {
            let shared = pinned.iter().find(|(other, same)| *other > key && *same == address);
            if let Some((other, _)) = shared {
                return Err(ContractsError::Shared(key, other));
            }
        }
        let registry = *pinned.get("registry").ok_or(ContractsError::NoRegistry)?;
        Ok(Self { chain_id, registry, pinned })
    }
}

impl Contracts {
    pub fn find(&self, key: &str) -> Option<Address> {
        self.pinned.get(key).copied()
    }

    /// The contract of the EIP-712 domain.
    pub fn verifying_contract(&self) -> Address {
        self.find("identity8004").unwrap_or(self.registry)
    }
}

/// An address in lower case or with a correct checksum.
pub(crate) fn address(text: &str) -> Option<Address> {
    let is_lower = !text.bytes().skip(2).any(|digit| digit.is_ascii_uppercase());
    let digits = text.strip_prefix("0x")?;
    if is_lower && digits.len() == 40 { text.parse().ok() } else { Address::parse_checksummed(text, None).ok() }
}

/// What a claim rests on; the later, the more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Trust {
    /// The agent says it of itself.
    #[default]
    SelfAttested,
    /// The gateway says it.
    Gateway,
    /// A log or a call proves it.
    Chain,
}

impl FromStr for Trust {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "chain" => Ok(Self::Chain),
            "gateway" => Ok(Self::Gateway),
            "self" | "selfAttested" => Ok(Self::SelfAttested),
            other => Err(format!("`{other}` is none of chain, gateway, self")),
        }
    }
}

/// What a credential is checked against.
#[derive(Clone, Debug)]
pub struct Expected {
    pub contracts: Contracts,
    /// Keys of gateways that are trusted to say what no log proves.
    pub issuers: Vec<Address>,
    /// Claims below it are dropped.
    pub trust: Trust,
    /// Of the EIP-712 domain.
    pub domain_name: String,
    /// Unix seconds.
    pub now_s: i64,
}

impl Expected {
    pub const DOMAIN_NAME: &str = "Service AI-CV";
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    const A: &str = "0xa94f27f18267d09349809f3e2aef8e7767033e8f";
    const B: &str = "0x99b331495951dB91857902de91EAe9Ff54d8a719";

    #[test]
    fn a_deployment_file_pins_contracts_by_key() {
        let text = format!(
            "{{\"chainId\":5,\"agentRegistry\":\"{A}\",\"escrow\":\"{B}\",\"deployBlock\":9,\"memoryAnchor\":null,\
             \"endorsements\":\"0x0000000000000000000000000000000000000000\",\"nft\":\"0x1\"}}"
        );
        let contracts: Contracts = text.parse().unwrap();
        assert_eq!((contracts.chain_id, contracts.registry), (5, A.parse().unwrap()));
        assert_eq!(contracts.find("escrow"), B.parse().ok());
        assert_eq!((contracts.find("memoryAnchor"), contracts.find("endorsements")), (None, None));
        assert_eq!(contracts.verifying_contract(), contracts.registry);
    }

    #[test]
    fn contracts_may_stand_in_a_member_of_their_own() {
        let nested: Contracts = format!("{{\"chainId\":5,\"contracts\":{{\"registry\":\"{A}\"}}}}").parse().unwrap();
        assert_eq!(nested.registry, A.parse::<Address>().unwrap());
        let twice = format!("{{\"registry\":\"{B}\",\"contracts\":{{\"registry\":\"{A}\"}}}}");
        assert_eq!(twice.parse::<Contracts>(), Err(ContractsError::Twice("registry")));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        let error = |text: String| text.parse::<Contracts>().unwrap_err();
        assert_eq!(error(format!("{{\"escrow\":\"{A}\"}}")), ContractsError::NoRegistry);
        assert_eq!(
            error(format!("{{\"registry\":\"{A}\",\"escrow\":\"{A}\"}}")),
            ContractsError::Shared("escrow", "registry")
        );
        assert_eq!(
            error(format!("{{\"registry\":\"{A}\",\"agentRegistry\":\"{B}\"}}")),
            ContractsError::Twice("registry")
        );
        let wrong = B.replace('B', "b");
        assert_eq!(error(format!("{{\"registry\":\"{wrong}\"}}")), ContractsError::NoAddress("registry".to_owned()));
        assert_eq!(error(format!("{{\"registry\":\"{A}\",\"chainId\":\"x\"}}")), ContractsError::ChainId);
        assert!(matches!(
            error(format!("{{\"registry\":\"{A}\",\"registry\":\"{B}\"}}")),
            ContractsError::Unreadable(_)
        ));
    }
}
