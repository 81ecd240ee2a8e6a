//! A voucher: who pays whom how much, once. Its key is payer and nonce, whatever form its signature has.

use super::{Names, names::address_word, number};
use crate::error::Malformed;
use alloy_primitives::U256;
use plugin_api::{Address, Hash256, Wei};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::sync::LazyLock;

/// Longer ones are no signatures of wallets that are contracts either, and a batch of 50 must fit into a transaction.
const SIGNATURE_BYTES_MAX: usize = 1024;
const KEY_SIGNATURE_BYTES: usize = 65;

/// The members that are signed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Voucher {
    pub payer: Address,
    pub payee: Address,
    pub amount: Wei,
    pub nonce: Wei,
    pub expiry_s: i64,
    pub reference: Hash256,
}

impl Voucher {
    pub fn parse(members: &Map<String, Value>) -> Result<Self, Malformed> {
        Ok(Self {
            payer: address("payer", members.get("payer"))?,
            payee: address("payee", members.get("payee"))?,
            amount: number::uint256("amount", members.get("amount"))?,
            nonce: number::uint256("nonce", members.get("nonce"))?,
            expiry_s: number::seconds("expiry", members.get("expiry"))?,
            reference: reference(members.get("ref"))?,
        })
    }

    /// The hash that the payer signs by EIP-712.
    pub fn digest(&self, names: &Names, vault: Address) -> Hash256 {
        let expiry = U256::from(self.expiry_s.unsigned_abs()).to_be_bytes::<32>();
        let words = [
            VOUCHER_TYPE_HASH.0,
            address_word(self.payer),
            address_word(self.payee),
            self.amount.0.to_be_bytes::<32>(),
            self.nonce.0.to_be_bytes::<32>(),
            expiry,
            self.reference.0,
        ];
        let message = Hash256::keccak(words.as_flattened());
        let text = [&[0x19, 0x01], names.domain_separator(vault).0.as_slice(), message.0.as_slice()].concat();
        Hash256::keccak(&text)
    }

    /// The tuple of the vault's functions.
    pub fn tuple(&self) -> Value {
        json!([self.payer, self.payee, self.amount, self.nonce, self.expiry_s, self.reference])
    }
}

/// As clients that sign by viem or ethers want them: without the domain's.
pub fn voucher_types() -> Value {
    let fields: Value = VOUCHER_FIELDS.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect();
    json!({ "Voucher": fields })
}

const VOUCHER_TYPE: &[u8] =
    b"Voucher(address payer,address payee,uint256 amount,uint256 nonce,uint64 expiry,bytes32 ref)";

static VOUCHER_TYPE_HASH: LazyLock<Hash256> = LazyLock::new(|| Hash256::keccak(VOUCHER_TYPE));

const VOUCHER_FIELDS: [(&str, &str); 6] = [
    ("payer", "address"),
    ("payee", "address"),
    ("amount", "uint256"),
    ("nonce", "uint256"),
    ("expiry", "uint64"),
    ("ref", "bytes32"),
];

fn address(member: &'static str, value: Option<&Value>) -> Result<Address, Malformed> {
    let text = value.and_then(Value::as_str).unwrap_or_default();
    text.parse().map_err(|problem: &str| Malformed::new(member, problem))
}

/// Up to 32 bytes, filled up with zeros on the left.
fn reference(value: Option<&Value>) -> Result<Hash256, Malformed> {
    let invalid = || Malformed::new("ref", "0x and up to 64 hex digits are needed, or nothing");
    let digits = match value {
        None | Some(Value::Null) => "",
        Some(Value::String(text)) if text.is_empty() => "",
        Some(Value::String(text)) => text.strip_prefix("0x").ok_or_else(invalid)?,
        Some(_) => return Err(invalid()),
    };
    if digits.len() > 64 {
        return Err(invalid());
    }
    format!("0x{:0>64}", digits.to_ascii_lowercase()).parse().map_err(|_: &str| invalid())
}

/// `0x` and the digits of 65 bytes or more, in lower case.
pub fn signature(value: Option<&Value>) -> Result<String, Malformed> {
    let text = value.and_then(Value::as_str).unwrap_or_default();
    let digits = text.strip_prefix("0x").unwrap_or_default();
    let is_hex = digits.len().is_multiple_of(2) && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !is_hex || !(KEY_SIGNATURE_BYTES..=SIGNATURE_BYTES_MAX).contains(&(digits.len() / 2)) {
        let problem =
            format!("0x and the hex digits of {KEY_SIGNATURE_BYTES} to {SIGNATURE_BYTES_MAX} bytes are needed");
        return Err(Malformed::new("signature", problem));
    }
    Ok(text.to_ascii_lowercase())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn parse(value: &Value) -> Result<Voucher, Malformed> {
        Voucher::parse(value.as_object().unwrap())
    }

    fn sample() -> Value {
        json!({
            "payer": "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf", "payee": "0x2222222222222222222222222222222222222222",
            "amount": "1000000000000000000", "nonce": 42, "expiry": "1900000000", "ref": "0xAB",
        })
    }

    #[test]
    fn a_voucher_is_read_and_normalised() {
        let voucher = parse(&sample()).unwrap();
        assert_eq!(voucher.payer.to_string(), "0x7E5F4552091A69125d5DfCb7b8C2659029395Bdf");
        assert_eq!((voucher.nonce.to_string().as_str(), voucher.expiry_s), ("42", 1_900_000_000));
        assert_eq!(voucher.reference.to_string(), format!("0x{}ab", "0".repeat(62)));
    }

    /// A vector of the deployed vault.
    #[test]
    fn the_hash_is_that_of_the_public_vector() {
        let reference = format!("0x{}", "33".repeat(32));
        let voucher =
            Voucher { reference: reference.parse().unwrap(), expiry_s: 1_900_000_000, ..parse(&sample()).unwrap() };
        let names = Names::new(&crate::Config::default(), 3961);
        let vault = "0x8751Cf7e29Fe588c61FDc53323438247198eaa57".parse().unwrap();
        let digest = "0x84593bb8a1b47b2b9321663cbb58a044cb3392c231da118941d5a4872d362885";
        assert_eq!(voucher.digest(&names, vault).to_string(), digest);
        assert_ne!(voucher.digest(&names, Address([9; 20])).to_string(), digest, "each vault has a domain of its own");
        assert_eq!(voucher.digest(&names, vault).to_string(), digest);
    }

    #[test]
    fn the_signed_type_has_the_published_fields() {
        let fields = VOUCHER_FIELDS.map(|(name, kind)| format!("{kind} {name}")).join(",");
        assert_eq!(String::from_utf8_lossy(VOUCHER_TYPE), format!("Voucher({fields})"));
    }

    #[test]
    fn a_missing_reference_is_zero() {
        for empty in [json!(null), json!(""), json!("0x"), json!("0x0")] {
            let mut value = sample();
            value["ref"] = empty;
            assert_eq!(parse(&value).unwrap().reference, Hash256([0; 32]));
        }
        let mut without = sample();
        without.as_object_mut().unwrap().remove("ref");
        assert_eq!(parse(&without).unwrap().reference, Hash256([0; 32]));
    }

    #[test]
    fn each_member_is_checked() {
        let wrong = [
            ("payer", json!("0x12")),
            ("payer", json!(null)),
            ("payee", json!(7)),
            ("amount", json!("x")),
            ("nonce", json!(-1)),
            ("expiry", json!("soon")),
            ("ref", json!("12")),
            ("ref", json!(7)),
            ("ref", json!(format!("0x{}", "1".repeat(65)))),
            ("ref", json!("0xzz")),
        ];
        for (member, value) in wrong {
            let mut voucher = sample();
            voucher[member] = value.clone();
            assert_eq!(parse(&voucher).unwrap_err().member, member, "{value}");
        }
    }

    #[test]
    fn signatures_have_65_bytes_or_more() {
        let of = |bytes: usize| signature(Some(&json!(format!("0x{}", "Ab".repeat(bytes)))));
        assert_eq!(of(65).unwrap(), format!("0x{}", "ab".repeat(65)));
        assert!(of(1024).is_ok());
        assert!(of(64).is_err() && of(1025).is_err());
        for value in [
            json!(null),
            json!("ab".repeat(65)),
            json!(format!("0x{}a", "ab".repeat(65))),
            json!(format!("0x{}", "zz".repeat(65))),
            json!(format!("0x{}zz", "ab".repeat(64))),
        ] {
            assert!(signature(Some(&value)).is_err(), "{value}");
        }
    }
}
