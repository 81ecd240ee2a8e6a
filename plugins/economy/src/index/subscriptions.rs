//! Events of StreamPay: plans and subscriptions. A subscriber's charge (SubClaimed) changes no row.

use super::{block, publish, seconds};
use crate::{
    Economy,
    deployment::STREAM_PAY,
    store::{plans, subs},
};
use plugin_api::{Address, ChainEvent, Definition, HostError, PluginContext, Tx, Wei, chain_int};
use serde::Deserialize;
use serde_json::json;

pub const PLAN_TYPE: &str = "plan.created";
pub const SUB_TYPE: &str = "sub.created";

const PLAN_CREATED: &str = "PlanCreated(uint256 indexed planId, address indexed payee, uint256 pricePerPeriod, \
     uint64 period, string metadataURI)";
const PLAN_ACTIVE_SET: &str = "PlanActiveSet(uint256 indexed planId, bool active)";
const SUBSCRIBED: &str = "Subscribed(uint256 indexed subId, uint256 indexed planId, address indexed payer, \
     uint32 periods, uint64 paidThrough)";
const RENEWED: &str = "SubRenewed(uint256 indexed subId, uint32 periods, uint64 paidThrough)";
const CANCELLED: &str = "SubCancelled(uint256 indexed subId, uint256 refund)";

pub fn subscribe(definition: Definition<Economy>) -> Definition<Economy> {
    definition
        .on_chain_event(STREAM_PAY, PLAN_CREATED, &[plans::TABLE], plan_created)
        .on_chain_event(STREAM_PAY, PLAN_ACTIVE_SET, &[plans::TABLE], plan_active_set)
        .on_chain_event(STREAM_PAY, SUBSCRIBED, &[subs::TABLE], subscribed)
        .on_chain_event(STREAM_PAY, RENEWED, &[subs::TABLE], renewed)
        .on_chain_event(STREAM_PAY, CANCELLED, &[subs::TABLE], cancelled)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlanCreated {
    #[serde(deserialize_with = "chain_int")]
    plan_id: i64,
    payee: Address,
    price_per_period: Wei,
    #[serde(deserialize_with = "seconds")]
    period: i64,
    #[serde(rename = "metadataURI")]
    metadata_uri: String,
}

async fn plan_created(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<PlanCreated>) -> Result<(), HostError> {
    let PlanCreated { plan_id, payee, price_per_period, period, metadata_uri } = &event.args;
    let row = plans::NewPlan {
        id: *plan_id,
        payee: *payee,
        price_per_period: *price_per_period,
        period_s: *period,
        metadata_uri,
        created_at: event.time_s,
        block: block(&event),
    };
    plans::insert(&tx, row)?;
    let data = json!({
        "planId": plan_id, "payee": payee, "pricePerPeriod": price_per_period, "period": period,
        "metadataURI": metadata_uri,
    });
    publish(&tx, &event, PLAN_TYPE, Some(*payee), ("plan", plan_id.to_string()), data)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PlanActiveSet {
    #[serde(deserialize_with = "chain_int")]
    plan_id: i64,
    active: bool,
}

async fn plan_active_set(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<PlanActiveSet>) -> Result<(), HostError> {
    plans::set_active(&tx, event.args.plan_id, event.args.active, block(&event))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Subscribed {
    #[serde(deserialize_with = "chain_int")]
    sub_id: i64,
    #[serde(deserialize_with = "chain_int")]
    plan_id: i64,
    payer: Address,
    periods: u32,
    #[serde(deserialize_with = "seconds")]
    paid_through: i64,
}

async fn subscribed(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Subscribed>) -> Result<(), HostError> {
    let Subscribed { sub_id, plan_id, payer, periods, paid_through } = event.args;
    let row = subs::NewSub {
        id: sub_id,
        plan_id,
        payer,
        paid_through_s: paid_through,
        created_at: event.time_s,
        block: block(&event),
    };
    subs::insert(&tx, row)?;
    let payee = plans::payee(&tx, plan_id).await?;
    let data = json!({
        "subId": sub_id, "planId": plan_id, "payer": payer, "payee": payee, "periods": periods,
        "paidThrough": paid_through,
    });
    publish(&tx, &event, SUB_TYPE, Some(payer), ("sub", sub_id.to_string()), data)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Renewed {
    #[serde(deserialize_with = "chain_int")]
    sub_id: i64,
    #[serde(deserialize_with = "seconds")]
    paid_through: i64,
}

async fn renewed(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Renewed>) -> Result<(), HostError> {
    subs::set_paid_through(&tx, event.args.sub_id, event.args.paid_through, block(&event))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled {
    #[serde(deserialize_with = "chain_int")]
    sub_id: i64,
}

/// `paidThrough` does not change: the event says only that the subscription is cancelled.
async fn cancelled(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Cancelled>) -> Result<(), HostError> {
    subs::cancel(&tx, event.args.sub_id, block(&event))
}
