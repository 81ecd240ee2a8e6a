//! Lists of tools: online first, then the latest. One statement returns a page together with the total number of matches.

use crate::model::ToolKind;
use plugin_api::{Address, Bind, HostError, Query, Search, Sql, StatementResult, Value, Wei, sql};
use serde::Deserialize;

/// Selects tools. Absent members filter nothing.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// Each search with its columns, one of which must match.
    pub searches: Vec<(Search, &'static [&'static str])>,
    pub kind: Option<ToolKind>,
    pub owner: Option<Address>,
    pub vram_gb_min: Option<f64>,
    pub price_max: Option<Wei>,
    pub online_only: bool,
    /// Whether to list compute only, with the rendered JSON that has its members at the top level.
    pub compute: bool,
}

/// Rows are [`super::tools::ToolRow`]s.
pub struct ToolPage {
    pub rows: StatementResult,
    pub total: i64,
}

#[derive(Deserialize)]
struct TotalRow {
    total: i64,
}

pub async fn list(db: &impl Query, filter: &Filter, limit: u32, offset: u32) -> Result<ToolPage, HostError> {
    let matches = FilterSql::of(filter);
    let rows = db.run(matches.page(limit, offset)).await?;
    let total = match rows.first::<TotalRow>()? {
        Some(row) => row.total,
        // No row carries the total: nothing matches, or the page is past the end.
        None if offset == 0 => 0,
        None => db.one(matches.count()).await?,
    };
    Ok(ToolPage { rows, total })
}

/// The condition of a list, and the values of its placeholders.
struct FilterSql {
    kept: &'static str,
    conditions: Vec<String>,
    params: Vec<Value>,
}

impl FilterSql {
    fn of(filter: &Filter) -> Self {
        let kept = if filter.compute { "kept_compute" } else { "kept" };
        let mut matches = Self { kept, conditions: Vec::new(), params: Vec::new() };
        if filter.compute {
            matches.conditions.push("kind = 'compute'".to_owned());
        }
        if filter.online_only {
            matches.conditions.push("online = 1".to_owned());
        }
        matches.add(filter.kind, |place| format!("kind = {place}"));
        matches.add(filter.owner, |place| format!("owner = {place}"));
        matches.add(filter.vram_gb_min, |place| format!("vram_gb >= {place}"));
        matches.add(filter.price_max.map(|price| price.sort_key()), |place| format!("price_key <= {place}"));
        for (search, columns) in &filter.searches {
            matches.add(Some(search.needle()), |place| {
                let parts: Vec<String> = columns.iter().map(|column| search.condition(column, place)).collect();
                format!("({})", parts.join(" OR "))
            });
        }
        matches
    }

    fn add(&mut self, value: Option<impl Bind>, condition: impl Fn(&str) -> String) {
        if let Some(value) = value {
            self.params.push(value.into_value());
            self.conditions.push(condition(&format!("${}", self.params.len())));
        }
    }

    fn condition(&self) -> String {
        if self.conditions.is_empty() { String::new() } else { format!(" WHERE {}", self.conditions.join(" AND ")) }
    }

    fn bind(&self, text: String) -> Sql {
        self.params.iter().cloned().fold(sql(text), Sql::bind)
    }

    fn page(&self, limit: u32, offset: u32) -> Sql {
        let (kept, condition) = (self.kept, self.condition());
        let page = self.bind(format!(
            "SELECT id, {kept} AS kept, owner, online, seen_at, probed_at, \
             (SELECT count(*) FROM tools_tools{condition}) AS total \
             FROM tools_tools{condition} ORDER BY online DESC, updated_at DESC, id DESC"
        ));
        page.push_bind(" LIMIT {}", limit).push_bind(" OFFSET {}", offset)
    }

    fn count(&self) -> Sql {
        self.bind(format!("SELECT count(*) FROM tools_tools{}", self.condition()))
    }
}

/// Number of all tools, and of those that are online.
pub async fn count_all(db: &impl Query) -> Result<(i64, i64), HostError> {
    db.one(sql("SELECT count(*), cast(coalesce(sum(online), 0) AS BIGINT) FROM tools_tools")).await
}

/// A listing of compute, for the list of work.
#[derive(Debug, Deserialize)]
pub struct OfferRow {
    pub id: i64,
    pub owner: Address,
    pub description: String,
    pub created_at: i64,
    pub kept_compute: String,
}

/// The newest listings of compute, or only this one.
pub async fn offers(db: &impl Query, tool: Option<i64>, limit: u32) -> Result<Vec<OfferRow>, HostError> {
    let offers = "SELECT id, owner, description, created_at, kept_compute FROM tools_tools WHERE kind = 'compute'";
    db.rows(match tool {
        Some(tool) => sql(format!("{offers} AND id = $1")).bind(tool),
        None => sql(format!("{offers} ORDER BY created_at DESC, id DESC LIMIT $1")).bind(limit),
    })
    .await
}
