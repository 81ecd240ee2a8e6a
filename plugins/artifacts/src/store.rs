//! The tables of artifacts. Migrations create them; no other code writes them.

use crate::model::{ArtifactId, ArtifactText, Kind, Sort};
use plugin_api::{
    Address, Author, HostError, List, Query, Search, SearchIndex, Sql, Tx, handles, point::LeaderboardInput,
    render_json, sql,
};
use serde::Deserialize;

/// A row of [`ARTIFACTS`], decoded by position.
pub type ListRow<'r> = (&'r str, ArtifactId, Author, i64);

/// A page walks the index of its order.
const ARTIFACTS: List = List::new("artifacts_artifacts a", "a.kept, a.id, a.owner, a.stars");

/// What a request selects: all that is given must hold.
pub struct Selection {
    pub owner: Option<Address>,
    pub kind: Option<Kind>,
    pub tag: Option<String>,
    pub search: Option<Search>,
    pub sort: Sort,
}

/// So many artifacts are rather sorted than looked for in the order of all.
const FEW: i64 = 5_000;
const TAGGED: &str = "SELECT artifact_id FROM artifacts_tags WHERE tag = $1";

pub async fn artifacts(db: &impl Query, selection: Selection) -> Result<List, HostError> {
    let Selection { owner, kind, tag, search, sort } = selection;
    let tagged = tag.as_ref().map(|tag| sql("SELECT row_count FROM artifacts_tags_counts WHERE tag = $1").bind(tag));
    let few_tagged = match (&tag, &tagged, &search) {
        (Some(tag), Some(count), None) if db.row::<i64>(count.clone()).await?.unwrap_or_default() < FEW => {
            Some(sql(TAGGED).bind(tag))
        }
        _ => None,
    };
    let total = match (&owner, &kind, tagged, &search) {
        (None, None, None, None) => Some(sql(ALL)),
        (None, Some(kind), None, None) => {
            Some(sql("SELECT row_count FROM artifacts_artifacts_counts WHERE kind = $1").bind(*kind))
        }
        (None, None, tagged, None) => tagged,
        _ => None,
    };
    let artifacts = ARTIFACTS
        .filter("a.owner = {}", owner)
        .filter("a.kind = {}", kind)
        .search(search, "a.id", &SearchIndex::new("artifacts_artifacts", &["name", "description", "url"]))
        .order_by(sort.order_by())
        .stored_total(total);
    // Where many have the tag, or a search found few, each is asked for its tags.
    Ok(match few_tagged {
        Some(few) => artifacts.hits("a.id", few),
        None => {
            artifacts.filter("EXISTS (SELECT 1 FROM artifacts_tags g WHERE g.tag = {} AND g.artifact_id = a.id)", tag)
        }
    })
}

/// Selects the number of all artifacts.
const ALL: &str = "SELECT cast(sum(row_count) AS BIGINT) FROM artifacts_artifacts_counts";

pub async fn count(db: &impl Query) -> Result<i64, HostError> {
    ARTIFACTS.stored_total(sql(ALL)).count(db).await
}

/// Stores an artifact without stars.
pub async fn insert_artifact(tx: &Tx, owner: Address, text: &ArtifactText) -> Result<ArtifactId, HostError> {
    let insert = sql("INSERT INTO artifacts_artifacts (owner, name, description, kind, url, created_at, stars, kept) \
            VALUES ($1, $2, $3, $4, $5, $6, 0, $7) RETURNING id")
    .bind((owner, &text.name, &text.description, text.kind, text.url.as_deref().unwrap_or_default()))
    .bind((text.created_at, render_json(text)?));
    let id: ArtifactId = tx.one(insert).await?;
    if let Some(tags) = Sql::insert_rows("artifacts_tags", "tag, artifact_id", text.tags.iter().map(|tag| (tag, id))) {
        tx.execute(tags).await?;
    }
    Ok(id)
}

#[derive(Deserialize)]
pub struct ArtifactRow<'r> {
    pub kept: &'r str,
    pub name: &'r str,
    pub owner: Address,
    pub stars: i64,
}

/// At most one row: [`ArtifactRow`].
pub async fn find_artifact(db: &impl Query, artifact: ArtifactId) -> Result<handles::StatementResult, HostError> {
    db.run(sql("SELECT kept, name, owner, stars FROM artifacts_artifacts WHERE id = $1").bind(artifact)).await
}

/// Number of artifacts that each owner published.
pub async fn count_by_owner(db: &impl Query, input: &LeaderboardInput) -> Result<Vec<(Address, u64)>, HostError> {
    let count = sql("SELECT owner, count(*) FROM artifacts_artifacts WHERE created_at >= $1").bind(input.since());
    db.rows(input.select(count, "owner", "count(*) DESC")).await
}

/// Stores a star, unless the address has given one already; returns whether it is new.
pub async fn insert_star(tx: &Tx, artifact: ArtifactId, stargazer: Address) -> Result<bool, HostError> {
    let insert = sql("INSERT INTO artifacts_stars (artifact_id, address, starred_at) VALUES ($1, $2, $3) \
            ON CONFLICT (artifact_id, address) DO NOTHING");
    let is_new = tx.execute(insert.bind((artifact, stargazer, tx.now_s()))).await? > 0;
    if is_new {
        tx.execute(sql("UPDATE artifacts_artifacts SET stars = stars + 1 WHERE id = $1").bind(artifact)).await?;
    }
    Ok(is_new)
}

/// The newest stargazers first.
pub async fn newest_stargazers(db: &impl Query, artifact: ArtifactId, limit: u32) -> Result<Vec<Author>, HostError> {
    let newest = sql("SELECT address FROM artifacts_stars WHERE artifact_id = $1 ORDER BY id DESC LIMIT $2");
    db.rows(newest.bind((artifact, limit))).await
}

pub async fn has_starred(db: &impl Query, artifact: ArtifactId, address: Address) -> Result<bool, HostError> {
    let star = sql("SELECT id FROM artifacts_stars WHERE artifact_id = $1 AND address = $2");
    Ok(db.row::<i64>(star.bind((artifact, address))).await?.is_some())
}

/// Number of stars that the artifacts of each owner received.
pub async fn count_stars_by_owner(db: &impl Query, input: &LeaderboardInput) -> Result<Vec<(Address, u64)>, HostError> {
    let count = match input.since_s {
        Some(second) => input.select(
            sql("SELECT a.owner, count(*) FROM artifacts_stars s \
                JOIN artifacts_artifacts a ON a.id = s.artifact_id WHERE s.starred_at >= $1")
            .bind(second),
            "a.owner",
            "count(*) DESC",
        ),
        None => input.select(
            sql("SELECT a.owner, cast(sum(a.stars) AS bigint) FROM artifacts_artifacts a WHERE a.stars > 0"),
            "a.owner",
            "sum(a.stars) DESC",
        ),
    };
    db.rows(count).await
}
