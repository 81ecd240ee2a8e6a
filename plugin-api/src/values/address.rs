//! An account's address.

use abi_stable::StableAbi;
use alloy_primitives as alloy;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, Visitor},
};
use std::{borrow::Cow, cell::RefCell, fmt, str::FromStr};

/// 20 bytes; written checksummed (EIP-55), read in any case as `^0x[0-9a-fA-F]{40}$`.
///
/// ```
/// use plugin_api::Address;
///
/// let address: Result<Address, _> = "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaed".parse();
/// assert_eq!(address.map(|address| address.to_string()), Ok("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed".to_owned()));
/// ```
#[repr(transparent)]
#[derive(StableAbi, Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Address(pub [u8; 20]);

const EXPECTED: &str = "an address is 0x and 40 hex digits";

impl Address {
    /// The zero address, under which the network itself acts.
    pub const ZERO: Self = Self([0; 20]);
}

impl fmt::Display for Address {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        checksummed(*self, |text| out.write_str(text))
    }
}

impl FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits = text.strip_prefix("0x").filter(|digits| digits.len() == 40).ok_or(EXPECTED)?;
        let mut bytes = [0; 20];
        alloy::hex::decode_to_slice(digits, &mut bytes).map_err(|_: alloy::hex::FromHexError| EXPECTED)?;
        Ok(Self(bytes))
    }
}

impl Serialize for Address {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        checksummed(*self, |text| serializer.serialize_str(text))
    }
}

/// A direct-mapped cache per thread of checksummed texts, indexed by the address's last two bytes. A checksum costs a
/// keccak hash, and lists repeat few authors.
type ChecksumCache = Box<[Option<(Address, alloy::AddressChecksumBuffer)>]>;

const CHECKSUM_CACHE_SLOTS: usize = 1024;

thread_local! {
    static CHECKSUM_CACHE: RefCell<ChecksumCache> = RefCell::new((0..CHECKSUM_CACHE_SLOTS).map(|_| None).collect());
}

fn checksummed<T>(address: Address, write: impl FnOnce(&str) -> T) -> T {
    let compute = || alloy::Address::from(address.0).to_checksum_buffer(None);
    let index = usize::from(u16::from_be_bytes([address.0[18], address.0[19]])) % CHECKSUM_CACHE_SLOTS;
    let text = CHECKSUM_CACHE.try_with(|cache| {
        let mut cache = cache.try_borrow_mut().ok()?;
        let slot = cache.get_mut(index)?;
        if slot.as_ref().is_none_or(|(cached, _)| *cached != address) {
            *slot = Some((address, compute()));
        }
        slot.as_ref().map(|(_, text)| text.clone())
    });
    let text = text.ok().flatten().unwrap_or_else(compute);
    write(text.as_str())
}

impl<'de> Deserialize<'de> for Address {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Text;
        impl Visitor<'_> for Text {
            type Value = Address;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an address")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Address, E> {
                text.parse().map_err(E::custom)
            }
        }
        deserializer.deserialize_str(Text)
    }
}

impl JsonSchema for Address {
    fn schema_name() -> Cow<'static, str> {
        "Address".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{40}$", "description": "Address of an account" })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_written_checksummed() {
        let text = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
        assert_eq!(text.to_lowercase().parse::<Address>().unwrap().to_string(), text);
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "0x",
            "5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
            "0X5aaeb6053f3e94c9b9a09f33669435e7ef1beaed",
            "0x5aaeb6053f3e94c9b9a09f33669435e7ef1beaeg",
            "0x0x5aaeb6053f3e94c9b9a09f33669435e7ef1bea",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
