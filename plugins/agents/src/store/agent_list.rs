//! Lists of agents: one statement returns a page together with the total number of matches.
//!
//! Without a search the page walks the index of its order and the total is a stored count. A search (`q`) reads every agent's
//! name and endpoint once.

use super::agents::{AgentWithCard, COLUMNS, Columns, TABLES};
use crate::model::{AgentStatus, Sort};
use plugin_api::{HostError, Query, Search, Sql, StatementResult, sql};

/// Selects agents.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    pub status: Option<AgentStatus>,
    /// Searched in name and endpoint.
    pub search: Option<Search>,
}

#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    pub sort: Sort,
    pub limit: u32,
    pub offset: u32,
}

#[derive(serde::Deserialize)]
struct TotalRow {
    total: i64,
}

/// The agents of a page, and the total number of matches.
pub struct AgentPage {
    outcome: StatementResult,
    pub total: i64,
}

impl AgentPage {
    /// Each row carries the total.
    pub fn rows(&self) -> Result<Vec<AgentWithCard<'_, i64>>, HostError> {
        Ok(self.outcome.all::<Columns<'_, i64>>()?.into_iter().map(AgentWithCard::from).collect())
    }
}

pub async fn list(db: &impl Query, filter: &Filter, window: PageRequest) -> Result<AgentPage, HostError> {
    let outcome = db.run(page(filter, window)).await?;
    let total = match outcome.first::<TotalRow>()? {
        Some(row) => row.total,
        // No row carries the total: nothing matches, or the page is past the end.
        None if window.offset == 0 => 0,
        None => db.one::<TotalRow>(total(filter)).await?.total,
    };
    Ok(AgentPage { outcome, total })
}

/// The parts of a list's statement that depend on the filter.
struct FilterSql {
    /// `WHERE …` on `agents_agents a`, or empty.
    condition: String,
    /// An SQL expression for the number of matches.
    count: String,
    /// Values of `$1 …`.
    params: Vec<String>,
}

fn filter_sql(filter: &Filter) -> FilterSql {
    let status = filter.status.map(|status| status.as_str().to_owned());
    match (&filter.search, status) {
        (None, None) => FilterSql {
            condition: String::new(),
            count: "coalesce((SELECT cast(sum(agents) AS BIGINT) FROM agents_counts), 0)".to_owned(),
            params: Vec::new(),
        },
        (None, Some(status)) => FilterSql {
            condition: "WHERE a.status = $1".to_owned(),
            count: "coalesce((SELECT agents FROM agents_counts WHERE status = $1), 0)".to_owned(),
            params: vec![status],
        },
        (Some(search), status) => {
            let found = |table: &str| {
                let (name, endpoint) = (format!("{table}.name"), format!("{table}.endpoint"));
                let found = format!("({} OR {})", search.condition(&name, "$1"), search.condition(&endpoint, "$1"));
                if status.is_some() { format!("{found} AND {table}.status = $2") } else { found }
            };
            FilterSql {
                condition: format!("WHERE {}", found("a")),
                count: format!("(SELECT count(*) FROM agents_agents n WHERE {})", found("n")),
                params: std::iter::once(search.needle().to_owned()).chain(status.clone()).collect(),
            }
        }
    }
}

fn bind(text: String, params: Vec<String>) -> Sql {
    params.into_iter().fold(sql(text), Sql::bind)
}

fn page(filter: &Filter, PageRequest { sort, limit, offset }: PageRequest) -> Sql {
    let FilterSql { condition, count, params } = filter_sql(filter);
    let order = sort.order_by();
    let text = format!("SELECT {COLUMNS}, {count} AS total FROM {TABLES} {condition} ORDER BY {order}");
    bind(text, params).push_bind(" LIMIT {}", limit).push_bind(" OFFSET {}", offset)
}

fn total(filter: &Filter) -> Sql {
    let FilterSql { count, params, .. } = filter_sql(filter);
    bind(format!("SELECT {count} AS total"), params)
}
