//! `POST /api/hello/guests`: a line in the guest book, signed by a wallet.

use crate::{
    Hello,
    error::HelloError,
    model::{GuestSigned, GuestView, NewGuest, SIGNED},
    store,
};
use plugin_api::{Created, EventBuilder, HandlerError, KIB, RequestContext, Route, Signed};

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
    let signed = GuestSigned { guest_id: guest.id, message: &guest.message };
    EventBuilder::new(SIGNED, &signed).actor(signer).subject("guest", guest.id).publish(&tx)?;
    Ok(Created(guest))
}
