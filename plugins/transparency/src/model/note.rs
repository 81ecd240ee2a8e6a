//! Signature lines and verifier keys of signed notes (C2SP signed-note).

use super::hash::Hash;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

/// What a signature is of. The first line of the text keeps the two apart, so that one key can make both: no origin is
/// `cosignature/v1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignatureType {
    /// The text of the note.
    Note = 0x01,
    /// The same with the time (C2SP tlog-cosignature).
    Cosignature = 0x04,
}

/// A key with its name.
#[derive(Clone, Copy, Debug)]
pub struct LogKey<'a> {
    pub name: &'a str,
    pub public_key: &'a [u8],
}

impl LogKey<'_> {
    fn id(&self, signature_type: SignatureType) -> [u8; 4] {
        let hash = Sha256::new_with_prefix(self.name)
            .chain_update([b'\n', signature_type as u8])
            .chain_update(self.public_key)
            .finalize();
        let [a, b, c, d, ..] = Hash::from(hash);
        [a, b, c, d]
    }

    /// How verifiers are configured with the key.
    pub fn verifier_key(&self, signature_type: SignatureType) -> String {
        let encoded = STANDARD.encode([&[signature_type as u8], self.public_key].concat());
        format!("{}+{}+{encoded}", self.name, hex::encode(self.id(signature_type)))
    }

    pub fn signature_line(&self, signature: &[u8; 64]) -> String {
        self.line(SignatureType::Note, signature)
    }

    pub fn cosignature_line(&self, time_s: u64, signature: &[u8; 64]) -> String {
        self.line(SignatureType::Cosignature, &[&time_s.to_be_bytes()[..], signature].concat())
    }

    fn line(&self, signature_type: SignatureType, signature: &[u8]) -> String {
        let encoded = STANDARD.encode([&self.id(signature_type)[..], signature].concat());
        format!("— {} {encoded}\n", self.name)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The key of Go's sum.golang.org, whose verifier key is part of Go.
    #[test]
    fn a_known_key_has_its_known_verifier_key() {
        const SUM_GOLANG_ORG: &str = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
        let encoded = SUM_GOLANG_ORG.rsplit_once("033de0ae+").unwrap().1;
        let public_key = STANDARD.decode(encoded).unwrap();
        let key = LogKey { name: "sum.golang.org", public_key: &public_key[1..] };
        assert_eq!(key.verifier_key(SignatureType::Note), SUM_GOLANG_ORG);
        assert_ne!(key.id(SignatureType::Cosignature), key.id(SignatureType::Note));
    }
}
