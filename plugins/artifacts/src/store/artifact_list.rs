//! Lists of artifacts: a page walks the index of its order. A search reads the text of every artifact that passes the other
//! filters.

use crate::model::{ArtifactId, Kind, Sort};
use plugin_api::{Address, HostError, Query, Search, Sql, StatementResult, sql};

/// Selects artifacts.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Searched in name, description and URL.
    pub search: Option<Search>,
    pub kind: Option<Kind>,
    /// Normalised as in storage: trimmed, lower case.
    pub tag: Option<String>,
    pub owner: Option<Address>,
}

#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    pub sort: Sort,
    pub limit: u32,
    pub offset: u32,
}

/// An artifact of a page, decoded by position, which is the fastest.
pub type ListRow<'r> = (ArtifactId, &'r str, Address, i64);

/// The rows of a page ([`ListRow`]), and the total number of matches.
pub async fn list(db: &impl Query, filter: &Filter, window: PageRequest) -> Result<(StatementResult, i64), HostError> {
    let total = db.one(matching("SELECT count(*) FROM artifacts_artifacts a", filter)).await?;
    let page = matching("SELECT a.id, a.kept, a.owner, a.stars FROM artifacts_artifacts a", filter)
        .push(" ORDER BY ")
        .push(window.sort.order_by())
        .push_bind(" LIMIT {}", window.limit)
        .push_bind(" OFFSET {}", window.offset);
    Ok((db.run(page).await?, total))
}

fn matching(select: &'static str, filter: &Filter) -> Sql {
    let mut statement = sql(select);
    let mut word = " WHERE ";
    let mut also = |statement: Sql, condition: &str, value: String| {
        let condition = format!("{word}{condition}");
        word = " AND ";
        statement.push_bind(&condition, value)
    };
    if let Some(owner) = filter.owner {
        statement = also(statement, "a.owner = {}", owner.to_string());
    }
    if let Some(kind) = filter.kind {
        statement = also(statement, "a.kind = {}", kind.as_str().to_owned());
    }
    if let Some(tag) = &filter.tag {
        let tagged = "a.id IN (SELECT artifact_id FROM artifacts_tags WHERE tag = {})";
        statement = also(statement, tagged, tag.clone());
    }
    if let Some(search) = &filter.search {
        let columns = ["a.name", "a.description", "a.url"].map(|column| search.condition(column, "{}"));
        statement = also(statement, &format!("({})", columns.join(" OR ")), search.needle().to_owned());
    }
    statement
}
