//! `POST /api/hello/guests`: a line in the guest book, signed by a wallet.

use crate::{
    Hello,
    error::HelloError,
    model::{GuestSigned, GuestView, NewGuest},
    store,
};
use plugin_api::{Created, Event, HandlerError, KIB, RequestContext, Route, Signed};

pub fn route() -> Route<Hello> {
    Route::post("/api/hello/guests", create_guest)
        .signed("hello.sign")
        .summary("Sign the guest book")
        .body_max_bytes(4 * KIB)
}

async fn create_guest(
    cx: RequestContext<Hello>,
    Signed { signer, payload }: Signed<NewGuest>,
) -> Result<Created<GuestView>, HandlerError<HelloError>> {
    let message = payload.checked_message()?;
    // The request's own transaction: row and event become visible together, when the gateway commits the 201.
    let tx = cx.transaction();
    let guest = store::insert_guest(&tx, signer, message, cx.now_s()).await?;
    GuestSigned { guest_id: guest.id, message: &guest.message }.by(signer).publish(&tx)?;
    Ok(Created(guest))
}
