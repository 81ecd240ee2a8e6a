//! What a write stores, sealed and hashed before its transaction begins.

use super::sealed;
use crate::model::{HeaderDraft, KeyReveal, MemoryKey, Op};
use plugin_api::{Address, HostError, HostHandle};

/// A write of an address to one key.
pub struct Draft {
    pub owner: Address,
    /// Where the value may be, the newest first.
    pub tags: Vec<String>,
    pub key_id: String,
    pub header: HeaderDraft,
    pub key_nonce: String,
    pub sealed_key: Vec<u8>,
}

/// The sealed parts of a value's row.
pub struct SealedValue {
    pub name: Vec<u8>,
    pub value: Vec<u8>,
}

impl Draft {
    pub async fn put(
        host: &HostHandle,
        owner: Address,
        key: &MemoryKey,
        text: &str,
    ) -> Result<(Self, SealedValue), HostError> {
        let size = i64::try_from(text.len()).unwrap_or(i64::MAX);
        let draft = Self::new(host, owner, key, Op::Put, size, HeaderDraft::hash_of(text)).await?;
        let name = sealed::seal_name(host, owner, draft.tag(), key).await?;
        let value = sealed::seal_value(host, owner, key, text).await?;
        Ok((draft, SealedValue { name, value }))
    }

    pub async fn delete(host: &HostHandle, owner: Address, key: &MemoryKey) -> Result<Self, HostError> {
        Self::new(host, owner, key, Op::Del, 0, HeaderDraft::NOTHING).await
    }

    async fn new(
        host: &HostHandle,
        owner: Address,
        key: &MemoryKey,
        op: Op,
        size: i64,
        value_hash: plugin_api::Hash256,
    ) -> Result<Self, HostError> {
        let reveal = KeyReveal::new(key.clone())?;
        let (chain_id, key_commit) = (host.environment().chain_id, reveal.commit());
        Ok(Self {
            owner,
            tags: sealed::name_tags(host, owner, key).await?,
            key_id: sealed::key_id(host).await?,
            header: HeaderDraft { addr: owner, chain_id, key_commit, op, size, value_hash },
            sealed_key: sealed::seal_reveal(host, owner, &reveal).await?,
            key_nonce: reveal.nonce,
        })
    }

    /// Under which the value is stored from now on.
    pub fn tag(&self) -> &str {
        self.tags.first().map_or("", String::as_str)
    }
}
