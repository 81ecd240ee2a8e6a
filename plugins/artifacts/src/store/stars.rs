//! Stars: at most one per address and artifact.

use crate::model::ArtifactId;
use plugin_api::{Address, HostError, Query, Tx, sql};

/// Stores a star; returns whether it is new.
pub async fn give(tx: &Tx, artifact: ArtifactId, stargazer: Address, now_s: i64) -> Result<bool, HostError> {
    let insert = sql("INSERT INTO artifacts_stars (artifact_id, address, starred_at) VALUES ($1, $2, $3) \
            ON CONFLICT (artifact_id, address) DO NOTHING");
    let is_new = tx.execute(insert.bind(artifact).bind(stargazer).bind(now_s)).await? > 0;
    if is_new {
        tx.execute(sql("UPDATE artifacts_artifacts SET stars = stars + 1 WHERE id = $1").bind(artifact)).await?;
    }
    Ok(is_new)
}

/// The newest stargazers first.
pub async fn newest(db: &impl Query, artifact: ArtifactId, limit: u32) -> Result<Vec<Address>, HostError> {
    let newest = sql("SELECT address FROM artifacts_stars WHERE artifact_id = $1 ORDER BY id DESC LIMIT $2");
    db.rows(newest.bind(artifact).bind(limit)).await
}

pub async fn is_given(db: &impl Query, artifact: ArtifactId, stargazer: Address) -> Result<bool, HostError> {
    let given = sql("SELECT id FROM artifacts_stars WHERE artifact_id = $1 AND address = $2");
    Ok(db.row::<i64>(given.bind(artifact).bind(stargazer)).await?.is_some())
}

/// Number of stars that the artifacts of each owner received since that second; of all when it is absent.
pub async fn count_by_owner(db: &impl Query, since_s: Option<i64>) -> Result<Vec<(Address, u64)>, HostError> {
    db.rows(match since_s {
        Some(second) => sql("SELECT a.owner, count(*) FROM artifacts_stars s \
                JOIN artifacts_artifacts a ON a.id = s.artifact_id WHERE s.starred_at >= $1 GROUP BY a.owner")
        .bind(second),
        None => sql("SELECT owner, cast(sum(stars) AS bigint) FROM artifacts_artifacts WHERE stars > 0 GROUP BY owner"),
    })
    .await
}
