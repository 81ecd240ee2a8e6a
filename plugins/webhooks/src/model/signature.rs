//! Two families of headers over the same bytes: the service's own, and those of Standard Webhooks, which public libraries verify.

use super::delivery::DeliveryId;
use base64::{Engine as _, engine::general_purpose::STANDARD};

/// HMACs with one secret.
#[derive(Clone, Copy)]
pub struct Tags {
    /// Of the body.
    pub body: [u8; 32],
    /// Of [`message_to_sign`].
    pub message: [u8; 32],
}

/// What Standard Webhooks signs: the id, the time of the attempt and the body.
pub fn message_to_sign(id: DeliveryId, now_s: i64, body: &[u8]) -> Vec<u8> {
    [format!("whd_{id}.{now_s}.").as_bytes(), body].concat()
}

/// The headers of one attempt.
pub struct DeliveryHeaders<'a> {
    /// For example `X-Service`.
    pub prefix: &'a str,
    pub id: DeliveryId,
    pub event: &'a str,
    pub now_s: i64,
    /// With the secret, and with the one of before while that signs, too.
    pub tags: Vec<Tags>,
}

impl DeliveryHeaders<'_> {
    pub fn named(&self) -> Vec<(String, String)> {
        let Self { prefix, id, event, now_s, tags } = self;
        let standard: Vec<String> = tags.iter().map(|tags| format!("v1,{}", STANDARD.encode(tags.message))).collect();
        let mut headers = vec![
            ("content-type".to_owned(), "application/json".to_owned()),
            (format!("{prefix}-Event"), (*event).to_owned()),
            (format!("{prefix}-Delivery"), id.to_string()),
            ("webhook-id".to_owned(), format!("whd_{id}")),
            ("webhook-timestamp".to_owned(), now_s.to_string()),
            ("webhook-signature".to_owned(), standard.join(" ")),
        ];
        // A receiver compares the whole value, so that the signature of before has a header of its own.
        let own = ["Signature", "Signature-Old"].into_iter().zip(tags);
        headers
            .extend(own.map(|(name, tags)| (format!("{prefix}-{name}"), format!("sha256={}", hex::encode(tags.body)))));
        headers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(secrets: usize) -> Vec<(String, String)> {
        let tags = vec![Tags { body: [0xab; 32], message: [0; 32] }; secrets];
        DeliveryHeaders { prefix: "X-S", id: DeliveryId(7), event: "ping", now_s: 9, tags }.named()
    }

    #[test]
    fn the_signature_of_before_has_a_header_of_its_own() {
        let value = |headers: &[(String, String)], name: &str| {
            headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
        };
        let (one, two) = (headers(1), headers(2));
        let own = format!("sha256={}", "ab".repeat(32));
        assert_eq!(value(&one, "X-S-Signature"), Some(own.clone()));
        assert_eq!(value(&one, "X-S-Signature-Old"), None);
        assert_eq!(value(&two, "X-S-Signature-Old"), Some(own));
        let standard = "v1,AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=";
        assert_eq!(value(&one, "webhook-signature"), Some(standard.to_owned()));
        assert_eq!(value(&two, "webhook-signature"), Some(format!("{standard} {standard}")));
        assert_eq!(value(&two, "webhook-id"), Some("whd_7".to_owned()));
        assert_eq!(message_to_sign(DeliveryId(7), 9, b"{}"), b"whd_7.9.{}");
    }
}
