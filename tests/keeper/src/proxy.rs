//! A route for any method, with several path parameters; any status and headers in its response.

use crate::{Cx, Keeper};
use plugin_api::{
    HandlerError, Path, Route,
    extract::Body,
    response::{RawResponse, Text, WithHeader},
};

pub fn routes() -> [Route<Keeper>; 2] {
    [
        Route::any("/keeper/{shop}/{shelf}/{slot}/{*rest}", forward).public(),
        Route::get("/keeper/{shop}/{shelf}/{slot}/{*rest}", read_slot).public(),
    ]
}

type Forwarded = WithHeader<WithHeader<RawResponse>>;

async fn forward(
    cx: Cx,
    Path((shop, shelf, slot, rest)): Path<(String, i64, i64, String)>,
    Body(body): Body,
) -> Result<Forwarded, HandlerError> {
    let text = format!("{} {shop} {shelf} {slot} {rest} {}", cx.method(), body.len());
    let response = RawResponse { status: 418, content_type: "text/plain".into(), body: text.into() };
    let response = WithHeader { response, name: "set-cookie".into(), value: "a=1".into() };
    Ok(WithHeader { response, name: "set-cookie".into(), value: "b=2".into() })
}

async fn read_slot(
    _: Cx,
    Path((shop, shelf, slot, rest)): Path<(String, i64, i64, String)>,
) -> Result<Text, HandlerError> {
    Ok(Text(format!("read {shop} {shelf} {slot} {rest}").into()))
}
