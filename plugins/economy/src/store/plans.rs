//! The table of plans.

use crate::model::contracts::{PlanActiveSet, PlanCreated};
use plugin_api::{Address, HostError, List, Query, Sql, contracts::ChainEvent, sql};

pub const TABLE: &str = "economy_plans";

/// The rows decode as [`crate::model::PlanView`]s without the number of subscriptions.
const PLANS: List = List::new(
    TABLE,
    "id, payee, price_per_period, period_s AS period, active, metadata_uri, created_at, updated_at_block",
)
.order_by("id DESC");

pub fn plans(payee: Option<Address>, only_active: bool) -> List {
    let total = payee.is_none().then(|| {
        let total = sql("SELECT cast(sum(row_count) AS BIGINT) FROM economy_plans_counts WHERE active >= $1");
        total.bind(only_active)
    });
    PLANS.filter("payee = {}", payee).filter_if(only_active, "active = 1").stored_total(total)
}

pub fn insert(event: &ChainEvent<PlanCreated>) -> Sql {
    let PlanCreated { plan_id, payee, price_per_period, period, metadata_uri } = &event.args;
    sql("INSERT INTO economy_plans \
         (id, payee, price_per_period, period_s, active, metadata_uri, created_at, updated_at_block, tx_created) \
         VALUES ($1, $2, $3, $4, 1, $5, $6, $7, $8) ON CONFLICT (id) DO NOTHING")
    .bind((plan_id, payee, price_per_period, period, metadata_uri, event.time_s, event.block, event.tx))
}

pub fn set_active(event: &ChainEvent<PlanActiveSet>) -> Sql {
    let update = sql("UPDATE economy_plans SET active = $2, updated_at_block = $3 WHERE id = $1");
    update.bind((event.args.plan_id, event.args.active, event.block))
}

pub async fn payee(db: &impl Query, id: i64) -> Result<Option<Address>, HostError> {
    db.row(sql("SELECT payee FROM economy_plans WHERE id = $1").bind(id)).await
}
