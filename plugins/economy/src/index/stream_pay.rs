//! Events of StreamPay: streams.

use super::{block, gross, publish, seconds};
use crate::{Economy, deployment::STREAM_PAY, store::streams};
use plugin_api::{Address, ChainEvent, Definition, HostError, PluginContext, Tx, Wei, chain_int};
use serde::Deserialize;
use serde_json::json;

pub const OPENED_TYPE: &str = "stream.opened";
pub const CANCELLED_TYPE: &str = "stream.cancelled";

const OPENED: &str = "StreamOpened(uint256 indexed id, address indexed payer, address indexed payee, uint256 ratePerSec, \
     uint256 deposit, uint64 start, uint64 stop)";
const TOPPED_UP: &str = "StreamToppedUp(uint256 indexed id, uint256 amount, uint256 deposit, uint64 stop)";
const CLAIMED: &str = "StreamClaimed(uint256 indexed id, uint256 payeeAmount, uint256 fee)";
const CANCELLED: &str =
    "StreamCancelled(uint256 indexed id, address indexed by, uint256 payeeAmount, uint256 fee, uint256 refund)";

pub fn subscribe(definition: Definition<Economy>) -> Definition<Economy> {
    definition
        .on_chain_event(STREAM_PAY, OPENED, &[streams::TABLE], opened)
        .on_chain_event(STREAM_PAY, TOPPED_UP, &[streams::TABLE], topped_up)
        .on_chain_event(STREAM_PAY, CLAIMED, &[streams::TABLE], claimed)
        .on_chain_event(STREAM_PAY, CANCELLED, &[streams::TABLE], cancelled)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Opened {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    payer: Address,
    payee: Address,
    rate_per_sec: Wei,
    deposit: Wei,
    #[serde(deserialize_with = "seconds")]
    start: i64,
    #[serde(deserialize_with = "seconds")]
    stop: i64,
}

async fn opened(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Opened>) -> Result<(), HostError> {
    let Opened { id, payer, payee, rate_per_sec, deposit, start, stop } = event.args;
    let row = streams::NewStream {
        id,
        payer,
        payee,
        rate_per_sec,
        deposit,
        start_s: start,
        stop_s: stop,
        tx_opened: event.tx,
        block: block(&event),
    };
    streams::insert(&tx, row)?;
    let data = json!({
        "streamId": id, "payer": payer, "payee": payee, "ratePerSec": rate_per_sec, "deposit": deposit,
        "start": start, "stop": stop,
    });
    publish(&tx, &event, OPENED_TYPE, Some(payer), ("stream", id.to_string()), data)
}

#[derive(Deserialize)]
struct ToppedUp {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    /// The total deposit, not the added part.
    deposit: Wei,
    #[serde(deserialize_with = "seconds")]
    stop: i64,
}

async fn topped_up(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<ToppedUp>) -> Result<(), HostError> {
    let ToppedUp { id, deposit, stop } = event.args;
    streams::set_deposit(&tx, id, deposit, stop, block(&event))
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Claimed {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    payee_amount: Wei,
    fee: Wei,
}

async fn claimed(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Claimed>) -> Result<(), HostError> {
    let Claimed { id, payee_amount, fee } = event.args;
    streams::claim(&tx, id, gross(payee_amount, fee), false, block(&event)).await.map(drop)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled {
    #[serde(deserialize_with = "chain_int")]
    id: i64,
    by: Address,
    payee_amount: Wei,
    fee: Wei,
    refund: Wei,
}

async fn cancelled(_: PluginContext<Economy>, tx: Tx, event: ChainEvent<Cancelled>) -> Result<(), HostError> {
    let Cancelled { id, by, payee_amount, fee, refund } = event.args;
    let parties = streams::claim(&tx, id, gross(payee_amount, fee), true, block(&event)).await?;
    let (payer, payee) = parties.unzip();
    let data = json!({
        "streamId": id, "payer": payer, "payee": payee, "toPayee": payee_amount, "toPayer": refund, "fee": fee,
    });
    publish(&tx, &event, CANCELLED_TYPE, Some(by), ("stream", id.to_string()), data)
}
