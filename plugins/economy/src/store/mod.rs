//! The derived tables: migrations create them, handlers of chain events write them, routes read them.

pub mod accounts;
pub mod directory;
pub mod disputes;
pub mod plans;
pub mod streams;
pub mod subs;
pub mod tokens;

use plugin_api::{Bind, HostError, Query, Sql, Value, sql};
use serde::de::DeserializeOwned;

/// Conditions of a list; `{}` stands for the placeholder of the value.
#[derive(Clone, Debug, Default)]
pub struct Conditions(Vec<(&'static str, Value)>);

impl Conditions {
    pub fn and(mut self, condition: &'static str, value: impl Bind) -> Self {
        self.0.push((condition, value.into_value()));
        self
    }

    /// Adds the condition when there is a value.
    pub fn and_if(self, condition: &'static str, value: Option<impl Bind>) -> Self {
        match value {
            Some(value) => self.and(condition, value),
            None => self,
        }
    }

    fn push_to(&self, statement: Sql) -> Sql {
        let joins = std::iter::once(" WHERE ").chain(std::iter::repeat(" AND "));
        self.0.iter().zip(joins).fold(statement, |statement, ((condition, value), join)| {
            statement.push_bind(&format!("{join}{condition}"), value.clone())
        })
    }
}

/// Limit and offset of a list.
#[derive(Clone, Copy, Debug)]
pub struct PageRequest {
    pub limit: u32,
    pub offset: u32,
}

/// The statement of a list. The conditions apply to `table`.
struct List {
    columns: &'static str,
    /// The `FROM` clause.
    from: &'static str,
    /// The table alone, for the total.
    table: &'static str,
    order: &'static str,
}

impl List {
    /// The rows of a page, and the total number of matches.
    async fn read<T: DeserializeOwned>(
        &self,
        db: &impl Query,
        conditions: &Conditions,
        window: PageRequest,
    ) -> Result<(Vec<T>, i64), HostError> {
        let Self { columns, from, table, order } = self;
        let page = conditions
            .push_to(sql(format!("SELECT {columns} FROM {from}")))
            .push_bind(&format!(" ORDER BY {order} LIMIT {{}}"), window.limit)
            .push_bind(" OFFSET {}", window.offset);
        let rows = db.rows(page).await?;
        let total = db.one(conditions.push_to(sql(format!("SELECT count(*) FROM {table}")))).await?;
        Ok((rows, total))
    }
}
