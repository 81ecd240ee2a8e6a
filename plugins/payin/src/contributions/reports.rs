//! Tables for operators: `gateway payin addresses`.

use crate::{
    Payin,
    store::addresses::{AddressRow, FUNDED, GIVEN},
};
use plugin_api::{
    HostError, PluginContext,
    point::{ReportRequest, ReportTable, ReportsInput},
};
use serde_json::{Value, json};

const FUNDED_ONLY: &str = "funded";
const COLUMNS: [&str; 8] = ["index", "chain", "asset", "token", "deposits", "address", "quote", "xpub"];

/// Wallets stop at a gap of 20 empty addresses, so the operator needs the indexes.
pub async fn reports(cx: PluginContext<Payin>, input: ReportsInput) -> Result<Vec<ReportTable>, HostError> {
    let title = "deposit addresses of single quotes, children 0/index of their xpub, with what came to them";
    let report =
        ReportTable::new("addresses", title, &COLUMNS).option(FUNDED_ONLY, "only those to which something came");
    let Some(ReportRequest { options, offset, limit, .. }) = input.read else { return Ok(vec![report]) };
    let list = if options.contains(FUNDED_ONLY) { FUNDED } else { GIVEN };
    let page = list.page(limit, offset).fetch(&cx.db()).await?;
    let rows: Vec<Vec<Value>> = page.rows()?.into_iter().map(cells).collect();
    let more = i64::from(offset) + rows.len().try_into().unwrap_or(i64::MAX) < page.total;
    Ok(vec![report.with_rows(rows, more)])
}

fn cells(row: AddressRow) -> Vec<Value> {
    let AddressRow { xpub, address_index, chain, address, quote, asset, token, deposits } = row;
    vec![
        json!(address_index),
        json!(chain),
        json!(asset),
        json!(token),
        json!(deposits),
        json!(address),
        json!(quote),
        json!(xpub),
    ]
}
