//! `GET /api/memory/proof/{agentId}/{seq}`: the proof of a record in the log of the agent's owner. No key is in it.

use crate::{
    Memory,
    error::MemoryError,
    model::{
        BatchView, BatchedProof, CONTRACT, Continuity, LogView, OnchainProof, ProofView, RecordView, Tree,
        UnbatchedProof, VerifyTexts, leaf_of, verify,
    },
    store,
};
use plugin_api::{Address, AgentId, HandlerError, HostError, HostErrorCode, Json, Path, RequestContext, Route};
use serde_json::json;

pub fn route() -> Route<Memory> {
    Route::get("/api/memory/proof/{agentId}/{seq}", get_memory_proof)
        .public()
        .summary("Prove that a record is in an agent's log, and in an anchor")
        .endpoint("memoryProof")
        .example("GET /api/memory/proof/{agentId}/{seq}")
}

type Result<T> = std::result::Result<T, HandlerError<MemoryError>>;

async fn get_memory_proof(
    cx: RequestContext<Memory>,
    Path((agent, seq)): Path<(String, String)>,
) -> Result<Json<ProofView>> {
    let (agent, seq) = (AgentId(number("agentId", &agent)?), number("seq", &seq)?);
    let db = cx.db();
    let (owner, _) = store::agents::find(&db, agent).await?.ok_or(MemoryError::UnknownAgent(agent))?;
    let row = store::records::find(&db, owner, seq).await?.ok_or(MemoryError::UnknownRecord(seq))?;
    let log = store::batches::log(&db, agent, owner).await?;
    let Some(batch) = store::batches::with_record(&db, agent, owner, seq).await? else {
        let record = store::records::header_of(&row.record)?;
        let (record_hash, leaf) = (row.record_hash, leaf_of(row.record_hash));
        return Ok(Json(ProofView::Unbatched(Box::new(UnbatchedProof {
            agent_id: agent,
            address: owner,
            seq,
            anchored: false,
            reason: "the record is in no batch of the agent yet: its owner makes one by POST /api/memory/anchor",
            record,
            record_hash,
            leaf,
            log,
            verify: VerifyTexts::ALL,
        }))));
    };
    let proof = batched(&cx, (agent, owner), row, batch, log).await?;
    Ok(Json(ProofView::Batched(Box::new(proof))))
}

/// Ids are in the path as text, so that one that is no number is a 400.
fn number(name: &'static str, text: &str) -> std::result::Result<i64, MemoryError> {
    let reason = "a positive whole number is needed";
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let number = if is_number { text.parse().unwrap_or(i64::MAX) } else { 0 };
    if number > 0 { Ok(number) } else { Err(MemoryError::Filter { filter: name, reason }) }
}

async fn batched(
    cx: &RequestContext<Memory>,
    (agent, owner): (AgentId, Address),
    row: store::records::RecordRow,
    batch: BatchView,
    log: LogView,
) -> std::result::Result<BatchedProof, HostError> {
    let db = cx.db();
    let header = store::records::header_of(&row.record)?;
    let tree = Tree::stored(store::batches::tree(&db, batch.batch_id).await?, batch.leaf_count());
    let broken = || HostError::new(HostErrorCode::Internal, "the tree of a batch has other nodes than its records");
    let place = batch.index_of(header.seq).ok_or_else(broken)?;
    let proof = tree.proof(place).ok_or_else(broken)?;
    let index = header.seq - batch.from_seq;
    let (prev, record) = (header.prev, RecordView::new(header, row.record, row.record_hash, index, proof));
    // Of the bytes that are answered, not of the stored hash.
    let leaf = leaf_of(plugin_api::Hash256::keccak(record.record_json.as_bytes()));
    let self_check = verify(batch.root, leaf, &record.proof, place, batch.leaf_count());
    let onchain = OnchainProof {
        contract: cx.environment().contract(CONTRACT),
        call: "verify(bytes32 root, bytes record, bytes32[] proof, uint256 index, uint256 count) returns (bool)",
        args: vec![
            json!(batch.root),
            json!(record.record_bytes),
            json!(record.proof),
            json!(index),
            json!(batch.count),
        ],
        head: store::anchors::head(&db, agent).await?,
        tx: batch.tx,
        block: batch.block,
        anchor_seq: batch.onchain_seq,
    };
    let note = "recordHash of the record before, zero for the first: GET /api/memory/proof/{agentId}/{seq - 1} walks the log down to 1";
    Ok(BatchedProof {
        v: 1,
        chain_id: cx.environment().chain_id,
        agent_id: agent,
        address: owner,
        anchored: batch.is_anchored(),
        status: batch.status,
        count: batch.count,
        batch,
        record,
        self_check,
        onchain,
        continuity: Continuity { prev, note, log_head: log },
        reveal: "keyCommit = keccak256 of the canonical JSON {key, nonce}: the owner shows both to prove which key the record is about, \
                 and the value to prove valueHash = keccak256(value)",
        verify: VerifyTexts::ALL,
    })
}
