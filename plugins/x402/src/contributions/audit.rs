//! Lines of audit exports: what an agent's owner paid and was paid. Of the URL that was paid for only its origin is shown.

use crate::{
    X402, chain,
    model::{VoucherRow, VoucherView},
    store::audit::{self, KIND, SettledRow},
};
use plugin_api::{
    HostError, PluginContext,
    point::{AuditInput, AuditLine, AuditLines, AuditPosition, members},
};
use serde_json::json;

pub async fn audit_lines(cx: PluginContext<X402>, input: AuditInput) -> Result<AuditLines, HostError> {
    let (db, now_s) = (cx.db(), cx.now_s());
    let events = input.events(&db, &chain::EVENT_TYPES).await?;
    let settled = audit::settlements(&db, &input).await?.into_iter().map(settled_line).collect();
    let vouchers = audit::vouchers(&db, &input).await?.into_iter().map(|row| voucher_line(row, now_s)).collect();
    // There is a row more than an export has, where others follow.
    let first = |lines: Vec<AuditLine>| AuditLines { lines, more: false }.first(input.limit);
    Ok(AuditLines::merge([events, first(settled), first(vouchers)]).first(input.limit))
}

fn settled_line(row: SettledRow) -> AuditLine {
    let (block, log_index) = (row.block, row.log_index);
    AuditLine {
        at: AuditPosition { ts: row.settled_at, block, log_index, kind: KIND.to_owned(), id: String::new() },
        members: members([
            ("event", "Settled".into()),
            ("block", block.into()),
            ("tx", json!(row.tx)),
            ("logIndex", log_index.into()),
            ("payer", json!(row.payer)),
            ("payee", json!(row.payee)),
            ("amount", json!(row.amount)),
            ("fee", json!(row.fee)),
            ("nonce", json!(row.nonce)),
            ("ref", json!(row.reference)),
        ]),
    }
}

fn voucher_line(row: VoucherRow, now_s: i64) -> AuditLine {
    let id = audit::id(&row);
    let voucher = VoucherView::of(row, now_s);
    AuditLine {
        at: AuditPosition { ts: voucher.created_at, kind: KIND.to_owned(), id, ..AuditPosition::default() },
        members: members([
            ("event", "Voucher".into()),
            ("payer", json!(voucher.payer)),
            ("nonce", json!(voucher.nonce)),
            ("payee", json!(voucher.payee)),
            ("amount", json!(voucher.amount)),
            ("ref", json!(voucher.reference)),
            ("expiry", voucher.expiry.into()),
            ("resource", AuditLine::origin(&voucher.resource).into()),
            ("status", json!(voucher.status)),
            ("txHash", json!(voucher.tx_hash)),
            ("createdAt", voucher.created_at.into()),
            ("settledAt", voucher.settled_at.into()),
        ]),
    }
}
