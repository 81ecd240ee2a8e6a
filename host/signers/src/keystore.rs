//! Web3 keystore files (version 3).

use super::{key::Key, private_file};
use eth_keystore::{EthKeystore, KdfparamsType};
use std::path::Path;
use zeroize::Zeroizing;

/// Bytes of the derived key: 16 decrypt, 16 authenticate.
const DERIVED_BYTES: u8 = 32;
const IV_BYTES: usize = 16;
/// scrypt needs 128 · n · r bytes; wallets use n = 262144 and r = 8.
const SCRYPT_BYTES_MAX: u64 = 1 << 30;

/// Opens a keystore that holds a key. Errors name the files and never contain their text.
pub(crate) fn open(path: &Path, password_file: &Path) -> Result<Key, String> {
    Key::from_slice(&open_secret(path, password_file)?)
        .map_err(|_| format!("the keystore {} cannot be opened: what it holds is no key", path.display()))
}

/// What a keystore holds.
pub(crate) fn open_secret(path: &Path, password_file: &Path) -> Result<Zeroizing<Vec<u8>>, String> {
    let password = private_file::read(password_file)?;
    let error_text = |reason: &str| format!("the keystore {} cannot be opened: {reason}", path.display());
    let text = std::fs::read_to_string(path).map_err(|error| error_text(&error.to_string()))?;
    let keystore: EthKeystore = serde_json::from_str(&text)
        .map_err(|_: serde_json::Error| error_text("it is no Web3 keystore of version 3"))?;
    check_parameters(&keystore).map_err(|reason| error_text(&reason))?;
    let secret = eth_keystore::decrypt_key(path, &*password).map_err(|error| match error {
        eth_keystore::KeystoreError::MacMismatch => error_text("the password is another one"),
        other => error_text(&other.to_string()),
    })?;
    Ok(Zeroizing::new(secret))
}

/// Checks what the library relies on without checking it.
fn check_parameters(keystore: &EthKeystore) -> Result<(), String> {
    let crypto = &keystore.crypto;
    if crypto.cipher != "aes-128-ctr" {
        return Err("its cipher is not aes-128-ctr".to_owned());
    }
    let length = match &crypto.kdfparams {
        KdfparamsType::Pbkdf2 { dklen, prf, .. } if prf == "hmac-sha256" => *dklen,
        KdfparamsType::Pbkdf2 { .. } => return Err("its prf is not hmac-sha256".to_owned()),
        KdfparamsType::Scrypt { dklen, n, r, .. } => {
            let bytes = 128u64.saturating_mul(u64::from(*n)).saturating_mul(u64::from(*r));
            if !n.is_power_of_two() || bytes > SCRYPT_BYTES_MAX {
                return Err("its scrypt parameters are out of range".to_owned());
            }
            *dklen
        }
    };
    if length != DERIVED_BYTES || crypto.cipherparams.iv.len() != IV_BYTES {
        return Err("its parameters have other lengths than version 3 says".to_owned());
    }
    Ok(())
}
