//! Requests that real client libraries signed; `tests/clients` generates these files.

use std::collections::BTreeSet;

use rstest::rstest;
use serde::Deserialize;

use super::super::{Brand, message, verify_signed_body};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    library: String,
    private_key: String,
    action: String,
    ts: u64,
    address: String,
    sig: String,
    message: String,
    canonical: String,
    /// The HTTP body as the client sent it.
    body: String,
}

#[rstest]
#[case::viem("viem 2.57.20", include_str!("../vectors/viem.jsonl"))]
#[case::ethers("ethers 6.17.0", include_str!("../vectors/ethers.jsonl"))]
#[case::eth_account("eth-account 0.14.0", include_str!("../vectors/eth_account.jsonl"))]
fn requests_of_real_clients_verify(#[case] library: &str, #[case] lines: &str) {
    let mut seen = BTreeSet::new();
    for line in lines.lines() {
        let vector: Vector = serde_json::from_str(line).unwrap();
        assert_eq!(vector.library, library);
        check(&vector);
        seen.insert((vector.private_key, vector.action, vector.canonical));
    }
    assert!(seen.len() >= 24, "only {} different requests", seen.len());
}

fn check(vector: &Vector) {
    let brand = Brand::default();
    let body = vector.body.as_bytes();
    let signed = verify_signed_body(&brand, &vector.action, body, vector.ts)
        .unwrap_or_else(|refusal| panic!("{refusal}\n{}\n{}", refusal.hint(), vector.body));
    assert_eq!(signed.signer.to_checksum(None), vector.address);
    assert_eq!(signed.ts_s, vector.ts);
    assert_eq!(signed.canonical(), vector.canonical);
    assert_eq!(
        message(brand.message_line(), &vector.action, &signed.signer, vector.ts, &vector.canonical),
        vector.message
    );
    assert!(vector.body.contains(&vector.sig));

    // The signature is not valid for another action.
    let refusal = verify_signed_body(&brand, "another.action", body, vector.ts).unwrap_err();
    assert_eq!(refusal.code(), Some("sig_mismatch"));
}
