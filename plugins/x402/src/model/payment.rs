//! A payment in all the forms that clients send: base64 in either alphabet or raw JSON; of version 1, of version 2, or bare.

use super::{Voucher, voucher};
use crate::error::Malformed;
use base64::{
    Engine as _,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::{Map, Value};

/// Clients pad or not.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// A voucher with its signature, as a client presents it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Payment {
    /// `None`: not said.
    pub scheme: Option<String>,
    /// `None`: not said.
    pub network: Option<String>,
    pub voucher: Voucher,
    /// `0x…` in lower case.
    pub signature: String,
}

impl Payment {
    /// The value of a payment header.
    pub fn parse_header(text: &str) -> Result<Self, Malformed> {
        let text = text.trim();
        let json: Value = if text.starts_with('{') { json(text.as_bytes()) } else { json(&decode(text)?) }?;
        Self::parse(&json)
    }

    /// An object: `{scheme, network, payload: {voucher, signature}}`, `{voucher, signature}`, or version 2's
    /// `{x402Version: 2, accepted: {scheme, network, …}, payload: {voucher, signature}}`.
    pub fn parse(value: &Value) -> Result<Self, Malformed> {
        let members = object("payment", Some(value))?;
        let terms = match members.get("accepted") {
            Some(accepted) => object("accepted", Some(accepted))?,
            None => members,
        };
        let payload = match members.get("payload") {
            Some(payload) => object("payload", Some(payload))?,
            None => members,
        };
        Ok(Self {
            scheme: name("scheme", terms)?,
            network: name("network", terms)?,
            voucher: Voucher::parse(object("voucher", payload.get("voucher"))?)?,
            signature: voucher::signature(payload.get("signature"))?,
        })
    }
}

fn decode(text: &str) -> Result<Vec<u8>, Malformed> {
    let standard = text.replace('-', "+").replace('_', "/");
    BASE64
        .decode(standard)
        .map_err(|_: base64::DecodeError| Malformed::new("payment", "neither base64 nor a JSON object"))
}

fn json(bytes: &[u8]) -> Result<Value, Malformed> {
    serde_json::from_slice(bytes).map_err(|error| Malformed::new("payment", format!("no JSON: {error}")))
}

pub fn object<'v>(member: &'static str, value: Option<&'v Value>) -> Result<&'v Map<String, Value>, Malformed> {
    value.and_then(Value::as_object).ok_or_else(|| Malformed::new(member, "an object is needed"))
}

fn name(member: &'static str, members: &Map<String, Value>) -> Result<Option<String>, Malformed> {
    match members.get(member) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(name)) => Ok(Some(name.clone())),
        Some(_) => Err(Malformed::new(member, "a string is needed")),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use base64::engine::general_purpose;
    use proptest::prelude::*;
    use serde_json::json;

    fn bare() -> Value {
        json!({
            "voucher": {
                "payer": "0x7e5f4552091a69125d5dfcb7b8c2659029395bdf", "payee": "0x2222222222222222222222222222222222222222",
                "amount": "0xde0b6b3a7640000", "nonce": 42, "expiry": 1_900_000_000, "note": "~~~???>>>\u{e9}",
            },
            "signature": format!("0x{}", "ab".repeat(65)),
        })
    }

    #[test]
    fn all_forms_are_one_payment() {
        let expected = Payment::parse(&bare()).unwrap();
        assert_eq!((&expected.scheme, &expected.network), (&None, &None));
        let text = bare().to_string();
        let forms = [
            text.clone(),
            format!("  {text} "),
            general_purpose::STANDARD.encode(&text),
            general_purpose::STANDARD_NO_PAD.encode(&text),
            general_purpose::URL_SAFE.encode(&text),
            general_purpose::URL_SAFE_NO_PAD.encode(&text),
        ];
        for form in forms {
            assert_eq!(Payment::parse_header(&form).unwrap(), expected, "{form}");
        }
    }

    #[test]
    fn scheme_and_network_are_those_of_the_version() {
        let (named, v2_terms) =
            (json!({ "scheme": "a", "network": "b:1" }), json!({ "scheme": "c", "network": "d:2", "amount": "1" }));
        let v1 = json!({ "x402Version": 1, "scheme": named["scheme"], "network": named["network"], "payload": bare() });
        let v2 = json!({ "x402Version": 2, "accepted": v2_terms, "payload": bare(), "resource": { "url": "u" } });
        for (payment, scheme, network) in [(v1, "a", "b:1"), (v2, "c", "d:2")] {
            let payment = Payment::parse(&payment).unwrap();
            assert_eq!((payment.scheme.as_deref(), payment.network.as_deref()), (Some(scheme), Some(network)));
            assert_eq!(payment.voucher, Payment::parse(&bare()).unwrap().voucher);
        }
    }

    #[test]
    fn what_is_no_payment_is_malformed() {
        for text in [
            "",
            "{",
            "{}",
            "e30=",
            "[]",
            "null",
            "%%%",
            "eyJ",
            "{\"payload\":1}",
            "{\"voucher\":[],\"signature\":\"0x\"}",
        ] {
            assert!(Payment::parse_header(text).is_err(), "{text}");
        }
        for (member, value) in
            [("scheme", json!(1)), ("network", json!({})), ("accepted", json!("x")), ("payload", json!(null))]
        {
            let mut payment = bare();
            payment[member] = value;
            assert_eq!(Payment::parse(&payment).unwrap_err().member, member);
        }
    }

    proptest! {
        #[test]
        fn no_text_panics(text in ".*") {
            let _ = Payment::parse_header(&text);
            let _ = Payment::parse_header(&format!("{{{text}"));
        }

        #[test]
        fn no_member_panics(member in "payer|payee|amount|nonce|expiry|ref", value in "[0-9a-fx.+-]{0,90}", number in any::<f64>()) {
            for value in [json!(value), json!(number)] {
                let mut payment = bare();
                payment["voucher"][member.as_str()] = value;
                let _ = Payment::parse(&payment);
            }
        }

        #[test]
        fn numbers_come_back_as_they_were(words in any::<[u64; 4]>()) {
            let number = alloy_primitives::U256::from_limbs(words);
            for text in [number.to_string(), format!("{number:#x}")] {
                let mut payment = bare();
                payment["voucher"]["nonce"] = json!(text);
                prop_assert_eq!(Payment::parse(&payment).unwrap().voucher.nonce.0, number);
            }
        }
    }
}
