//! Reads for an agent's record: what its owner received and paid.

use plugin_api::{Address, Hash256, HostError, Query, Wei, sql};
use serde::Deserialize;

/// A settlement on the chain.
#[derive(Debug, Deserialize)]
pub struct RecordSettlement {
    pub payer: Address,
    pub payee: Address,
    pub nonce: Wei,
    pub amount: Wei,
    pub fee: Wei,
    pub tx: Hash256,
    pub settled_at: i64,
}

/// Which side of a settlement.
#[derive(Clone, Copy, Debug)]
pub enum Side {
    Payee,
    Payer,
}

impl Side {
    const fn column(self) -> &'static str {
        match self {
            Self::Payee => "payee",
            Self::Payer => "payer",
        }
    }
}

/// The newest first.
pub async fn newest(
    db: &impl Query,
    side: Side,
    account: Address,
    limit: u32,
) -> Result<Vec<RecordSettlement>, HostError> {
    let text = format!(
        "SELECT payer, payee, nonce, amount, fee, tx, settled_at FROM x402_settled WHERE {} = $1 \
         ORDER BY settled_at DESC, block DESC, log_index DESC LIMIT $2",
        side.column()
    );
    db.rows(sql(text).bind((account, limit))).await
}

/// Vouchers for this payee that are queued or on their way.
pub async fn pending(db: &impl Query, payee: Address) -> Result<i64, HostError> {
    let select = sql("SELECT count(*) FROM x402_vouchers WHERE payee = $1 AND state IN ('queued', 'submitted')");
    db.one(select.bind(payee)).await
}
