//! Issues in memory, with the documents that were made of them: an agent about which nothing changed is answered without a build.
//!
//! The rule: the row in the database says what is issued, and an issue in memory is used while the row has its version. Without a read of what
//! it was made of it is used only while nothing at all was committed since.

use super::collected::Basis;
use crate::{
    model::{Document, Issue, Publisher, Served},
    store::documents::IssueHead,
};
use plugin_api::{Address, AgentId, Hash256, HostError};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Of all issues with their documents, roughly.
const BYTES_MAX: usize = 64 * 1024 * 1024;
/// Documents of one issue: each limit has another one, with a proof and without.
const TEXTS_MAX: usize = 4;
/// The size of an issue beside its texts, roughly.
const ENTRY_BYTES: usize = 4096;

/// An issue, and its row.
#[derive(Debug)]
pub struct StoredIssue {
    pub issue: Issue,
    pub head: IssueHead,
    texts: Mutex<Vec<(TextKey, Arc<DocumentText>)>>,
}

/// What the text of a document depends on beside the issue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextKey {
    pub limit: u32,
    pub proof: ProofBy,
    /// Of [`Publisher::form`].
    pub form: Hash256,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProofBy {
    Nobody,
    Gateway,
    Owner,
}

/// A document as it is answered.
#[derive(Debug)]
pub struct DocumentText {
    pub document: Document,
    /// With the proof.
    pub text: Arc<String>,
    /// Whose proof it is.
    pub signer: Option<Address>,
}

impl StoredIssue {
    pub fn new(issue: Issue, head: IssueHead) -> Arc<Self> {
        Arc::new(Self { issue, head, texts: Mutex::default() })
    }

    pub fn text(&self, key: TextKey) -> Option<Arc<DocumentText>> {
        let texts = locked(&self.texts);
        texts.iter().find(|(known, _)| *known == key).map(|(_, text)| text.clone())
    }

    /// The document of the issue without a proof.
    pub fn document(&self, publisher: &Publisher<'_>, limit: u32) -> Result<Arc<DocumentText>, HostError> {
        let key = TextKey { limit, proof: ProofBy::Nobody, form: publisher.form };
        if let Some(text) = self.text(key) {
            return Ok(text);
        }
        Ok(self.keep_document(publisher, limit, publisher.document(&self.issue, limit)?))
    }

    /// The document of this limit.
    pub fn keep_document(&self, publisher: &Publisher<'_>, limit: u32, document: Document) -> Arc<DocumentText> {
        let key = TextKey { limit, proof: ProofBy::Nobody, form: publisher.form };
        let text = document.text.clone();
        self.keep(key, DocumentText { document, text, signer: None })
    }

    pub fn keep(&self, key: TextKey, text: DocumentText) -> Arc<DocumentText> {
        let (mut texts, text) = (locked(&self.texts), Arc::new(text));
        texts.retain(|(known, _)| *known != key);
        if texts.len() >= TEXTS_MAX {
            texts.remove(0);
        }
        texts.push((key, text.clone()));
        text
    }

    fn bytes(&self) -> usize {
        let claims: usize = self.issue.content.claims.iter().map(|claim| claim.json.len()).sum();
        let texts: usize = locked(&self.texts).iter().map(|(_, text)| text.text.len()).sum();
        ENTRY_BYTES + claims + texts
    }
}

/// An issue, and what tells whether it is still what would be issued.
#[derive(Clone, Debug)]
pub struct CachedIssue {
    pub issued: Arc<StoredIssue>,
    /// What the content was made of; `None` when it was read from the database.
    pub basis: Option<Arc<Basis>>,
    /// The gateway's version of its data before the last read of all that.
    pub data_version: Option<String>,
    /// When that was.
    pub checked_ms: i64,
    /// Of the publisher then.
    pub form: Hash256,
}

/// Each gateway has its own.
#[derive(Debug, Default)]
pub struct IssueCache {
    entries: Mutex<Entries>,
    /// The form of documents, and what of it changes while the plugin runs.
    form: Mutex<Option<(Served, Address, Hash256)>>,
}

#[derive(Debug, Default)]
struct Entries {
    steps: u64,
    by_agent: HashMap<AgentId, (u64, CachedIssue)>,
}

impl IssueCache {
    /// The publisher with the form of its documents.
    pub fn in_form<'e>(&self, publisher: Publisher<'e>) -> Result<Publisher<'e>, HostError> {
        let mut known = locked(&self.form);
        if let Some((_, _, form)) =
            known.filter(|(served, signer, _)| (*served, *signer) == (publisher.served, publisher.signer))
        {
            return Ok(Publisher { form, ..publisher });
        }
        let publisher = publisher.in_form()?;
        *known = Some((publisher.served, publisher.signer, publisher.form));
        Ok(publisher)
    }

    pub fn get(&self, agent: AgentId) -> Option<CachedIssue> {
        let mut entries = locked(&self.entries);
        entries.steps += 1;
        let step = entries.steps;
        let (used, kept) = entries.by_agent.get_mut(&agent)?;
        *used = step;
        Some(kept.clone())
    }

    /// The ones that were asked for longest ago make room.
    pub fn put(&self, agent: AgentId, kept: CachedIssue) -> Arc<StoredIssue> {
        let issued = kept.issued.clone();
        let mut entries = locked(&self.entries);
        entries.steps += 1;
        let step = entries.steps;
        entries.by_agent.insert(agent, (step, kept));
        let mut bytes: Vec<(u64, AgentId, usize)> =
            entries.by_agent.iter().map(|(agent, (used, kept))| (*used, *agent, kept.bytes())).collect();
        let mut total: usize = bytes.iter().map(|(_, _, bytes)| bytes).sum();
        if total <= BYTES_MAX {
            return issued;
        }
        bytes.sort_unstable();
        for (_, agent, bytes) in bytes {
            if total <= BYTES_MAX {
                break;
            }
            entries.by_agent.remove(&agent);
            total -= bytes;
        }
        issued
    }
}

impl CachedIssue {
    fn bytes(&self) -> usize {
        self.issued.bytes() + self.basis.as_ref().map_or(0, |basis| basis.sources.bytes())
    }
}

/// Each is whole after each statement, also when another thread panicked in between.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Claim, Content};

    fn kept(bytes: usize) -> CachedIssue {
        let hash = Hash256([0; 32]);
        let (kind, trust) = ("Referral".into(), "gateway".into());
        let claim = Claim { id: String::new(), kind, trust, rating: None, leaf: hash, json: "x".repeat(bytes) };
        let content = Content { claims: vec![claim], ..Content::empty() };
        let issue = Issue { content, issued_at: 1, as_of_block: 1, as_of_block_hash: hash };
        let head = IssueHead { fingerprint: hash, issued_at: 1, written_ms: 1, as_of_block: 1, as_of_block_hash: hash };
        CachedIssue {
            issued: StoredIssue::new(issue, head),
            basis: None,
            data_version: None,
            checked_ms: 0,
            form: hash,
        }
    }

    #[test]
    fn what_is_asked_for_least_makes_room() {
        let cache = IssueCache::default();
        let third = BYTES_MAX / 3;
        for agent in [1, 2] {
            cache.put(AgentId(agent), kept(third));
        }
        assert!(cache.get(AgentId(1)).is_some());
        cache.put(AgentId(3), kept(third));
        let has = |agent: i64| cache.get(AgentId(agent)).is_some();
        assert_eq!([has(1), has(2), has(3)], [true, false, true]);
        cache.put(AgentId(4), kept(BYTES_MAX));
        assert_eq!([has(1), has(3), has(4)], [false; 3], "one that has no room is not kept");
    }
}
