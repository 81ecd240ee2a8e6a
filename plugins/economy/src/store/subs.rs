//! The table of subscriptions.

use super::{Conditions, List, PageRequest};
use plugin_api::{Address, HostError, Query, Tx, Wei, sql};
use serde::Deserialize;
use std::collections::BTreeMap;

pub const TABLE: &str = "economy_subs";

/// A subscription with columns of its plan.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct SubRow {
    pub id: i64,
    pub plan_id: i64,
    pub payer: Address,
    pub payee: Option<Address>,
    pub price_per_period: Option<Wei>,
    pub period_s: Option<i64>,
    pub paid_through_s: i64,
    pub cancelled: bool,
    pub created_at: i64,
    pub updated_at_block: i64,
}

/// A new subscription.
pub struct NewSub {
    pub id: i64,
    pub plan_id: i64,
    pub payer: Address,
    pub paid_through_s: i64,
    pub created_at: i64,
    pub block: i64,
}

pub fn insert(tx: &Tx, new: NewSub) -> Result<(), HostError> {
    let insert = sql("INSERT INTO economy_subs \
         (id, plan_id, payer, paid_through_s, cancelled, created_at, updated_at_block) \
         VALUES ($1, $2, $3, $4, 0, $5, $6) ON CONFLICT (id) DO NOTHING")
    .bind(new.id)
    .bind(new.plan_id)
    .bind(new.payer)
    .bind(new.paid_through_s)
    .bind(new.created_at)
    .bind(new.block);
    tx.defer(insert)
}

pub fn set_paid_through(tx: &Tx, id: i64, paid_through_s: i64, block: i64) -> Result<(), HostError> {
    let update = sql("UPDATE economy_subs SET paid_through_s = $2, updated_at_block = $3 WHERE id = $1");
    tx.defer(update.bind(id).bind(paid_through_s).bind(block))
}

pub fn cancel(tx: &Tx, id: i64, block: i64) -> Result<(), HostError> {
    let update = sql("UPDATE economy_subs SET cancelled = 1, updated_at_block = $2 WHERE id = $1");
    tx.defer(update.bind(id).bind(block))
}

/// Selects subscriptions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Filter {
    pub payer: Option<Address>,
    pub plan_id: Option<i64>,
    pub only_active: bool,
}

const LIST: List = List {
    columns: "s.id, s.plan_id, s.payer, p.payee, p.price_per_period, p.period_s, s.paid_through_s, s.cancelled, \
         s.created_at, s.updated_at_block",
    from: "economy_subs s LEFT JOIN economy_plans p ON p.id = s.plan_id",
    table: "economy_subs s",
    order: "s.id DESC",
};

pub async fn list(
    db: &impl Query,
    filter: Filter,
    now_s: i64,
    window: PageRequest,
) -> Result<(Vec<SubRow>, i64), HostError> {
    let conditions = Conditions::default()
        .and_if("s.payer = {}", filter.payer)
        .and_if("s.plan_id = {}", filter.plan_id)
        .and_if("s.cancelled = 0 AND s.paid_through_s > {}", filter.only_active.then_some(now_s));
    LIST.read(db, &conditions, window).await
}

/// Number of active subscriptions of each of these plans.
pub async fn count_active_of(
    db: &impl Query,
    plans: impl Iterator<Item = i64>,
    now_s: i64,
) -> Result<BTreeMap<i64, i64>, HostError> {
    let mut count =
        sql("SELECT plan_id, count(*) FROM economy_subs WHERE cancelled = 0 AND paid_through_s > $1").bind(now_s);
    let mut join = " AND plan_id IN ({}";
    for plan in plans {
        count = count.push_bind(join, plan);
        join = ", {}";
    }
    if count.param_count() == 1 {
        return Ok(BTreeMap::new());
    }
    let counts: Vec<(i64, i64)> = db.rows(count.push(") GROUP BY plan_id")).await?;
    Ok(counts.into_iter().collect())
}

pub async fn count_active(db: &impl Query, now_s: i64) -> Result<i64, HostError> {
    db.one(sql("SELECT count(*) FROM economy_subs WHERE cancelled = 0 AND paid_through_s > $1").bind(now_s)).await
}
