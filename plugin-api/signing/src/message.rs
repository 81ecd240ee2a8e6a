//! The five lines that a wallet signs, and their EIP-191 digest.
//!
//! Rule: these bytes are a contract with every client: no trailing line feed, a lower-case hash without `0x`, an EIP-55
//! address.

use alloy_primitives::{Address, eip191_hash_message};
use sha2::{Digest as _, Sha256};

/// The first line, unless a deployment has another one ([`message`] takes any).
pub const MESSAGE_LINE: &str = "Service Commons";

/// `body_text` is the canonical JSON of the payload, or the constant that a signed read hashes.
#[must_use]
pub fn message(message_line: &str, action: &str, address: &Address, ts_s: u64, body_text: &str) -> String {
    let body_hash = hex::encode(Sha256::digest(body_text.as_bytes()));
    let address = address.to_checksum_buffer(None);
    format!("{message_line}\naction: {action}\naddress: {}\nts: {ts_s}\nbody: {body_hash}", address.as_str())
}

/// The hash that `personal_sign` signs for this message.
#[must_use]
pub fn digest(message: &str) -> [u8; 32] {
    eip191_hash_message(message).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy_primitives::address;

    #[test]
    fn five_lines_and_no_trailing_line_feed() {
        let signer = address!("0xd8da6bf26964af9d7eed9e03e53415d37aa96045");
        assert_eq!(
            message("Service Commons", "inbox.read", &signer, 1_700_000_000, "{}"),
            "Service Commons\naction: inbox.read\naddress: 0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045\nts: 1700000000\n\
             body: 44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
        );
        let of_nothing = message("Service Commons", "memory.get", &signer, 0, "");
        assert!(of_nothing.ends_with("ts: 0\nbody: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
    }

    #[test]
    fn digest_is_eip_191() {
        // The well-known digest of "hello" under personal_sign.
        assert_eq!(hex::encode(digest("hello")), "50b2c43fd39106bafbba0da34fc430e1f91e3c96ea2acee2bc34119f92b37750");
    }
}
