//! The fields of a sign-up: the same in the challenge's query and in the signed body.

use super::{Contact, Platform};
use crate::error::WaitlistError;
use plugin_api::{Address, JsonSchema};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

const SEATS_MAX: i64 = 10;

/// As they are sent: numbers and truth values may be texts.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RawFields {
    /// Address that signs.
    #[serde(deserialize_with = "text")]
    address: Option<String>,
    /// `windows`, `linux` or `both`.
    #[serde(deserialize_with = "text")]
    platform: Option<String>,
    /// 1 to 10.
    #[serde(deserialize_with = "text")]
    seats: Option<String>,
    /// E-mail address or messaging handle. Kept with consent only, never public.
    #[serde(deserialize_with = "text")]
    contact: Option<String>,
    /// `true`, `1` or `on`: the contact may be kept.
    #[serde(deserialize_with = "text")]
    consent: Option<String>,
}

/// Decodes a text, a number or a boolean as text; null is `None`. Any other value becomes a text that no field accepts.
pub(super) fn text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    Ok(match Value::deserialize(from)? {
        Value::Null => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    })
}

/// Checked fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fields {
    pub address: Address,
    pub platform: Platform,
    pub seats: i64,
    pub contact: Option<Contact>,
    pub consent: bool,
}

impl RawFields {
    pub fn check(&self) -> Result<Fields, WaitlistError> {
        let address = address(self.address.as_deref().unwrap_or_default().trim())?;
        let platform = self.platform.as_deref().and_then(Platform::parse).ok_or(WaitlistError::Platform)?;
        let seats = self.seats.as_deref().and_then(seats).ok_or(WaitlistError::Seats)?;
        let contact = self.contact.as_deref().filter(|text| !text.trim().is_empty());
        let contact = contact.map(|text| Contact::parse(text).ok_or(WaitlistError::Contact)).transpose()?;
        let consent = matches!(self.consent.as_deref(), Some("true" | "1" | "on"));
        if contact.is_some() && !consent {
            return Err(WaitlistError::Consent);
        }
        Ok(Fields { address, platform, seats, contact, consent })
    }
}

fn seats(text: &str) -> Option<i64> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|seats| is_digits && (1..=SEATS_MAX).contains(seats))
}

/// Mixed case is a checksum (EIP-55) and must be correct.
fn address(text: &str) -> Result<Address, WaitlistError> {
    let address: Address = text.parse().map_err(|_: &str| WaitlistError::Address)?;
    if address == Address::ZERO {
        return Err(WaitlistError::Address);
    }
    let digits = text.get(2..).unwrap_or_default();
    let has = |is: fn(&u8) -> bool| digits.as_bytes().iter().any(is);
    let is_mixed = has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase);
    if is_mixed && address.to_string() != text { Err(WaitlistError::Checksum) } else { Ok(address) }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    const ADDRESS: &str = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";

    fn check(member: &str, value: Value) -> Result<Fields, WaitlistError> {
        let mut payload = json!({ "address": ADDRESS, "platform": "linux", "seats": 2 });
        payload[member] = value;
        serde_json::from_value::<RawFields>(payload).unwrap().check()
    }

    #[test]
    fn values_may_be_texts() {
        let fields = check("seats", json!("2")).unwrap();
        assert_eq!(check("seats", json!(2)).unwrap(), fields);
        assert_eq!(check("platform", json!("LINUX")).unwrap(), fields);
        assert_eq!(check("address", json!(ADDRESS.to_lowercase())).unwrap(), fields);
        assert_eq!(check("address", json!(format!("0x{}", ADDRESS[2..].to_uppercase()))).unwrap(), fields);
        for yes in [json!(true), json!("true"), json!(1), json!("1"), json!("on")] {
            assert!(check("consent", yes).unwrap().consent);
        }
        for no in [json!(false), json!("no"), json!(0), Value::Null, json!([true])] {
            assert!(!check("consent", no).unwrap().consent);
        }
    }

    #[test]
    fn values_of_another_type_are_refused() {
        for (member, value, error) in [
            ("address", Value::Null, WaitlistError::Address),
            ("platform", json!(1), WaitlistError::Platform),
            ("seats", json!(1.5), WaitlistError::Seats),
            ("seats", json!("+1"), WaitlistError::Seats),
            ("seats", Value::Null, WaitlistError::Seats),
        ] {
            assert_eq!(check(member, value.clone()), Err(error), "{member} {value}");
        }
    }
}
