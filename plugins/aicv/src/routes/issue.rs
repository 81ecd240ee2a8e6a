//! From what was collected to what is issued.
//!
//! The rule: a content is issued once. Its row stays until a claim or the state changes, a reorganisation removes the block that it names,
//! or a day passes; of two gateways that issue at the same time the first one wins.

use super::{
    SIGNER,
    collected::{CLAIMS_MAX, Collected},
    own_claims,
};
use crate::{
    Aicv,
    error::CvError,
    model::{
        Agent, AgentName, CheckedClaim, Checks, Content, DISPUTE, Document, Exclusion, Issue, KINDS, Kind,
        LIMIT_DEFAULT, Omitted, Publisher, Refusal, SLASH, Served, own_members, summary,
    },
    store::{
        agents,
        documents::{self, IssueRow, NewIssue, content_text},
        logs,
        positions::Position,
    },
};
use plugin_api::{
    HandlerError, Hash256, HostError, RequestContext,
    chain::MAIN,
    point::{CvClaim, CvRecord},
};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// How long a content keeps its issue.
const ISSUE_S: i64 = 24 * 60 * 60;
/// Claims of one plugin that are looked at.
const CONTRIBUTED_MAX: usize = 20_000;
/// Blocks that a reorganisation may still remove.
const UNSETTLED_BLOCKS: i64 = 128;

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
) -> Result<Issue, HandlerError<CvError>> {
    let (begun_ms, now_s) = (cx.now_ms(), cx.now_s());
    let stored = documents::current(&cx.db(), agent.agent_id).await?;
    let is_young = |row: &IssueRow| now_s - row.issued_at < ISSUE_S;
    let collected = match Collected::read(cx, agent.agent_id).await {
        Ok(collected) => collected,
        // While the chain cannot be read, what was issued stands.
        Err(error) => match stored.filter(is_young) {
            Some(row) => return Ok(row.issue()?),
            None => return Err(error),
        },
    };
    let position = collected.position;
    let content = content(cx, collected).await?;
    let fingerprint = content.fingerprint(&publisher.fingerprint())?;
    let stands = match &stored {
        Some(row) => row.fingerprint == fingerprint && is_young(row) && is_on_branch(cx, row, position).await?,
        None => false,
    };
    if let Some(row) = stored.filter(|_| stands) {
        return Ok(row.issue()?);
    }
    let issue = Issue { content, issued_at: now_s, as_of_block: position.block, as_of_block_hash: position.hash };
    store(cx, publisher, issue, fingerprint, begun_ms).await
}

/// Whether the block that the issue names is still the chain's, as far as a reorganisation may have removed it.
async fn is_on_branch(cx: &RequestContext<Aicv>, row: &IssueRow, position: Position) -> Result<bool, HostError> {
    if row.as_of_block == position.block {
        return Ok(row.as_of_block_hash == position.hash);
    }
    if row.as_of_block > position.block {
        return Ok(false);
    }
    if position.block - row.as_of_block > UNSETTLED_BLOCKS {
        return Ok(true);
    }
    let number = u64::try_from(row.as_of_block).unwrap_or_default();
    match cx.chain(MAIN).block(number).await {
        Ok(block) => Ok(block.is_none_or(|block| block.hash == row.as_of_block_hash)),
        Err(_unreadable) => Ok(true),
    }
}

/// Issues, unless another gateway has done so since this build began.
async fn store(
    cx: &RequestContext<Aicv>,
    publisher: &Publisher<'_>,
    issue: Issue,
    fingerprint: Hash256,
    begun_ms: i64,
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
                is_equal && tx.now_s() - row.issued_at < ISSUE_S
            };
            if let Some(row) = known.filter(|row| row.written_ms > begun_ms || is_same(row)) {
                return Ok(Some(row));
            }
            let anchored = logs::anchored(tx, agent).await?;
            tx.execute(documents::set_current(tx, &new)).await?;
            tx.execute(documents::insert_document(&new)).await?;
            tx.execute(documents::prune(agent, kept, anchored)).await?;
            Ok::<_, HandlerError<CvError>>(None)
        })
        .await?;
    match row {
        Some(row) => Ok(row.issue()?),
        None => Ok(issue),
    }
}

/// Checks what was collected, and puts it in order.
async fn content(cx: &RequestContext<Aicv>, collected: Collected) -> Result<Content, HandlerError<CvError>> {
    let Collected { mut agent, state, mut records, behind, .. } = collected;
    agent.endpoint.clone_from(&state.endpoint);
    agent.status.clone_from(&state.status);
    (agent.price_per_job, agent.bond) = (state.price_per_job, state.bond);
    (agent.jobs_completed, agent.jobs_failed) = (state.jobs_completed, state.jobs_failed);
    (agent.rating_count, agent.rating_sum) = (state.rating_count, state.rating_sum);
    let types = own_claims::contribution_types(&records);
    records.push(("aicv".to_owned(), own_claims::endorsements(cx, agent.agent_id).await?));
    // Whose facts they are comes first: nobody takes a log away from a claim of theirs.
    records.sort_by_key(|(plugin, _)| !KINDS.iter().any(|kind| kind.plugin == plugin));
    let registry = cx.environment().contract("registry");
    let (counted, contributions) = own_claims::contributions(cx, agent.agent_id, agent.owner, &types).await?;
    let mut claims: Vec<CheckedClaim> = counted;
    claims.extend(own_claims::state(agent.agent_id, &state, registry, cx.environment().chain_id));
    let mut gathered = Gathered::default();
    let checks = checks(cx, &agent, &records).await?;
    gathered.add_checked(cx, checks, records, &mut claims);
    gathered.add_behind(cx, behind);
    gathered.summary.insert("commonsContributions".to_owned(), contributions.into());
    claims.sort_by(|one, other| one.order().cmp(&other.order()));
    gathered.cut(&mut claims);
    let (namesakes, namesake_count) = agents::namesakes(&cx.db(), &agent).await?;
    let registry = registry.map(|registry| registry.to_string());
    let summary = summary(&agent, gathered.summary, registry.as_deref());
    let (covers, excludes) = scope(&gathered.covers, &types);
    let claims = claims.into_iter().map(CheckedClaim::into_json).collect::<Result<_, _>>()?;
    let omitted = gathered.omitted.into_iter().filter(|(_, count)| *count > 0);
    let omitted = omitted.map(|((kind, reason), count)| Omitted { kind, count, reason: reason.to_owned() }).collect();
    Ok(Content { agent, namesakes, namesake_count, claims, omitted, summary, covers, excludes })
}

/// What claims are checked against: the logs of the transactions that they name.
async fn checks<'c>(
    cx: &'c RequestContext<Aicv>,
    agent: &Agent,
    records: &[(String, CvRecord)],
) -> Result<Checks<'c>, HostError> {
    let claims = || records.iter().flat_map(|(_, record)| record.claims.iter().take(CONTRIBUTED_MAX));
    let transactions: BTreeSet<Hash256> = claims().flat_map(|claim| &claim.logs).filter_map(|log| log.tx).collect();
    let disputed = claims().filter(|claim| claim.kind == DISPUTE).filter_map(|claim| claim.fields.get("jobId"));
    let disputed: BTreeSet<i64> = disputed.filter_map(Value::as_i64).collect();
    let db = cx.db();
    Ok(Checks {
        subject: agent.subject(),
        environment: cx.environment(),
        granted: &cx.plugin().config.kinds,
        by_tx: logs::of_transactions(&db, &transactions).await?,
        of_agent: logs::registrations(&db, agent.agent_id).await?,
        jobs: agents::own_jobs(&db, agent.agent_id, &disputed).await?,
        used: BTreeSet::new(),
        ids: BTreeSet::new(),
    })
}

/// What goes into a content beside the claims.
#[derive(Default)]
struct Gathered {
    covers: BTreeSet<String>,
    summary: Map<String, Value>,
    /// By kind and reason.
    omitted: BTreeMap<(String, &'static str), u64>,
}

impl Gathered {
    fn add_checked(
        &mut self,
        cx: &RequestContext<Aicv>,
        mut checks: Checks<'_>,
        records: Vec<(String, CvRecord)>,
        checked: &mut Vec<CheckedClaim>,
    ) {
        for (plugin, record) in records {
            let CvRecord { covers, claims, left_out, summary, .. } = record;
            let is_granted = |name: &String| Kind::find(name).is_some_and(|kind| checks.is_granted(&plugin, kind));
            self.covers.extend(covers.into_iter().filter(is_granted));
            let left_out = left_out.into_iter().filter(|(name, _)| is_granted(name));
            left_out.for_each(|(name, count)| self.omit(name, "cap", count));
            self.summary.extend(own_members(&plugin, summary));
            let mut refused: BTreeMap<Refusal, u64> = BTreeMap::new();
            for claim in claims.into_iter().take(CONTRIBUTED_MAX) {
                let kind = claim.kind.clone();
                match checks.check(&plugin, claim) {
                    Ok(claim) => checked.push(claim),
                    Err(refusal) => {
                        *refused.entry(refusal).or_default() += 1;
                        // The fact may well be true: the record must not pass for complete.
                        if refusal == Refusal::TooLarge {
                            self.omit(kind, "size", 1);
                        }
                    }
                }
            }
            report(cx, &plugin, &refused);
        }
    }

    /// Names what is left out because the plugin's index is at another block.
    fn add_behind(&mut self, cx: &RequestContext<Aicv>, behind: Vec<(String, CvRecord)>) {
        for (plugin, record) in behind {
            cx.warn(&format!("the index of {plugin} is at another block: its claims are left out"));
            for kind in record.covers.into_iter().filter(|name| Kind::find(name).is_some()) {
                let is_it = |claim: &&CvClaim| claim.kind == kind;
                let count = record.claims.iter().filter(is_it).count() as u64;
                self.omit(kind, "indexing", count.max(1));
            }
        }
    }

    fn omit(&mut self, kind: String, reason: &'static str, count: u64) {
        *self.omitted.entry((kind, reason)).or_default() += count;
    }

    /// No record is longer.
    fn cut(&mut self, claims: &mut Vec<CheckedClaim>) {
        let max = usize::try_from(CLAIMS_MAX).unwrap_or(usize::MAX);
        for claim in claims.drain(max.min(claims.len())..) {
            self.omit(claim.kind.name.to_owned(), "cap", 1);
        }
    }
}

/// Refused claims are counted against the plugin that contributed them.
fn report(cx: &RequestContext<Aicv>, plugin: &str, refused: &BTreeMap<Refusal, u64>) {
    for (refusal, count) in refused {
        cx.warn(&format!("{count} claims of {plugin} are left out: {}", refusal.name()));
        cx.count("claims_refused", &[("plugin", plugin), ("reason", refusal.name())].into(), *count);
    }
}

/// Activity that counts as a contribution where its plugin is on.
const COMMONS: [&str; 16] = [
    "thread.create",
    "post.create",
    "message.send",
    "bounty.create",
    "bounty.claim",
    "bounty.award",
    "bounty.complete",
    "kb.write",
    "tool.publish",
    "artifact.publish",
    "artifact.star",
    "arena.create",
    "arena.submit",
    "arena.vote",
    "arena.close",
    "arena.award",
];

/// What the record is about, and what it leaves out and why.
fn scope(covered: &BTreeSet<String>, types: &BTreeSet<String>) -> (Vec<String>, Vec<Exclusion>) {
    let is_own = |kind: &&Kind| kind.plugin == "aicv" && kind.name != "Endorsement";
    let activity = |name: &str| format!("Contribution ({name})");
    let covers =
        KINDS.iter().filter(|kind| is_own(kind) || covered.contains(kind.name)).map(|kind| kind.name.to_owned());
    let covers: Vec<String> = covers.chain(types.iter().map(|name| activity(name))).collect();
    let missing = KINDS.iter().filter(|kind| !is_own(kind) && !covered.contains(kind.name));
    let missing = missing.map(|kind| (kind.name.to_owned(), format!("the plugin {} is off", kind.plugin)));
    let silent = COMMONS.iter().filter(|name| !types.contains(**name));
    let silent = silent.map(|name| (activity(name), "no plugin that is on publishes it".to_owned()));
    let slash = (SLASH.to_owned(), "nobody states it: slashes are in the audit export".to_owned());
    let exclusion = |(what, why)| Exclusion { what, why };
    (covers, missing.chain(silent).chain([slash]).map(exclusion).collect())
}
