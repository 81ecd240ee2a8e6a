//! The table of tokens.

use crate::model::contracts::Launched;
use plugin_api::{Address, HostError, List, Query, Sql, Tx, Wei, contracts::ChainEvent, sql};
use serde::Deserialize;

pub const TABLE: &str = "economy_tokens";

/// Chain order is also the order of the times. The rows decode as [`crate::model::TokenView`]s.
const TOKENS: List = List::new(
    "economy_tokens t",
    "t.token, t.agent_id, t.symbol, t.launched_at, t.buys, t.sells, t.fmx_in, t.fmx_out, t.distributed, t.tx_launched, \
     a.name AS agent_name, a.owner",
)
.join("LEFT JOIN economy_agents a ON a.id = t.agent_id")
.order_by("t.nth DESC");

pub fn tokens(agent_id: Option<i64>) -> List {
    let total = agent_id.is_none().then(|| sql("SELECT row_count FROM economy_tokens_counts"));
    TOKENS.filter("t.agent_id = {}", agent_id).stored_total(total)
}

pub fn insert(event: &ChainEvent<Launched>) -> Sql {
    let Launched { agent_id, token, symbol } = &event.args;
    sql("INSERT INTO economy_tokens (token, nth, agent_id, symbol, launched_at, buys, sells, fmx_in, fmx_out, \
         distributed, tx_launched) \
         SELECT $1, coalesce(max(nth), 0) + 1, $2, $3, $4, 0, 0, '0', '0', '0', $5 FROM economy_tokens \
         WHERE true ON CONFLICT (token) DO NOTHING")
    .bind((token, agent_id, symbol, event.time_s, event.tx))
}

/// A trade of a token, or the totals of all.
#[derive(Default, Deserialize)]
pub struct Trade {
    pub buys: i64,
    pub sells: i64,
    pub fmx_in: Wei,
    pub fmx_out: Wei,
    pub distributed: Wei,
}

/// Adds a trade to the totals of a token, if it is indexed.
pub async fn add_trade(tx: &Tx, token: Address, trade: Trade) -> Result<(), HostError> {
    let known = sql("SELECT buys, sells, fmx_in, fmx_out, distributed FROM economy_tokens WHERE token = $1");
    let Some(totals) = tx.row::<Trade>(known.bind(token)).await? else { return Ok(()) };
    let update = sql("UPDATE economy_tokens SET buys = $2, sells = $3, fmx_in = $4, fmx_out = $5, distributed = $6 \
         WHERE token = $1")
    .bind((token, totals.buys + trade.buys, totals.sells + trade.sells))
    .bind((totals.fmx_in.saturating_add(trade.fmx_in), totals.fmx_out.saturating_add(trade.fmx_out)))
    .bind(totals.distributed.saturating_add(trade.distributed));
    tx.defer(update)
}
