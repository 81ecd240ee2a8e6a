//! `POST /api/hello/guests`: a line in the guest book, signed by a wallet.

use crate::{Hello, error::HelloError, model, store};
use plugin_api::{Created, Event, HandlerError, RequestContext, Route, Signed};

pub fn route() -> Route<Hello> {
    Route::post("/api/hello/guests", create_guest)
        .signed("hello.sign")
        .summary("Sign the guest book")
        .body_max_bytes(4 * 1024)
}

async fn create_guest(
    cx: RequestContext<Hello>,
    Signed { signer, payload }: Signed<model::NewGuest>,
) -> Result<Created<model::GuestView>, HandlerError<HelloError>> {
    let message = payload.checked_message()?;
    let guest = cx
        .write(async move |tx| {
            let guest = store::insert_guest(tx, signer, &message).await?;
            model::GuestSigned { guest_id: guest.id, message: &guest.message }.by(signer).publish(tx)?;
            Ok(guest)
        })
        .await?;
    // Row and event are committed, and so is the signature: it cannot be used again.
    Ok(Created(guest))
}
