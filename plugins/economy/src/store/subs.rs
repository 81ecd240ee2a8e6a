//! The table of subscriptions.

use crate::model::contracts::{SubCancelled, SubRenewed, Subscribed};
use plugin_api::{Address, HostError, List, Query, Sql, contracts::ChainEvent, sql};
use std::collections::BTreeMap;

pub const TABLE: &str = "economy_subs";

/// The rows decode as [`crate::model::SubView`]s without what depends on the time.
const SUBS: List = List::new(
    "economy_subs s",
    "s.id, s.plan_id, s.payer, p.payee, p.price_per_period, p.period_s AS period, s.paid_through_s AS paid_through, \
     s.cancelled, s.created_at, s.updated_at_block",
)
.join("LEFT JOIN economy_plans p ON p.id = s.plan_id")
.order_by("s.id DESC");

/// Only those that are active at `active_at_s`, if it is there.
pub fn subs(payer: Option<Address>, plan_id: Option<i64>, active_at_s: Option<i64>) -> List {
    let is_counted = payer.is_none() && plan_id.is_none() && active_at_s.is_none();
    SUBS.stored_total(is_counted.then(|| sql("SELECT cast(sum(row_count) AS BIGINT) FROM economy_subs_counts")))
        .filter("s.payer = {}", payer)
        .filter("s.plan_id = {}", plan_id)
        .filter("s.cancelled = 0 AND s.paid_through_s > {}", active_at_s)
}

/// Number of active subscriptions of each of these plans that has any.
pub async fn count_active_of(
    db: &impl Query,
    plans: impl Iterator<Item = i64>,
    now_s: i64,
) -> Result<BTreeMap<i64, i64>, HostError> {
    // `+` makes SQLite find the subscriptions of these plans, instead of all active ones.
    let count = "SELECT plan_id, count(*) FROM economy_subs WHERE +cancelled = 0 AND +paid_through_s > $1 AND plan_id";
    let counts: Vec<(i64, i64)> = db.rows(sql(count).bind(now_s).push_in(plans).push(" GROUP BY plan_id")).await?;
    Ok(counts.into_iter().collect())
}

pub fn insert(event: &ChainEvent<Subscribed>) -> Sql {
    let Subscribed { sub_id, plan_id, payer, paid_through, .. } = event.args;
    sql("INSERT INTO economy_subs \
         (id, plan_id, payer, paid_through_s, cancelled, created_at, updated_at_block) \
         VALUES ($1, $2, $3, $4, 0, $5, $6) ON CONFLICT (id) DO NOTHING")
    .bind((sub_id, plan_id, payer, paid_through, event.time_s, event.block))
}

pub fn set_paid_through(event: &ChainEvent<SubRenewed>) -> Sql {
    let update = sql("UPDATE economy_subs SET paid_through_s = $2, updated_at_block = $3 WHERE id = $1");
    update.bind((event.args.sub_id, event.args.paid_through, event.block))
}

/// `paid_through_s` does not change: the event says only that the subscription is cancelled.
pub fn cancel(event: &ChainEvent<SubCancelled>) -> Sql {
    let update = sql("UPDATE economy_subs SET cancelled = 1, updated_at_block = $2 WHERE id = $1");
    update.bind((event.args.sub_id, event.block))
}
