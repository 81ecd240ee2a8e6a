//! Headers and hashes of blocks by number, and the common ancestor after a reorganisation.
//!
//! The rule: a block counts as missing from the chain only when every server says so.

use super::{
    Chain, ChainError, Header,
    error::RpcError,
    rpc_server::{RpcServer, block_by_number, hex_number},
};
use alloy_primitives::B256;
use serde::Deserialize;

#[derive(Deserialize)]
struct BlockHash {
    hash: B256,
}

impl Chain {
    /// The headers of these blocks on the server's current branch, up to the first block that it lacks.
    pub async fn headers(&self, numbers: &[u64]) -> Result<Vec<Header>, ChainError> {
        self.with_failover(|server| headers(server, numbers)).await
    }

    /// The hashes of these blocks; `None` where the server lacks the block.
    pub async fn block_hashes(&self, numbers: &[u64]) -> Result<Vec<Option<B256>>, ChainError> {
        if numbers.is_empty() {
            return Ok(Vec::new());
        }
        self.with_failover(|server| async move {
            let requests = numbers.iter().map(|number| block_by_number(hex_number(*number))).collect();
            let hash = |response: Result<Option<BlockHash>, RpcError>| Ok(response?.map(|block| block.hash));
            server.batch(requests).await?.into_iter().map(hash).collect()
        })
        .await
    }

    /// The newest of these blocks (newest first) that is part of the chain; `None` when every server says that none is.
    pub async fn common_ancestor(&self, blocks: &[(u64, B256)]) -> Result<Option<(u64, B256)>, ChainError> {
        let numbers: Vec<u64> = blocks.iter().rev().map(|(number, _)| *number).collect();
        let mut on_other_branch = Vec::new();
        for server in self.servers.iter().filter(|server| !server.is_quarantined()) {
            match headers(server, &numbers).await {
                Ok(found) => match newest_common(blocks, &found) {
                    Some(block) => {
                        let error = RpcError::Inconsistent("has none of the blocks that the others have".to_owned());
                        on_other_branch.iter().for_each(|other: &&RpcServer| other.request_failed(&error));
                        return Ok(Some(block));
                    }
                    None => on_other_branch.push(server),
                },
                Err(error) => server.request_failed(&error),
            }
        }
        if on_other_branch.len() == self.servers.len() { Ok(None) } else { Err(self.unavailable()) }
    }
}

fn newest_common(blocks: &[(u64, B256)], found: &[Header]) -> Option<(u64, B256)> {
    let is_found = |block: &&(u64, B256)| found.iter().any(|header| (header.number, header.hash) == **block);
    blocks.iter().find(is_found).copied()
}

pub(crate) async fn headers(server: &RpcServer, numbers: &[u64]) -> Result<Vec<Header>, RpcError> {
    let requests = numbers.iter().map(|number| block_by_number(hex_number(*number))).collect();
    let mut found = Vec::with_capacity(numbers.len());
    for (number, response) in numbers.iter().zip(server.batch::<Option<Header>>(requests).await?) {
        match response? {
            Some(header) if header.number == *number => found.push(header),
            Some(header) => {
                let text = format!("was asked for block {number} and told of block {}", header.number);
                return Err(RpcError::Inconsistent(text));
            }
            None => break,
        }
    }
    Ok(found)
}
