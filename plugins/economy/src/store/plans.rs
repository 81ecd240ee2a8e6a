//! The table of plans.

use super::{Conditions, List, PageRequest};
use plugin_api::{Address, HostError, Query, Tx, Wei, sql};
use serde::Deserialize;

pub const TABLE: &str = "economy_plans";

#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct PlanRow {
    pub id: i64,
    pub payee: Address,
    pub price_per_period: Wei,
    pub period_s: i64,
    pub active: bool,
    pub metadata_uri: String,
    pub created_at: i64,
    pub updated_at_block: i64,
}

/// A new plan; it is active.
pub struct NewPlan<'a> {
    pub id: i64,
    pub payee: Address,
    pub price_per_period: Wei,
    pub period_s: i64,
    pub metadata_uri: &'a str,
    pub created_at: i64,
    pub block: i64,
}

pub fn insert(tx: &Tx, new: NewPlan<'_>) -> Result<(), HostError> {
    let insert = sql("INSERT INTO economy_plans \
         (id, payee, price_per_period, period_s, active, metadata_uri, created_at, updated_at_block) \
         VALUES ($1, $2, $3, $4, 1, $5, $6, $7) ON CONFLICT (id) DO NOTHING")
    .bind(new.id)
    .bind(new.payee)
    .bind(new.price_per_period)
    .bind(new.period_s)
    .bind(new.metadata_uri)
    .bind(new.created_at)
    .bind(new.block);
    tx.defer(insert)
}

pub fn set_active(tx: &Tx, id: i64, active: bool, block: i64) -> Result<(), HostError> {
    let update = sql("UPDATE economy_plans SET active = $2, updated_at_block = $3 WHERE id = $1");
    tx.defer(update.bind(id).bind(active).bind(block))
}

pub async fn payee(db: &impl Query, id: i64) -> Result<Option<Address>, HostError> {
    db.row(sql("SELECT payee FROM economy_plans WHERE id = $1").bind(id)).await
}

/// Selects plans.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    pub payee: Option<Address>,
    pub only_active: bool,
}

const LIST: List = List {
    columns: "id, payee, price_per_period, period_s, active, metadata_uri, created_at, updated_at_block",
    from: TABLE,
    table: TABLE,
    order: "id DESC",
};

pub async fn list(db: &impl Query, filter: Filter, window: PageRequest) -> Result<(Vec<PlanRow>, i64), HostError> {
    let conditions = Conditions::default()
        .and_if("payee = {}", filter.payee)
        .and_if("active = {}", filter.only_active.then_some(true));
    LIST.read(db, &conditions, window).await
}
