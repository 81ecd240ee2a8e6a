//! From what a credential says to what is issued.
//!
//! The rule: a content is issued once. Its row stays until a claim or the state changes, a reorganisation removes the block that it names,
//! or a day passes; of two gateways that issue at the same time the first one wins.

use super::{SIGNER, collected::Collected, composed::content};
use crate::{
    Aicv,
    error::CvError,
    model::{Agent, Document, Issue, LIMIT_DEFAULT, Publisher, Served},
    store::{
        agents,
        documents::{self, IssueRow, IssueVersion, NewIssue, content_text},
        positions::Position,
    },
};
use plugin_api::{HandlerError, Hash256, HostError, RequestContext, chain::MAIN, contracts::registry::AgentName};
use std::sync::Arc;

/// How long a content keeps its issue.
const ISSUE_S: i64 = 24 * 60 * 60;
/// How long a whole content stands before one is issued from which a plugin is missing.
const WHOLE_S: i64 = 10 * 60;
/// What clocks of gateways may differ by.
const CLOCKS_APART_S: i64 = 120;

/// What documents say of this gateway.
pub async fn publisher<'c>(cx: &'c RequestContext<Aicv>) -> Result<Publisher<'c>, HostError> {
    let config = &cx.plugin().config;
    let signer = cx.signer(SIGNER).address().await?;
    let served = Served::read(cx).await?;
    let (environment, treasury) = (cx.environment(), config.treasury);
    Ok(Publisher { environment, served, signer, treasury, rpc: &config.rpc, explorer: config.explorer.as_deref() })
}

pub async fn find_agent(cx: &RequestContext<Aicv>, segment: &str) -> Result<Agent, HandlerError<CvError>> {
    let unknown = || CvError::UnknownAgent(segment.chars().take(80).collect());
    let name = AgentName::parse(segment).ok_or_else(unknown)?;
    Ok(agents::find(&cx.db(), &name).await?.ok_or_else(unknown)?)
}

/// What is issued for the agent now.
pub async fn current(
    cx: &RequestContext<Aicv>,
    publisher: &Publisher<'_>,
    agent: &Agent,
) -> Result<Arc<Issue>, HandlerError<CvError>> {
    let id = agent.agent_id;
    cx.plugin().builds.share(id, Box::pin(build(cx, publisher, agent))).await
}

async fn build(
    cx: &RequestContext<Aicv>,
    publisher: &Publisher<'_>,
    agent: &Agent,
) -> Result<Issue, HandlerError<CvError>> {
    let stored = documents::current(&cx.db(), agent.agent_id).await?;
    let collected = match Collected::read(cx, agent.agent_id).await {
        Ok(collected) => collected,
        Err(error) => return in_place_of(cx, stored, error).await,
    };
    let now_s = cx.now_s();
    let (position, is_whole) = (collected.position, collected.is_whole());
    let content = content(cx, collected)?;
    let fingerprint = content.fingerprint(&publisher.fingerprint()?)?;
    let seen = stored.as_ref().map(IssueRow::version);
    if let Some(row) = stored {
        let age_s = now_s - row.issued_at;
        let is_same = row.fingerprint == fingerprint && is_young(&row, now_s);
        // A document without a plugin's claims is honest, but who asks again in a moment gets the whole one.
        let is_better = !is_whole && age_s < WHOLE_S && row.issue()?.content.is_whole();
        if (is_same || is_better) && is_on_branch(cx, &row, Some(position)).await? {
            return Ok(row.issue()?);
        }
    }
    let issue = Issue { content, issued_at: now_s, as_of_block: position.block, as_of_block_hash: position.hash };
    store(cx, publisher, issue, fingerprint, seen).await
}

/// While nothing can be read, what was issued stands.
async fn in_place_of(
    cx: &RequestContext<Aicv>,
    stored: Option<IssueRow>,
    error: HandlerError<CvError>,
) -> Result<Issue, HandlerError<CvError>> {
    use CvError::{Indexing, Silent, Unreadable};
    let passes = matches!(error, HandlerError::Caller(Indexing { .. } | Unreadable { .. } | Silent { .. }));
    match stored.filter(|row| passes && is_young(row, cx.now_s())) {
        Some(row) if is_on_branch(cx, &row, None).await? => Ok(row.issue()?),
        _ => Err(error),
    }
}

/// One from the future was issued by a gateway whose clock was wrong.
fn is_young(row: &IssueRow, now_s: i64) -> bool {
    (-CLOCKS_APART_S..ISSUE_S).contains(&(now_s - row.issued_at))
}

/// Whether the block that the issue names is still the chain's. How long ago it was issued says nothing: the reorganisation may have come at once.
/// `position` is where the indexes are, if that is known.
async fn is_on_branch(
    cx: &RequestContext<Aicv>,
    row: &IssueRow,
    position: Option<Position>,
) -> Result<bool, HostError> {
    if let Some(position) = position {
        if row.as_of_block == position.block {
            return Ok(row.as_of_block_hash == position.hash);
        }
        if row.as_of_block > position.block {
            return Ok(false);
        }
    }
    match hash_of(cx, row.as_of_block).await {
        Ok(hash) => Ok(hash.is_none_or(|hash| hash == row.as_of_block_hash)),
        Err(_unreadable) => Ok(true),
    }
}

async fn hash_of(cx: &RequestContext<Aicv>, block: i64) -> Result<Option<Hash256>, HostError> {
    let block = cx.chain(MAIN).block(u64::try_from(block).unwrap_or_default()).await?;
    Ok(block.map(|block| block.hash))
}

/// Whether a proof may say of a stored document what it says of one that is issued now: that contracts, block and, for the gateway's own, issuer
/// are these.
pub async fn may_be_signed(
    cx: &RequestContext<Aicv>,
    publisher: &Publisher<'_>,
    document: &Document,
    by_owner: bool,
) -> Result<bool, HostError> {
    let names_these = publisher.has_contracts_of(document) && (by_owner || publisher.is_issuer_of(document));
    Ok(names_these && hash_of(cx, document.as_of_block).await? == Some(document.as_of_block_hash))
}

/// Issues, unless another gateway has done so since this build read what was issued: clocks of gateways differ, so times do not tell.
async fn store(
    cx: &RequestContext<Aicv>,
    publisher: &Publisher<'_>,
    issue: Issue,
    fingerprint: Hash256,
    seen: Option<IssueVersion>,
) -> Result<Issue, HandlerError<CvError>> {
    let agent = issue.content.agent.agent_id;
    let Document { json, hash, .. } = publisher.document(&issue, LIMIT_DEFAULT)?;
    let new = NewIssue {
        agent,
        fingerprint,
        issued_at: issue.issued_at,
        as_of_block: issue.as_of_block,
        as_of_block_hash: issue.as_of_block_hash,
        content: content_text(&issue.content)?,
        document_hash: hash,
        document: json.to_string(),
    };
    let kept = cx.plugin().config.kept_documents;
    let row = cx
        .write(async move |tx| {
            let known = documents::current(tx, agent).await?;
            let is_same = |row: &IssueRow| {
                let is_equal = row.fingerprint == new.fingerprint && row.as_of_block_hash == new.as_of_block_hash;
                is_equal && is_young(row, tx.now_s())
            };
            if let Some(row) = known.filter(|row| Some(row.version()) != seen || is_same(row)) {
                return Ok(Some(row));
            }
            tx.execute(documents::set_current(tx, &new)).await?;
            tx.execute(documents::insert_document(&new)).await?;
            tx.execute(documents::prune(agent, kept)).await?;
            Ok::<_, HandlerError<CvError>>(None)
        })
        .await?;
    match row {
        Some(row) => Ok(row.issue()?),
        None => Ok(issue),
    }
}
