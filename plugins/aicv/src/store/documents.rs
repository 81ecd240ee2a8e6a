//! What was issued: one row for each agent, and its documents.

use crate::model::{Content, Document, Issue};
use plugin_api::{AgentId, Hash256, HostError, Query, Sql, Tx, sql};
use serde::Deserialize;
use std::sync::Arc;

/// An issue without what it says.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct IssueHead {
    pub fingerprint: Hash256,
    pub issued_at: i64,
    pub written_ms: i64,
    pub as_of_block: i64,
    pub as_of_block_hash: Hash256,
}

/// What no two writes of a row have in common.
pub type IssueVersion = (Hash256, i64, i64);

impl IssueHead {
    pub fn version(&self) -> IssueVersion {
        (self.fingerprint, self.issued_at, self.written_ms)
    }
}

const HEAD: &str = "fingerprint, issued_at, written_ms, as_of_block, as_of_block_hash";

pub async fn head(db: &impl Query, agent: AgentId) -> Result<Option<IssueHead>, HostError> {
    db.row(sql(format!("SELECT {HEAD} FROM aicv_issues WHERE agent_id = $1")).bind(agent)).await
}

/// With what it says.
pub async fn current(db: &impl Query, agent: AgentId) -> Result<Option<(IssueHead, Issue)>, HostError> {
    #[derive(Deserialize)]
    struct Row {
        fingerprint: Hash256,
        issued_at: i64,
        written_ms: i64,
        as_of_block: i64,
        as_of_block_hash: Hash256,
        content: String,
    }
    let select = sql(format!("SELECT {HEAD}, content FROM aicv_issues WHERE agent_id = $1"));
    let Some(row) = db.row::<Row>(select.bind(agent)).await? else { return Ok(None) };
    let Row { fingerprint, issued_at, written_ms, as_of_block, as_of_block_hash, content } = row;
    let head = IssueHead { fingerprint, issued_at, written_ms, as_of_block, as_of_block_hash };
    let content = Content::stored(&content)?;
    Ok(Some((head, Issue { content, issued_at, as_of_block, as_of_block_hash })))
}

/// An issue that is to be stored.
pub struct NewIssue {
    pub agent: AgentId,
    pub fingerprint: Hash256,
    pub issued_at: i64,
    pub as_of_block: i64,
    pub as_of_block_hash: Hash256,
    pub content: String,
    pub document_hash: Hash256,
    pub document: Arc<String>,
}

pub fn set_current(tx: &Tx, issue: &NewIssue) -> Sql {
    let columns = "fingerprint, issued_at, written_ms, as_of_block, as_of_block_hash, content";
    Sql::upsert("aicv_issues", "agent_id", columns)
        .bind((issue.agent, issue.fingerprint, issue.issued_at, tx.now_ms(), issue.as_of_block))
        .bind((issue.as_of_block_hash, &issue.content))
}

pub fn insert_document(issue: &NewIssue) -> Sql {
    insert_row(issue.agent, issue.document_hash, issue.issued_at, &issue.document)
}

/// One that was made again of its issue.
pub fn insert(document: &Document) -> Sql {
    insert_row(document.agent_id, document.hash, document.issued_at, &document.text)
}

fn insert_row(agent: AgentId, hash: Hash256, issued_at: i64, document: &str) -> Sql {
    sql("INSERT INTO aicv_documents (agent_id, document_hash, issued_at, document) VALUES ($1, $2, $3, $4) \
         ON CONFLICT (agent_id, document_hash) DO NOTHING")
    .bind((agent, hash, issued_at, document))
}

/// Deletes the agent's documents but the newest, and those that its owner ever anchored.
pub fn prune(agent: AgentId, kept: i64) -> Sql {
    sql("DELETE FROM aicv_documents WHERE agent_id = $1 AND document_hash NOT IN \
         (SELECT document_hash FROM aicv_anchored WHERE agent_id = $1) AND document_hash NOT IN \
         (SELECT document_hash FROM aicv_documents WHERE agent_id = $1 ORDER BY issued_at DESC, document_hash LIMIT $2)")
    .bind((agent, kept))
}

/// An issued document, as its JSON.
pub async fn find(db: &impl Query, agent: AgentId, hash: Hash256) -> Result<Option<String>, HostError> {
    db.row(sql("SELECT document FROM aicv_documents WHERE agent_id = $1 AND document_hash = $2").bind((agent, hash)))
        .await
}

/// Agents with a document, and documents that are kept.
pub async fn count(db: &impl Query) -> Result<(i64, i64), HostError> {
    let issued: Option<i64> = db.row(sql("SELECT row_count FROM aicv_issues_counts")).await?;
    let kept: Option<i64> = db.row(sql("SELECT row_count FROM aicv_documents_counts")).await?;
    Ok((issued.unwrap_or_default(), kept.unwrap_or_default()))
}
