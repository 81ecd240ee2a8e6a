//! What is known of a payer beside his vouchers here, in one statement and so of one block.

use crate::model::{Funds, Voucher};
use plugin_api::{Address, HostError, Query, Wei, sql};

/// A payer, as a check of a voucher sees him.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// What he has at the last indexed block, without the deposits of blocks that are too new.
    pub funds: Funds,
    /// Until when he is refused; 0 when he never was.
    pub refused_until_s: i64,
    /// Whether the vault has used the voucher's nonce.
    pub is_used: bool,
}

const SELECT: &str = "SELECT a.balance, a.unlock_at, d.amount, p.refused_until_s, s.nonce FROM (SELECT 1 AS one) one \
    LEFT JOIN x402_payers p ON p.payer = $1 \
    LEFT JOIN x402_settled s ON s.payer = $1 AND s.nonce = $2 AND s.vault = $3 \
    LEFT JOIN x402_accounts a ON a.payer = $1 AND a.vault = $3 \
    LEFT JOIN x402_deposits d ON d.payer = $1 AND d.vault = $3 AND d.block > $4";

/// Balance, unlock time and a deposit after the confirmed block; until when he is refused; the nonce if it is used.
type Row = (Option<Wei>, Option<u64>, Option<Wei>, Option<i64>, Option<Wei>);

/// Deposits of blocks after `confirmed` do not count.
pub async fn read(db: &impl Query, vault: Address, voucher: &Voucher, confirmed: i64) -> Result<Standing, HostError> {
    let select = sql(SELECT).bind((voucher.payer, voucher.nonce, vault, confirmed));
    let rows: Vec<Row> = db.rows(select).await?;
    let Some((balance, unlock_at, _, refused_until_s, used)) = rows.first().copied() else {
        return Ok(Standing::default());
    };
    let deposits = rows.iter().filter_map(|(_, _, deposit, ..)| *deposit);
    let unconfirmed = deposits.fold(Wei::ZERO, Wei::saturating_add);
    let balance = balance.unwrap_or_default().saturating_sub(unconfirmed);
    let funds = Funds { balance, unconfirmed, unlock_at: unlock_at.unwrap_or_default().into(), ..Funds::default() };
    Ok(Standing { funds, refused_until_s: refused_until_s.unwrap_or_default(), is_used: used.is_some() })
}
