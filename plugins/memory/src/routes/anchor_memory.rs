//! `POST /api/memory/anchor`: a batch of records for the chain, or the transaction that anchors one. Signed by the agent's owner.

use crate::{
    Memory,
    error::MemoryError,
    model::{
        AnchorAnswer, Anchoring, BatchView, Deployment, NewAnchor, Onchain, OwnRecordView, RecordView, RecordedAnswer,
        Tree, VerifyTexts, leaf_of,
    },
    store::{self, batches::NewBatch},
};
use plugin_api::{
    Address, AgentId, Created, HandlerError, Hash256, HostError, HostErrorCode, Json, JsonSchema, RequestContext,
    Route, Signed, Tx,
    response::{IntoResponse, Response},
};
use serde::Serialize;

pub fn route() -> Route<Memory> {
    Route::post("/api/memory/anchor", anchor_memory)
        .signed("memory.anchor")
        .per_minute(20)
        .cache_control("private, no-store")
        .summary("Batch your records for the chain, or record the transaction that anchors a batch")
        .endpoint("memoryAnchor")
        .example("POST /api/memory/anchor {agentId} signed as memory.anchor")
        .description(
            "Without txHash: the batch of the agent that is not anchored yet, or a new one of the records that are in \
             none, with a proof for each and the call of the contract. The gateway sends no transaction. With txHash: \
             notes the transaction of a batch.",
        )
        .response::<AnchorResponse>(
            200,
            "application/json",
            "The batch that was there, or the one whose transaction was noted",
        )
        .response::<AnchorAnswer>(201, "application/json", "A new batch")
}

type Result<T> = std::result::Result<T, HandlerError<MemoryError>>;

/// By what was asked for.
#[derive(Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AnchorResponse {
    Recorded(Box<RecordedAnswer>),
    Batch(Box<AnchorAnswer>),
}

impl IntoResponse for AnchorResponse {
    fn into_response(self) -> Response {
        match self {
            Self::Recorded(recorded) => Json(*recorded).into_response(),
            Self::Batch(batch) if batch.rebuilt => Created(*batch).into_response(),
            Self::Batch(batch) => Json(*batch).into_response(),
        }
    }
}

async fn anchor_memory(
    cx: RequestContext<Memory>,
    Signed { signer, payload }: Signed<NewAnchor>,
) -> Result<AnchorResponse> {
    let (agent, anchoring) = payload.check()?;
    let agent = owned_agent(&cx, signer, agent).await?;
    match anchoring {
        Anchoring::Record { tx, root } => {
            record(&cx, agent, signer, tx, root).await.map(|recorded| AnchorResponse::Recorded(Box::new(recorded)))
        }
        Anchoring::Build { uri, limit } => {
            build(&cx, agent, signer, uri, limit).await.map(|batch| AnchorResponse::Batch(Box::new(batch)))
        }
    }
}

async fn owned_agent(cx: &RequestContext<Memory>, signer: Address, agent: Option<AgentId>) -> Result<AgentId> {
    let db = cx.db();
    let Some(agent) = agent else {
        return Ok(store::agents::first_of(&db, signer).await?.ok_or(MemoryError::NoAgent)?);
    };
    let (owner, _) = store::agents::find(&db, agent).await?.ok_or(MemoryError::UnknownAgent(agent))?;
    if owner == signer { Ok(agent) } else { Err(MemoryError::NotOwner(agent).into()) }
}

async fn record(
    cx: &RequestContext<Memory>,
    agent: AgentId,
    signer: Address,
    transaction: Hash256,
    root: Option<Hash256>,
) -> Result<RecordedAnswer> {
    let batch = cx
        .write(async move |tx| {
            let batch = match root {
                Some(root) => store::batches::with_root(tx, agent, signer, root).await?,
                None => store::batches::unanchored(tx, agent, signer).await?,
            };
            let batch = batch.ok_or(MemoryError::UnknownBatch)?;
            if batch.is_anchored() {
                return Ok(batch);
            }
            tx.execute(store::batches::submit(batch.batch_id, transaction, tx.now_s())).await?;
            let submitted = store::batches::with_root(tx, agent, signer, batch.root).await?;
            Ok(submitted.ok_or(MemoryError::UnknownBatch)?)
        })
        .await?;
    let note = if batch.is_anchored() {
        "the batch is anchored already: the chain says by which transaction"
    } else {
        "the batch is anchored when the index finds its event"
    };
    Ok(RecordedAnswer { batch, recorded: true, note })
}

async fn build(
    cx: &RequestContext<Memory>,
    agent: AgentId,
    signer: Address,
    uri: String,
    limit: u32,
) -> Result<AnchorAnswer> {
    let new = prepare(cx, agent, signer, uri, limit).await?;
    let (batch, rebuilt) = cx.write(async move |tx| find_or_insert(tx, agent, signer, new.as_ref()).await).await?;
    let records = own_records(cx, &batch).await?;
    let onchain = Onchain::new(Deployment::of(cx.environment()), &cx.plugin().config.domain_name, &batch);
    let note = "this batch is not anchored yet; the next one follows it";
    let proves =
        "that each record was in the log before the block of the anchor; not which key it is about, without its nonce";
    Ok(AnchorAnswer {
        batch,
        rebuilt,
        note: (!rebuilt).then_some(note),
        records,
        onchain,
        verify: VerifyTexts::ALL,
        proves: rebuilt.then_some(proves),
    })
}

/// A larger tree takes longer than moving it to another thread.
const INLINE_LEAVES: i64 = 256;

/// The batch that is to be stored if none is waiting: computed before the transaction, because records never change.
async fn prepare(
    cx: &RequestContext<Memory>,
    agent: AgentId,
    address: Address,
    uri: String,
    limit: u32,
) -> std::result::Result<Option<NewBatch>, HostError> {
    let db = cx.db();
    if store::batches::unanchored(&db, agent, address).await?.is_some() {
        return Ok(None);
    }
    let (from_seq, hashes) = store::batches::next_hashes(&db, agent, address, limit).await?;
    if hashes.is_empty() {
        return Ok(None);
    }
    let count = i64::try_from(hashes.len()).unwrap_or(i64::MAX);
    let plant = move || Tree::build(hashes.into_iter().map(leaf_of).collect());
    let tree = if count <= INLINE_LEAVES { plant() } else { cx.blocking(plant).await? };
    let Some(root) = tree.root() else { return Ok(None) };
    let to_seq = from_seq + count - 1;
    Ok(Some(NewBatch { agent, address, from_seq, to_seq, root, uri, tree: tree.into_bytes() }))
}

/// The batch, and whether it is new.
async fn find_or_insert(
    tx: &Tx,
    agent: AgentId,
    address: Address,
    new: Option<&NewBatch>,
) -> Result<(BatchView, bool)> {
    if let Some(waiting) = store::batches::unanchored(tx, agent, address).await? {
        return Ok((waiting, false));
    }
    let next = store::batches::next_seq(tx, agent, address).await?;
    let Some(new) = new.filter(|new| new.from_seq == next) else {
        let head = store::heads::read(tx, address).await?;
        if next > head.seq {
            return Err(MemoryError::NothingToAnchor.into());
        }
        // Since it was prepared, the batch that was waiting was anchored: the caller asks again.
        return Err(HostError::new(HostErrorCode::Conflict, "another batch was anchored at this moment").into());
    };
    store::batches::insert(tx, new).await?;
    let inserted = store::batches::with_root(tx, agent, address, new.root).await?;
    Ok((inserted.ok_or(MemoryError::UnknownBatch)?, true))
}

/// The records of a batch with keys, nonces and proofs: for their owner.
async fn own_records(
    cx: &RequestContext<Memory>,
    batch: &BatchView,
) -> std::result::Result<Vec<OwnRecordView>, HostError> {
    let Some(address) = batch.address else { return Ok(Vec::new()) };
    let db = cx.db();
    let tree = Tree::stored(store::batches::tree(&db, batch.batch_id).await?, batch.leaf_count());
    let mut records = Vec::new();
    for row in store::records::own(&db, address, batch.from_seq, batch.to_seq).await? {
        let header = store::records::header_of(&row.record)?;
        let reveal = store::sealed::open_reveal(cx, address, header.key_commit, &row.sealed_key).await?;
        let place = batch.index_of(header.seq);
        let proof = place.and_then(|place| tree.proof(place)).ok_or_else(broken_tree)?;
        let index = header.seq - batch.from_seq;
        let record = RecordView::new(header, row.record, row.record_hash, index, proof);
        records.push(OwnRecordView { record, key: reveal.key, key_nonce: reveal.nonce });
    }
    Ok(records)
}

fn broken_tree() -> HostError {
    HostError::new(HostErrorCode::Internal, "the tree of a batch has other nodes than its records")
}
