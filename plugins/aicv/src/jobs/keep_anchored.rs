//! Keeps documents that owners anchored and nobody stored: those of another limit than the default one. They are not stored when they are
//! asked for, because anyone may ask for each of a thousand limits of every agent.
//!
//! The rule: a document is a function of its issue, its limit and what documents say of this gateway. It is made again of the agent's issues,
//! and its hash tells whether it is the one that was anchored.

use crate::{
    Aicv,
    model::{Document, Issue, Publisher},
    routes,
    store::{
        anchored::{self, LimitedAnchor},
        documents, earlier_issues,
    },
};
use plugin_api::{AgentId, HostError, Job, PluginContext};
use std::{collections::BTreeMap, time::Duration};

const NAME: &str = "keep_anchored";
const INTERVAL: Duration = Duration::from_secs(10);
/// Anchors of one run: each makes a document of every issue that is kept, between two of which other work goes on.
const ANCHORS_MAX: usize = 5;

pub fn job() -> Job<Aicv> {
    Job::every(NAME, INTERVAL, keep_anchored)
}

async fn keep_anchored(cx: PluginContext<Aicv>) -> Result<(), HostError> {
    let anchors = anchored::not_looked_for(&cx.db(), ANCHORS_MAX).await?;
    if anchors.is_empty() {
        return Ok(());
    }
    let is_last = anchors.len() < ANCHORS_MAX;
    let publisher = routes::publisher(&cx).await?;
    let mut by_agent: BTreeMap<AgentId, Vec<LimitedAnchor>> = BTreeMap::new();
    for anchor in anchors {
        by_agent.entry(anchor.agent_id).or_default().push(anchor);
    }
    for (agent, anchors) in by_agent {
        let found = made_again(&cx, &publisher, agent, &anchors).await?;
        cx.write(async move |tx| anchored::note(tx, &anchors, &found).await).await?;
    }
    if is_last { Ok(()) } else { cx.wake(NAME).await }
}

/// The documents that the anchors name, of those that can be made of the agent's issues.
async fn made_again(
    cx: &PluginContext<Aicv>,
    publisher: &Publisher<'_>,
    agent: AgentId,
    anchors: &[LimitedAnchor],
) -> Result<Vec<Document>, HostError> {
    let (db, mut missing, mut found) = (cx.db(), anchors.to_vec(), Vec::new());
    // An owner anchors what he has just read: it is most often of the issue that stands.
    if let Some((_, issue)) = documents::current(&db, agent).await? {
        found.extend(take_found(publisher, &issue, &mut missing)?);
    }
    for version in earlier_issues::versions(&db, agent).await? {
        if missing.is_empty() {
            break;
        }
        if let Some(issue) = earlier_issues::find(&db, agent, version).await? {
            found.extend(take_found(publisher, &issue, &mut missing)?);
        }
    }
    Ok(found)
}

/// The documents of the issue that are among those which are missing, and are not from then on.
fn take_found(
    publisher: &Publisher<'_>,
    issue: &Issue,
    missing: &mut Vec<LimitedAnchor>,
) -> Result<Vec<Document>, HostError> {
    let mut found = Vec::new();
    for anchor in std::mem::take(missing) {
        let document = publisher.document(issue, anchor.claim_limit)?;
        if document.hash == anchor.document_hash {
            found.push(document);
        } else {
            missing.push(anchor);
        }
    }
    Ok(found)
}
