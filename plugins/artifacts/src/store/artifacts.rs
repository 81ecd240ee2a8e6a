//! Artifacts: inserts, reads and counts.

use crate::model::{ArtifactId, ArtifactText};
use plugin_api::{Address, HostError, Query, Sql, StatementResult, Tx, render_json, sql};
use serde::Deserialize;

/// Stores an artifact without stars.
pub async fn publish(tx: &Tx, owner: Address, text: &ArtifactText) -> Result<ArtifactId, HostError> {
    let insert = sql("INSERT INTO artifacts_artifacts (owner, name, description, kind, url, created_at, stars, kept) \
            VALUES ($1, $2, $3, $4, $5, $6, 0, $7) RETURNING id")
    .bind(owner)
    .bind(&text.name)
    .bind(&text.description)
    .bind(text.kind.as_str())
    .bind(text.url.as_deref().unwrap_or_default())
    .bind(text.created_at)
    .bind(render_json(text)?);
    let id: ArtifactId = tx.one(insert).await?;
    if !text.tags.is_empty() {
        tx.execute(tag_with(&text.tags, id)).await?;
    }
    Ok(id)
}

fn tag_with(tags: &[String], artifact: ArtifactId) -> Sql {
    let rows: Vec<String> = (2..).zip(tags).map(|(number, _)| format!("(${number}, $1)")).collect();
    let insert = sql(format!("INSERT INTO artifacts_tags (tag, artifact_id) VALUES {}", rows.join(", ")));
    tags.iter().fold(insert.bind(artifact), Sql::bind)
}

/// A row of `artifacts_artifacts`.
#[derive(Deserialize)]
pub struct ArtifactRow<'r> {
    pub kept: &'r str,
    pub name: &'r str,
    pub owner: Address,
    pub stars: i64,
}

/// At most one row: [`ArtifactRow`].
pub async fn find(db: &impl Query, artifact: ArtifactId) -> Result<StatementResult, HostError> {
    db.run(sql("SELECT kept, name, owner, stars FROM artifacts_artifacts WHERE id = $1").bind(artifact)).await
}

pub async fn count(db: &impl Query) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM artifacts_artifacts")).await
}

/// Number of artifacts that each owner published since that second; of all when it is absent.
pub async fn count_by_owner(db: &impl Query, since_s: Option<i64>) -> Result<Vec<(Address, u64)>, HostError> {
    let all = "SELECT owner, count(*) FROM artifacts_artifacts";
    db.rows(match since_s {
        Some(second) => sql(format!("{all} WHERE created_at >= $1 GROUP BY owner")).bind(second),
        None => sql(format!("{all} GROUP BY owner")),
    })
    .await
}
