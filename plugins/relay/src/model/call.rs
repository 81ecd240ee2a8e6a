//! A call of an account: what its owner or a session key signs.

use super::contracts::EXECUTE_WITH_SIG;
use plugin_api::{Address, Hash256, HostError, JsonSchema, Wei, chain::TransactionRequest};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, de};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Gas of a sponsored call: the most that its estimate may be, and what it is sent with.
pub const GAS_MAX: u64 = 300_000;
const KEY_SIGNATURE_BYTES: usize = 65;
/// Longer ones are no signatures of owners that are contracts either.
const SIGNATURE_BYTES_MAX: usize = 4096;

const DOMAIN_TYPE: &str = "EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)";
const EXECUTE_TYPE: &str = "Execute(address to,uint256 value,bytes32 dataHash,uint256 nonce,uint64 deadline)";
const FIELDS: [(&str, &str); 5] =
    [("to", "address"), ("value", "uint256"), ("dataHash", "bytes32"), ("nonce", "uint256"), ("deadline", "uint64")];

#[derive(Deserialize, JsonSchema)]
pub struct CallBody {
    /// An account that the factory made.
    pub account: Address,
    /// One of the allowed targets of `GET /api/relay`.
    pub to: Address,
    /// What the account pays, in wei.
    pub value: Option<Wei>,
    /// The calldata.
    pub data: Option<HexBytes>,
    /// Unix seconds until which the call is valid.
    pub deadline: Deadline,
    /// The signature of `Execute`.
    pub sig: Signature,
}

/// `0x…`
pub struct HexBytes(pub Vec<u8>);

/// An integer or its digits.
pub struct Deadline(pub i64);

/// `0x` and at least 65 bytes.
pub struct Signature(pub Vec<u8>);

impl<'de> Deserialize<'de> for HexBytes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(deserializer)?;
        let bytes = text.strip_prefix("0x").and_then(|digits| hex::decode(digits).ok());
        bytes.map(Self).ok_or_else(|| de::Error::custom("bytes are written as 0x and two hex digits for each"))
    }
}

impl JsonSchema for HexBytes {
    fn schema_name() -> Cow<'static, str> {
        "HexBytes".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^0x([0-9a-fA-F]{2})*$", "default": "0x" })
    }
}

impl<'de> Deserialize<'de> for Deadline {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let seconds = match Value::deserialize(deserializer)? {
            Value::Number(number) => number.as_i64(),
            Value::String(text) if text.bytes().all(|byte| byte.is_ascii_digit()) => text.parse().ok(),
            _ => None,
        };
        let is_time = |seconds: &i64| *seconds >= 0;
        let expected = || de::Error::custom("deadline is a number of Unix seconds, or its digits");
        seconds.filter(is_time).map(Self).ok_or_else(expected)
    }
}

impl JsonSchema for Deadline {
    fn schema_name() -> Cow<'static, str> {
        "Deadline".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "minimum": 0, "pattern": "^[0-9]{1,19}$" })
    }
}

impl<'de> Deserialize<'de> for Signature {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let HexBytes(bytes) = HexBytes::deserialize(deserializer)?;
        if (KEY_SIGNATURE_BYTES..=SIGNATURE_BYTES_MAX).contains(&bytes.len()) {
            return Ok(Self(bytes));
        }
        let range = format!("{KEY_SIGNATURE_BYTES} to {SIGNATURE_BYTES_MAX} bytes");
        Err(de::Error::custom(format!("sig has {} bytes, and {range} are needed", bytes.len())))
    }
}

impl JsonSchema for Signature {
    fn schema_name() -> Cow<'static, str> {
        "CallSignature".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^0x([0-9a-fA-F]{2}){65,4096}$" })
    }
}

/// A call with its signature.
#[derive(Clone, Debug)]
pub struct Call {
    pub account: Address,
    pub to: Address,
    pub value: Wei,
    pub data: Vec<u8>,
    pub deadline: i64,
    pub signature: Vec<u8>,
}

impl From<CallBody> for Call {
    fn from(body: CallBody) -> Self {
        let CallBody { account, to, value, data, deadline, sig } = body;
        let data = data.map(|HexBytes(bytes)| bytes).unwrap_or_default();
        Self { account, to, value: value.unwrap_or_default(), data, deadline: deadline.0, signature: sig.0 }
    }
}

impl Call {
    /// What identifies the call but for the nonce, which a request does not have.
    pub fn tuple(&self) -> Hash256 {
        let (value, deadline) = (self.value.0.to_be_bytes::<32>(), self.deadline.to_be_bytes());
        let parts: [&[u8]; 5] = [&self.account.0, &self.to.0, &value, &self.data_hash().0, &deadline];
        Hash256::keccak(&parts.concat())
    }

    pub fn signature_hash(&self) -> Hash256 {
        Hash256::keccak(&self.signature)
    }

    /// What is signed (EIP-712).
    pub fn digest(&self, domain_name: &str, chain_id: u64, nonce: Wei) -> Hash256 {
        let number = |number: u64| alloy_primitives::U256::from(number).to_be_bytes::<32>();
        let domain = words(&[
            Hash256::keccak(DOMAIN_TYPE.as_bytes()).0,
            Hash256::keccak(domain_name.as_bytes()).0,
            Hash256::keccak(b"1").0,
            number(chain_id),
            word(self.account),
        ]);
        let execute = words(&[
            Hash256::keccak(EXECUTE_TYPE.as_bytes()).0,
            word(self.to),
            self.value.0.to_be_bytes::<32>(),
            self.data_hash().0,
            nonce.0.to_be_bytes::<32>(),
            number(self.deadline.unsigned_abs()),
        ]);
        let parts: [&[u8]; 3] = [&[0x19, 0x01], &domain.0, &execute.0];
        Hash256::keccak(&parts.concat())
    }

    /// The same as a document, to recover the signer from.
    pub fn typed_data(&self, domain_name: &str, chain_id: u64, nonce: Wei) -> Value {
        let domain =
            [("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")];
        let fields = |fields: &[(&str, &str)]| -> Value {
            fields.iter().map(|(name, kind)| json!({ "name": name, "type": kind })).collect()
        };
        json!({
            "types": { "EIP712Domain": fields(&domain), "Execute": fields(&FIELDS) },
            "primaryType": "Execute",
            "domain": {
                "name": domain_name, "version": "1", "chainId": chain_id, "verifyingContract": self.account,
            },
            "message": {
                "to": self.to, "value": self.value, "dataHash": self.data_hash(), "nonce": nonce, "deadline": self.deadline,
            },
        })
    }

    /// The signature as text when a key may have made it.
    pub fn key_signature(&self) -> Option<String> {
        let is_of_key = self.signature.len() == KEY_SIGNATURE_BYTES;
        is_of_key.then(|| format!("0x{}", hex::encode(&self.signature)))
    }

    /// The transaction, which the journal knows by `key`.
    pub fn request(&self, role: &str, key: String) -> Result<TransactionRequest, HostError> {
        let bytes = |bytes: &[u8]| json!(format!("0x{}", hex::encode(bytes)));
        let arguments =
            [json!(self.to), json!(self.value), bytes(&self.data), json!(self.deadline), bytes(&self.signature)];
        Ok(TransactionRequest::new(role, key, self.account).call(EXECUTE_WITH_SIG, &arguments)?.gas(GAS_MAX))
    }

    fn data_hash(&self) -> Hash256 {
        Hash256::keccak(&self.data)
    }
}

/// The fields of what is signed, as names and types.
pub fn execute_fields() -> impl Iterator<Item = (&'static str, &'static str)> {
    FIELDS.into_iter()
}

fn word(address: Address) -> [u8; 32] {
    let mut word = [0; 32];
    word[12..].copy_from_slice(&address.0);
    word
}

fn words(words: &[[u8; 32]]) -> Hash256 {
    Hash256::keccak(words.as_flattened())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn body(change: impl FnOnce(&mut Value)) -> Result<Call, String> {
        let mut body = json!({
            "account": "0x1111111111111111111111111111111111111111", "to": "0x2222222222222222222222222222222222222222",
            "deadline": 1_900_000_000, "sig": format!("0x{}", "ab".repeat(65)),
        });
        change(&mut body);
        serde_json::from_value::<CallBody>(body).map(Call::from).map_err(|error| error.to_string())
    }

    #[test]
    fn value_and_data_may_be_missing() {
        let call = body(|_| ()).unwrap();
        assert_eq!((call.value, call.data.len(), call.deadline), (Wei::ZERO, 0, 1_900_000_000));
        let call = body(|body| {
            body["value"] = "7".into();
            body["data"] = "0xAbcd".into();
            body["deadline"] = "1900000001".into();
        })
        .unwrap();
        assert_eq!((call.value, &*call.data, call.deadline), (Wei::from(7), &[0xab, 0xcd][..], 1_900_000_001));
    }

    #[test]
    fn other_members_are_refused() {
        let short = format!("0x{}", "ab".repeat(64));
        for (member, value, problem) in [
            ("value", json!("-1"), "amount in wei"),
            ("data", json!("abcd"), "0x and two hex digits"),
            ("data", json!("0xabc"), "0x and two hex digits"),
            ("deadline", json!(-1), "Unix seconds"),
            ("deadline", json!("1e9"), "Unix seconds"),
            ("deadline", json!("+1900000000"), "Unix seconds"),
            ("deadline", json!(null), "Unix seconds"),
            ("sig", json!(short), "sig has 64 bytes"),
            ("account", json!("0x11"), "address"),
        ] {
            let refused = body(|body| body[member] = value.clone()).unwrap_err();
            assert!(refused.contains(problem), "{member} {value}: {refused}");
        }
    }

    #[test]
    fn the_type_hash_is_the_contract_s() {
        let hash = Hash256::keccak(EXECUTE_TYPE.as_bytes()).to_string();
        assert_eq!(hash, "0x11306b1cb974e0334f482a0d2356188c6b608a14fee3f02e203a16033e1dbfdd");
        let signed: Vec<String> = execute_fields().map(|(name, kind)| format!("{kind} {name}")).collect();
        assert_eq!(EXECUTE_TYPE, format!("Execute({})", signed.join(",")));
    }

    #[test]
    fn the_digest_is_of_all_members_and_the_tuple_of_all_but_the_nonce() {
        let call = body(|_| ()).unwrap();
        let digest = |call: &Call, nonce: u64| call.digest("ServiceAgentAccount", 3961, Wei::from(nonce));
        let mut others = vec![call.clone(); 5];
        others[0].account.0[0] = 9;
        others[1].to.0[0] = 9;
        others[2].value = Wei::from(1);
        others[3].data = vec![1];
        others[4].deadline += 1;
        for other in &others {
            assert_ne!(digest(other, 0), digest(&call, 0));
            assert_ne!(other.tuple(), call.tuple());
        }
        assert_ne!(digest(&call, 0), digest(&call, 1));
        let resigned = Call { signature: vec![7; 66], ..call.clone() };
        assert_eq!((digest(&resigned, 0), resigned.tuple()), (digest(&call, 0), call.tuple()));
        assert_ne!(resigned.signature_hash(), call.signature_hash());
        assert!(resigned.key_signature().is_none() && call.key_signature().is_some());
    }
}
