//! From what a credential says to what is issued.
//!
//! The rule: a content is issued once. Its row stays until a claim or the state changes, a reorganisation removes the block that it names,
//! or a day passes; of two gateways that issue at the same time the first one wins.

use super::{
    SIGNER,
    collected::{Basis, Collection, INDEXING},
    composed::content,
    issue_cache::{CachedIssue, StoredIssue},
};
use crate::{
    Aicv,
    error::CvError,
    model::{Agent, Document, Issue, LIMIT_DEFAULT, Publisher, Served},
    store::{
        agents,
        documents::{self, IssueHead, NewIssue},
        earlier_issues,
        positions::Position,
    },
};
use futures_util::future::{BoxFuture, join};
use plugin_api::{
    AgentId, HandlerError, Hash256, HostError, PluginContext, RequestContext, chain::MAIN,
    contracts::registry::AgentName,
};
use std::{
    future::poll_fn,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
};

/// How long a content keeps its issue.
const ISSUE_S: i64 = 24 * 60 * 60;
/// How long a whole content stands before one is issued from which a plugin is missing.
const WHOLE_S: i64 = 10 * 60;
/// How long what is in memory stands without a look at what it was made of, as documents in caches do: few claims change with time alone.
const UNSEEN_MS: i64 = 30_000;
/// What clocks of gateways may differ by.
const CLOCKS_APART_S: i64 = 120;

/// What documents say of this gateway.
pub async fn publisher<'c>(cx: &'c PluginContext<Aicv>) -> Result<Publisher<'c>, HostError> {
    let config = &cx.plugin().config;
    let signer = cx.signer(SIGNER).address().await?;
    let served = Served::read(cx).await?;
    let (environment, treasury) = (cx.environment(), config.treasury);
    let (rpc, explorer) = (config.rpc.as_slice(), config.explorer.as_deref());
    let form = Hash256([0; 32]);
    let publisher = Publisher { environment, served, signer, treasury, rpc, explorer, form };
    cx.plugin().issues.in_form(publisher)
}

pub async fn find_agent(cx: &RequestContext<Aicv>, segment: &str) -> Result<Agent, HandlerError<CvError>> {
    let unknown = || CvError::UnknownAgent(segment.chars().take(80).collect());
    let name = AgentName::parse(segment).ok_or_else(unknown)?;
    Ok(agents::find(&cx.db(), &name).await?.ok_or_else(unknown)?)
}

/// What is issued for the agent now. The document with so many claims is asked for next.
pub async fn current(
    cx: &RequestContext<Aicv>,
    publisher: &Publisher<'_>,
    agent: &Agent,
    limit: u32,
) -> Result<Arc<StoredIssue>, HandlerError<CvError>> {
    let id = agent.agent_id;
    // Its type is erased: the compiler does not see of a future with so many references that it may go to another thread.
    let build: BoxFuture<'_, _> = Box::pin(build(cx, publisher, agent, limit));
    cx.plugin().builds.share(id, build).await
}

async fn build(
    cx: &RequestContext<Aicv>,
    publisher: &Publisher<'_>,
    agent: &Agent,
    limit: u32,
) -> Result<Arc<StoredIssue>, HandlerError<CvError>> {
    let (id, cache) = (agent.agent_id, &cx.plugin().issues);
    // Before anything is read: what is committed later is not in what is kept.
    let (data_version, checked_ms) = (cx.data_version().await?, cx.now_ms());
    let head = documents::head(&cx.db(), id).await?;
    let kept = cache.get(id).filter(|kept| Some(kept.issued.head.version()) == head.map(|head| head.version()));
    let now = Moment { data_version: data_version.as_deref(), form: publisher.form, ms: checked_ms, s: cx.now_s() };
    if let Some(issued) = kept.as_ref().and_then(|kept| kept.current(&now)) {
        return Ok(issued);
    }
    let basis = kept.as_ref().and_then(|kept| kept.basis_in(publisher.form));
    let read = match read(cx, id, kept.as_ref(), basis).await {
        Ok(read) => read,
        Err(error) => return in_place_of(cx, id, kept.as_ref(), head, error).await,
    };
    let (sources, collected) = match (read, &kept) {
        (Collection::New(new), _) => *new,
        (Collection::Unchanged(_), Some(kept)) => {
            return Ok(cache.put(id, CachedIssue { data_version, checked_ms, ..kept.clone() }));
        }
        (Collection::Unchanged(_), None) => return Err(INDEXING.into()),
    };
    let (position, is_whole) = (collected.position, collected.is_whole());
    let (state, stating) = (collected.state.clone(), collected.stating.clone());
    let last = kept.as_ref().map(|kept| &kept.issued.issue.content);
    let content = content(cx, &sources, collected, last)?;
    let basis = is_whole.then(|| Arc::new(Basis { sources, state, stating, position }));
    let fingerprint = content.fingerprint(publisher.form)?;
    if let Some(head) = head {
        let is_same = head.fingerprint == fingerprint && is_young(&head, cx.now_s());
        // A document without a plugin's claims is honest, but who asks again in a moment gets the whole one.
        let may_be_better = !is_whole && cx.now_s() - head.issued_at < WHOLE_S;
        if (is_same || may_be_better) && is_on_branch(cx, &head, Some(position)).await? {
            let issued = stored(cx, id, kept.as_ref(), head).await?;
            if is_same {
                let basis = basis.filter(|_| issued.head.fingerprint == fingerprint);
                return Ok(cache.put(id, CachedIssue { issued, basis, data_version, checked_ms, form: publisher.form }));
            }
            if issued.issue.content.is_whole() {
                return Ok(issued);
            }
        }
    }
    let issue = Issue { content, issued_at: cx.now_s(), as_of_block: position.block, as_of_block_hash: position.hash };
    let issued = store(cx, publisher, issue, fingerprint, head, limit).await?;
    let basis = basis.filter(|_| issued.head.fingerprint == fingerprint);
    Ok(cache.put(id, CachedIssue { issued, basis, data_version, checked_ms, form: publisher.form }))
}

/// What a kept issue is compared with.
struct Moment<'n> {
    data_version: Option<&'n str>,
    form: Hash256,
    ms: i64,
    s: i64,
}

impl CachedIssue {
    /// The issue, if nothing was committed since what it was made of was read. Then the blocks of the indexes are those of that time, too.
    fn current(&self, now: &Moment<'_>) -> Option<Arc<StoredIssue>> {
        let is_same = now.data_version.is_some() && self.data_version.as_deref() == now.data_version;
        let is_fresh = (0..UNSEEN_MS).contains(&(now.ms - self.checked_ms)) && is_young(&self.issued.head, now.s);
        (is_same && is_fresh && self.basis_in(now.form).is_some()).then(|| self.issued.clone())
    }

    /// What it was made of, if documents have this form still.
    fn basis_in(&self, form: Hash256) -> Option<&Basis> {
        self.basis.as_deref().filter(|_| self.form == form)
    }
}

/// Reads what the record is made of. `Unchanged` is answered only where the kept issue stands.
async fn read(
    cx: &RequestContext<Aicv>,
    agent: AgentId,
    kept: Option<&CachedIssue>,
    basis: Option<&Basis>,
) -> Result<Collection, HandlerError<CvError>> {
    let read = Collection::read(cx, agent, basis).await?;
    let Collection::Unchanged(position) = read else { return Ok(read) };
    let stands = match kept {
        Some(kept) => still_stands(cx, kept, position).await?,
        None => false,
    };
    if stands { Ok(read) } else { Collection::read(cx, agent, None).await }
}

/// Whether the kept issue is what would be issued now that all that it was made of was read again, at this block. Logs stay as they are
/// while the block up to which they were read is on the chain.
async fn still_stands(
    cx: &RequestContext<Aicv>,
    kept: &CachedIssue,
    position: Position,
) -> Result<bool, HandlerError<CvError>> {
    let Some(basis) = &kept.basis else { return Ok(false) };
    let is_same_branch = basis.position == position
        || basis.position.block < position.block
            && hash_of(cx, basis.position.block).await.is_ok_and(|hash| hash == Some(basis.position.hash));
    let head = &kept.issued.head;
    Ok(is_same_branch && is_young(head, cx.now_s()) && is_on_branch(cx, head, Some(position)).await?)
}

/// What the row says: from memory, or as it was stored. Another gateway may have issued since; then that is what it says.
async fn stored(
    cx: &RequestContext<Aicv>,
    agent: AgentId,
    kept: Option<&CachedIssue>,
    head: IssueHead,
) -> Result<Arc<StoredIssue>, HandlerError<CvError>> {
    if let Some(kept) = kept.filter(|kept| kept.issued.head.version() == head.version()) {
        return Ok(kept.issued.clone());
    }
    let (head, issue) = documents::current(&cx.db(), agent).await?.ok_or(INDEXING)?;
    Ok(StoredIssue::new(issue, head))
}

/// While nothing can be read, what was issued stands.
async fn in_place_of(
    cx: &RequestContext<Aicv>,
    agent: AgentId,
    kept: Option<&CachedIssue>,
    head: Option<IssueHead>,
    error: HandlerError<CvError>,
) -> Result<Arc<StoredIssue>, HandlerError<CvError>> {
    use CvError::{Indexing, Silent, Unreadable};
    let passes = matches!(error, HandlerError::Caller(Indexing { .. } | Unreadable { .. } | Silent { .. }));
    match head.filter(|head| passes && is_young(head, cx.now_s())) {
        Some(head) if is_on_branch(cx, &head, None).await? => stored(cx, agent, kept, head).await,
        _ => Err(error),
    }
}

/// One from the future was issued by a gateway whose clock was wrong.
fn is_young(row: &IssueHead, now_s: i64) -> bool {
    (-CLOCKS_APART_S..ISSUE_S).contains(&(now_s - row.issued_at))
}

/// Whether the block that the issue names is still the chain's. How long ago it was issued says nothing: the reorganisation may have come at once.
/// `position` is where the indexes are, if that is known.
async fn is_on_branch(
    cx: &RequestContext<Aicv>,
    row: &IssueHead,
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
    seen: Option<IssueHead>,
    limit: u32,
) -> Result<Arc<StoredIssue>, HandlerError<CvError>> {
    let agent = issue.content.agent.agent_id;
    let document = publisher.document(&issue, LIMIT_DEFAULT)?;
    let new = NewIssue {
        agent,
        fingerprint,
        issued_at: issue.issued_at,
        as_of_block: issue.as_of_block,
        as_of_block_hash: issue.as_of_block_hash,
        content: issue.content.to_text()?,
        document_hash: document.hash,
        document: document.text.clone(),
    };
    let kept = cx.plugin().config.kept_documents;
    let seen = seen.map(|head| head.version());
    let is_ready = Arc::new(AtomicBool::new(false));
    let write = async {
        let is_committing = is_ready.clone();
        let write = cx.write(async move |tx| {
            let known = documents::head(tx, agent).await?;
            if known.is_some_and(|row| Some(row.version()) != seen || new.is_said_by(&row, tx.now_s())) {
                return Ok(None);
            }
            let replaced = known.map(|_| earlier_issues::keep(agent));
            let pruned = known.map(|_| earlier_issues::prune(agent, kept));
            let row = documents::set_current(tx, &new);
            let rows = [row, documents::insert_document(&new), documents::prune(agent, kept)];
            tx.batch(replaced.into_iter().chain(rows).chain(pruned).collect()).await?;
            is_committing.store(true, Ordering::Release);
            Ok::<_, HandlerError<CvError>>(Some(tx.now_ms()))
        });
        let written = write.await;
        is_ready.store(true, Ordering::Release);
        written
    };
    // While the disk takes the row, which holds up no other write. Whenever the write goes on this is looked at, too.
    let asked = async {
        let wait = |_: &mut Context<'_>| if is_ready.load(Ordering::Acquire) { Poll::Ready(()) } else { Poll::Pending };
        poll_fn(wait).await;
        if limit == LIMIT_DEFAULT { Ok(document) } else { publisher.document(&issue, limit) }
    };
    let (written_ms, document) = join(write, asked).await;
    let (Some(written_ms), document) = (written_ms?, document?) else {
        let (head, issue) = documents::current(&cx.db(), agent).await?.ok_or(INDEXING)?;
        return Ok(StoredIssue::new(issue, head));
    };
    let (issued_at, as_of_block, as_of_block_hash) = (issue.issued_at, issue.as_of_block, issue.as_of_block_hash);
    let head = IssueHead { fingerprint, issued_at, written_ms, as_of_block, as_of_block_hash };
    let issued = StoredIssue::new(issue, head);
    issued.keep_document(publisher, limit, document);
    Ok(issued)
}

impl NewIssue {
    /// Whether the row says the same as of the same block.
    fn is_said_by(&self, row: &IssueHead, now_s: i64) -> bool {
        let is_equal = row.fingerprint == self.fingerprint && row.as_of_block_hash == self.as_of_block_hash;
        is_equal && is_young(row, now_s)
    }
}
