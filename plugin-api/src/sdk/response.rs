//! Responses of handlers. A response type also describes itself: status, content type and schema.

use super::{RouteDescription, author};
use crate::{
    abi::{self, FfiBytes},
    manifest::Answer,
};
use abi_stable::std_types::{RCow, RCowStr, RStr, RVec, Tuple2};
use schemars::JsonSchema;
use serde::Serialize;
use std::borrow::Cow;

/// A type that a handler may return.
pub trait IntoResponse: Send {
    fn into_response(self) -> abi::Response;

    fn describe(_: &mut RouteDescription<'_>) {}
}

fn header_text(text: Cow<'static, str>) -> RCowStr<'static> {
    match text {
        Cow::Borrowed(text) => RCow::Borrowed(RStr::from_str(text)),
        Cow::Owned(text) => RCow::Owned(text.into()),
    }
}

pub(crate) fn full(
    status: u16,
    content_type: impl Into<Cow<'static, str>>,
    body: impl Into<FfiBytes>,
) -> abi::Response {
    let mut headers = RVec::with_capacity(4);
    let content_type = content_type.into();
    if !content_type.is_empty() {
        headers.push(Tuple2(header_text("content-type".into()), header_text(content_type)));
    }
    abi::Response { status, headers, body: abi::Body::Full(body.into()) }
}

pub(crate) const JSON: &str = "application/json";

/// Initial capacity: enough for a record. A list reallocates a few times.
const JSON_CAPACITY_BYTES: usize = 1024;

/// `json` comes from [`author::write_json`].
pub(crate) fn full_json(status: u16, json: Vec<u8>, has_authors: bool) -> abi::Response {
    let mut response = full(status, JSON, FfiBytes::default());
    response.body = if has_authors { abi::Body::JsonWithAuthors(json.into()) } else { abi::Body::Full(json.into()) };
    response
}

fn json(status: u16, value: &impl Serialize) -> abi::Response {
    let mut body = Vec::with_capacity(JSON_CAPACITY_BYTES);
    match author::write_json(&mut body, value) {
        Ok(has_authors) => full_json(status, body, has_authors),
        // Only a `Serialize` that fails gets here, for example a map whose keys are not strings: the plugin's bug.
        Err(error) => {
            super::Problem::new(500, "internal", format!("the answer could not be written: {error}")).into_response()
        }
    }
}

pub(crate) fn describe_json<T: JsonSchema>(describe: &mut RouteDescription<'_>, status: u16, description: &str) {
    let schema = Some(describe.schema::<T>());
    let content_type = JSON.to_owned();
    describe.spec.answers.push(Answer {
        status,
        description: description.to_owned(),
        content_type,
        schema,
        codes: Vec::new(),
    });
}

/// 200 with JSON.
///
/// ```
/// use plugin_api::{HandlerError, Json, JsonSchema};
///
/// #[derive(serde::Serialize, JsonSchema)]
/// struct NoteView {
///     id: i64,
/// }
///
/// async fn get_note() -> Result<Json<NoteView>, HandlerError> {
///     Ok(Json(NoteView { id: 7 }))
/// }
/// ```
pub struct Json<T>(pub T);

impl<T: Serialize + JsonSchema + Send> IntoResponse for Json<T> {
    fn into_response(self) -> abi::Response {
        json(200, &self.0)
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe_json::<T>(describe, 200, "OK");
    }
}

/// 201 with JSON.
///
/// ```
/// use plugin_api::{Created, HandlerError};
///
/// async fn create_note() -> Result<Created<i64>, HandlerError> {
///     Ok(Created(7))
/// }
/// ```
pub struct Created<T>(pub T);

impl<T: Serialize + JsonSchema + Send> IntoResponse for Created<T> {
    fn into_response(self) -> abi::Response {
        json(201, &self.0)
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe_json::<T>(describe, 201, "Created");
    }
}

/// 202 with JSON.
pub struct Accepted<T>(pub T);

impl<T: Serialize + JsonSchema + Send> IntoResponse for Accepted<T> {
    fn into_response(self) -> abi::Response {
        json(202, &self.0)
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe_json::<T>(describe, 202, "Accepted");
    }
}

/// JSON with 201 when the record is new, with 200 when it replaced an older one.
///
/// ```
/// use plugin_api::{HandlerError, response::CreatedOrUpdated};
///
/// async fn write_page(is_new: bool) -> Result<CreatedOrUpdated<i64>, HandlerError> {
///     Ok(CreatedOrUpdated { created: is_new, value: 7 })
/// }
/// ```
pub struct CreatedOrUpdated<T> {
    pub created: bool,
    pub value: T,
}

impl<T: Serialize + JsonSchema + Send> IntoResponse for CreatedOrUpdated<T> {
    fn into_response(self) -> abi::Response {
        json(if self.created { 201 } else { 200 }, &self.value)
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe_json::<T>(describe, 200, "Updated");
        describe_json::<T>(describe, 201, "Created");
    }
}

/// 204.
pub struct NoContent;

impl IntoResponse for NoContent {
    fn into_response(self) -> abi::Response {
        full(204, "", FfiBytes::default())
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        let description = "Done".to_owned();
        describe.spec.answers.push(Answer {
            status: 204,
            description,
            content_type: String::new(),
            schema: None,
            codes: Vec::new(),
        });
    }
}

/// 200 with plain text.
pub struct Text(pub Cow<'static, str>);

impl IntoResponse for Text {
    fn into_response(self) -> abi::Response {
        match self.0 {
            Cow::Borrowed(text) => full(200, "text/plain; charset=utf-8", text),
            Cow::Owned(text) => full(200, "text/plain; charset=utf-8", text),
        }
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        let content_type = "text/plain".to_owned();
        let schema = Some(serde_json::json!({ "type": "string" }));
        describe.spec.answers.push(Answer {
            status: 200,
            description: "OK".to_owned(),
            content_type,
            schema,
            codes: Vec::new(),
        });
    }
}

/// Any status, content type and bytes. Describe it with [`super::Route::response`].
pub struct RawResponse {
    pub status: u16,
    pub content_type: Cow<'static, str>,
    pub body: FfiBytes,
}

impl IntoResponse for RawResponse {
    fn into_response(self) -> abi::Response {
        full(self.status, self.content_type, self.body)
    }
}

/// A response with one more header. A name or value that HTTP does not allow turns the response into a 500.
pub struct WithHeader<R> {
    pub response: R,
    pub name: Cow<'static, str>,
    pub value: Cow<'static, str>,
}

impl<R: IntoResponse> IntoResponse for WithHeader<R> {
    fn into_response(self) -> abi::Response {
        let mut response = self.response.into_response();
        response.headers.push(Tuple2(header_text(self.name), header_text(self.value)));
        response
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        R::describe(describe);
    }
}
