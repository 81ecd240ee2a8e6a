//! Lists of pages. A page of the list walks the index of its order, and the total is a stored count.

use crate::model::Sort;
use plugin_api::{Address, HostError, Query, StatementResult, sql};
use serde::Deserialize;

/// A row of the list.
#[derive(Deserialize)]
pub struct ListRow<'r> {
    pub kept: &'r str,
    pub created_by: Address,
    pub updated_by: Address,
}

/// Rows are [`ListRow`]s.
pub async fn list(db: &impl Query, sort: Sort, limit: u32, offset: u32) -> Result<StatementResult, HostError> {
    let order = sort.order_by();
    let list = sql(format!("SELECT kept, created_by, updated_by FROM kb_pages ORDER BY {order} LIMIT $1 OFFSET $2"));
    db.run(list.bind(limit).bind(offset)).await
}
