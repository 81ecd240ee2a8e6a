//! `GET /api/x402/payer/{addr}`: what a payer has in the vault, and his vouchers.

use crate::{
    X402,
    contributions::{Stop, open_vault, read_account, vault_address},
    error::PayerError,
    model::{PayerView, VoucherView},
    store::{derived, vouchers},
};
use plugin_api::{HandlerError, Json, Path, RequestContext, Route, Wei};

pub fn route() -> Route<X402> {
    Route::get("/api/x402/payer/{addr}", get_payer).public().summary("A payer's balance in the vault, and his vouchers")
}

async fn get_payer(
    cx: RequestContext<X402>,
    Path(addr): Path<String>,
) -> Result<Json<PayerView>, HandlerError<PayerError>> {
    let address = addr.parse().map_err(PayerError::Address)?;
    let (vault, now_s, db) = (vault_address(&cx), cx.now_s(), cx.db());
    let disabled = open_vault(&cx).await?.err();
    let (mut balance, mut unlock_at, mut settled_count) = (None, None, 0);
    if let Some(vault) = vault {
        settled_count = derived::account(&db, vault, address).await?.settled_count;
        match read_account(&cx, vault, address).await {
            Ok((wei, at)) => (balance, unlock_at) = (Some(wei), Some(at)),
            // The rest is known without the chain.
            Err(Stop::Refused(_) | Stop::Disabled(_)) => {}
            Err(Stop::Host(error)) => return Err(error.into()),
        }
    }
    let view = |row| VoucherView::of(row, now_s);
    let mut pending: Vec<VoucherView> = vouchers::pending(&db, address).await?.into_iter().map(view).collect();
    pending.retain(VoucherView::is_pending);
    let pending_wei = pending.iter().fold(Wei::ZERO, |sum, voucher| sum.saturating_add(voucher.amount));
    Ok(Json(PayerView {
        address,
        vault,
        balance,
        unlock_at,
        pending_wei,
        pending,
        settled_count,
        vouchers: vouchers::newest(&db, address).await?.into_iter().map(view).collect(),
        disabled: disabled.is_some().then_some(true),
        reason: disabled,
    }))
}
