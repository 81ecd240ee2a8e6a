//! Settlements and vouchers of an address, as payer or as payee, for audit exports.
//!
//! The rule: each statement reads the beginning of a range of an index, as many rows as an export has and one more.

use crate::{model::VoucherRow, store::vouchers};
use plugin_api::{Address, Hash256, HostError, Query, Sql, Wei, point::AuditInput, sql};
use serde::Deserialize;

/// Kind of the lines.
pub const KIND: &str = "x402";

/// A settlement on the chain.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SettledRow {
    pub settled_at: i64,
    pub block: i64,
    pub log_index: i64,
    pub payer: Address,
    pub payee: Address,
    pub amount: Wei,
    pub fee: Wei,
    pub nonce: Wei,
    pub reference: Hash256,
    pub tx: Hash256,
}

/// Settlements in the order of the chain.
pub async fn settlements(db: &impl Query, input: &AuditInput) -> Result<Vec<SettledRow>, HostError> {
    let columns = "settled_at, block, log_index, payer, payee, amount, fee, nonce, reference, tx";
    let order = "settled_at, block, log_index";
    let of = |party: &str| {
        let (ts, block, log_index) = input.start_on_chain(KIND);
        sql(format!(
            "SELECT {columns} FROM (SELECT {columns} FROM x402_settled WHERE {party} = $1 AND settled_at >= $2 \
             AND settled_at <= $3 AND (settled_at > $2 OR block > $4 OR (block = $4 AND log_index > $5)) \
             AND block >= $6 AND block <= $7 ORDER BY {order} LIMIT $8) AS as_{party}"
        ))
        .bind((input.owner, ts, input.end_s(), block, log_index))
        .bind((input.from_block.unwrap_or(0), input.to_block.unwrap_or(i64::MAX), rows(input)))
    };
    // The union leaves out what somebody paid himself.
    let both = sql(format!("SELECT {columns} FROM (")).push_sql(of("payer")).push(" UNION ").push_sql(of("payee"));
    db.rows(both.push_bind(&format!(") AS settled ORDER BY {order} LIMIT {{}}"), rows(input))).await
}

/// Vouchers in the order of their times and ids.
pub async fn vouchers(db: &impl Query, input: &AuditInput) -> Result<Vec<VoucherRow>, HostError> {
    if input.is_by_block() {
        return Ok(Vec::new());
    }
    let mut found: Vec<VoucherRow> = db.rows(vouchers_of("payer", input)).await?;
    found.extend(db.rows::<VoucherRow>(vouchers_of("payee", input)).await?);
    found.sort_by_cached_key(|row| (row.created_at, id(row)));
    found.dedup_by_key(|row| (row.payer, row.nonce));
    Ok(found)
}

/// All vouchers of one payer have the same payer, so their order needs none.
fn vouchers_of(party: &str, input: &AuditInput) -> Sql {
    let (ts, id) = input.start(KIND);
    let (payer, nonce) = id.split_once(':').unwrap_or_default();
    let order = if party == "payer" { "v.created_at, v.nonce" } else { "v.created_at, lower(v.payer), v.nonce" };
    let select = format!(
        " WHERE v.{party} = $1 AND v.created_at >= $2 AND v.created_at <= $3 \
         AND (v.created_at > $2 OR lower(v.payer) > $4 OR (lower(v.payer) = $4 AND v.nonce > $5)) \
         ORDER BY {order} LIMIT $6"
    );
    vouchers::select().push(&select).bind((input.owner, ts, input.end_s(), payer, nonce, rows(input)))
}

/// Tells vouchers of one second apart, in the order of the index.
pub fn id(row: &VoucherRow) -> String {
    format!("{}:{}", row.payer.to_string().to_ascii_lowercase(), row.nonce)
}

/// One more than an export has, which says that there are others.
fn rows(input: &AuditInput) -> u32 {
    input.limit.saturating_add(1)
}
