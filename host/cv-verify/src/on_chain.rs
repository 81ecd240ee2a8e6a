//! What is read of the chain once: the head, the document's block, the agent then and now.
//!
//! The rule: without the state of the document's own block, what differs may only have moved on, and is not called forged.

use crate::{
    document::Document,
    expected::Expected,
    reader::{Agent, ReadError, Reader},
    report::ReadAt,
    rpc::Rpc,
};
use alloy_primitives::B256;

#[derive(Clone, Debug)]
pub(crate) struct OnChain {
    pub head: u64,
    pub read_at: ReadAt,
    /// At `read_at`.
    pub agent: Agent,
    /// Now.
    pub live: Agent,
    pub owner_is_contract: bool,
    /// Whether the chain has another block at the document's height.
    pub is_reorganised: bool,
}

/// `Err` is why nothing of the chain can be compared.
pub(crate) async fn read<R: Rpc>(
    reader: &mut Reader<'_, R>,
    document: &Document,
    expected: &Expected,
) -> Result<OnChain, String> {
    let chain_id = reader.chain_id().await.map_err(text)?;
    if chain_id != expected.contracts.chain_id {
        return Err(format!("the server is one of the chain {chain_id}, not {}", expected.contracts.chain_id));
    }
    let head = reader.head().await.map_err(text)?;
    if head < document.as_of_block {
        return Err(format!("the server has {head} blocks, and the document is as of block {}", document.as_of_block));
    }
    let block = reader.block(document.as_of_block).await.map_err(text)?;
    let block = block.ok_or_else(|| format!("the server has no block {}", document.as_of_block))?;
    let is_reorganised = document.as_of_block_hash != B256::ZERO && document.as_of_block_hash != block.hash;
    let (registry, id) = (expected.contracts.registry, document.agent_id);
    let live = reader.agent(registry, id, head).await.map_err(text)?;
    let then = reader.agent(registry, id, document.as_of_block).await;
    let (agent, is_as_of_block) = match then {
        Ok(agent) => (agent, true),
        // The state of an old block is what servers keep no longer.
        Err(ReadError::Refused(_) | ReadError::Unreadable(_)) => (live.clone(), false),
        Err(error) => return Err(text(error)),
    };
    let owner_is_contract = reader.has_code(document.owner, head).await.map_err(text)?;
    let block = if is_as_of_block { document.as_of_block } else { head };
    Ok(OnChain { head, read_at: ReadAt { block, is_as_of_block }, agent, live, owner_is_contract, is_reorganised })
}

fn text(error: ReadError) -> String {
    error.to_string()
}
