//! What is sealed, and for which row.
//!
//! The rule: the associated data names the owner and the record, so that no row opens in another's place. Sealing and opening
//! happen outside of transactions.

use crate::model::{KeyReveal, MemoryKey};
use plugin_api::{Address, Hash256, HostError, HostErrorCode, HostHandle};

const VALUES: &str = "values";
const NAMES: &str = "names";
const RECORDS: &str = "records";
/// Tells the master keys apart.
const KEYS: &str = "keys";

/// Names the master key that seals now. Another one has another name.
pub async fn key_id(host: &HostHandle) -> Result<String, HostError> {
    let tag = host.secret(KEYS).hmac("which key seals").await?;
    Ok(hex::encode(tag.first_chunk::<8>().unwrap_or(&[0; 8])))
}

/// The tags under which a value's row may be: that of the newest master key first.
pub async fn name_tags(host: &HostHandle, owner: Address, key: &MemoryKey) -> Result<Vec<String>, HostError> {
    let tags = host.secret(NAMES).hmacs(format!("{owner} {key}")).await?;
    Ok(tags.into_iter().map(hex::encode).collect())
}

pub async fn seal_name(host: &HostHandle, owner: Address, tag: &str, key: &MemoryKey) -> Result<Vec<u8>, HostError> {
    host.secret(NAMES).seal(key.to_string(), of_name(owner, tag)).await
}

pub async fn open_name(host: &HostHandle, owner: Address, tag: &str, sealed: &[u8]) -> Result<MemoryKey, HostError> {
    let name = host.secret(NAMES).open(sealed, of_name(owner, tag)).await?;
    let name = String::from_utf8(name).ok().and_then(|name| MemoryKey::parse(&name).ok());
    name.ok_or_else(|| broken("a name is no name"))
}

pub async fn seal_value(host: &HostHandle, owner: Address, key: &MemoryKey, text: &str) -> Result<Vec<u8>, HostError> {
    host.secret(VALUES).seal(text, of_value(owner, key)).await
}

pub async fn open_value(
    host: &HostHandle,
    owner: Address,
    key: &MemoryKey,
    sealed: &[u8],
) -> Result<String, HostError> {
    let text = host.secret(VALUES).open(sealed, of_value(owner, key)).await?;
    String::from_utf8(text).map_err(|_not_text| broken("a value is no text"))
}

/// `None` when the newest key sealed it.
pub async fn reseal_value(
    host: &HostHandle,
    owner: Address,
    key: &MemoryKey,
    sealed: &[u8],
) -> Result<Option<Vec<u8>>, HostError> {
    host.secret(VALUES).reseal(sealed, of_value(owner, key)).await
}

pub async fn seal_reveal(host: &HostHandle, owner: Address, reveal: &KeyReveal) -> Result<Vec<u8>, HostError> {
    host.secret(RECORDS).seal(reveal.text(), of_record(owner, reveal.commit())).await
}

pub async fn open_reveal(
    host: &HostHandle,
    owner: Address,
    key_commit: Hash256,
    sealed: &[u8],
) -> Result<KeyReveal, HostError> {
    let text = host.secret(RECORDS).open(sealed, of_record(owner, key_commit)).await?;
    serde_json::from_slice(&text).map_err(|_shape| broken("what a record reveals has another shape"))
}

/// `None` when the newest key sealed it.
pub async fn reseal_reveal(
    host: &HostHandle,
    owner: Address,
    key_commit: Hash256,
    sealed: &[u8],
) -> Result<Option<Vec<u8>>, HostError> {
    host.secret(RECORDS).reseal(sealed, of_record(owner, key_commit)).await
}

fn of_name(owner: Address, tag: &str) -> String {
    format!("memory name {owner} {tag}")
}

fn of_value(owner: Address, key: &MemoryKey) -> String {
    format!("memory value {owner} {key}")
}

fn of_record(owner: Address, key_commit: Hash256) -> String {
    format!("memory record {owner} {key_commit}")
}

fn broken(message: &str) -> HostError {
    HostError::new(HostErrorCode::Internal, message)
}
