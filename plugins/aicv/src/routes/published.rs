//! Documents as responses: their bytes, and the headers that name their hashes.

use crate::{
    Aicv,
    error::CvError,
    model::{Agent, Document, Publisher},
    routes::issue,
    store::documents,
};
use plugin_api::{
    HandlerError, Hash256, JsonSchema, RequestContext,
    response::{IntoResponse, RawResponse, Response, WithHeader},
};
use serde_json::Value;

/// The document that a request asks for: the current one with so many claims, or an earlier one by its hash.
pub async fn asked_for(
    cx: &RequestContext<Aicv>,
    publisher: &Publisher<'_>,
    agent: &Agent,
    limit: u32,
    hash: &str,
) -> Result<Document, HandlerError<CvError>> {
    if hash.is_empty() {
        let issued = issue::current(cx, publisher, agent).await?;
        return Ok(publisher.document(&issued, limit)?);
    }
    let hash: Hash256 = hash.parse().map_err(|_: &str| CvError::Hash)?;
    let stored = documents::find(&cx.db(), agent.agent_id, hash).await?;
    let document = stored.as_deref().and_then(Document::stored);
    Ok(document.ok_or(CvError::UnknownDocument)?)
}

/// A document, with its hashes as headers.
pub struct DocumentResponse {
    json: Value,
    headers: Vec<(String, String)>,
}

impl DocumentResponse {
    pub fn new(cx: &RequestContext<Aicv>, document: Document) -> Self {
        let prefix = &cx.environment().brand.header_prefix;
        let headers = vec![
            (format!("{prefix}-Claims-Root"), document.claims_root.to_string()),
            (format!("{prefix}-Document-Hash"), document.hash.to_string()),
        ];
        Self { json: document.json, headers }
    }

    pub fn with(mut self, member: &str, value: Value) -> Self {
        if let Some(members) = self.json.as_object_mut() {
            members.insert(member.to_owned(), value);
        }
        self
    }

    pub fn header(mut self, name: String, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl IntoResponse for DocumentResponse {
    fn into_response(self) -> Response {
        let body = self.json.to_string().into_bytes().into();
        let mut response = RawResponse { status: 200, content_type: "application/json".into(), body }.into_response();
        for (name, value) in self.headers {
            let empty = RawResponse { status: 200, content_type: "".into(), body: Vec::new().into() };
            let with = WithHeader { response: empty, name: name.to_lowercase().into(), value: value.into() };
            response.headers.extend(with.into_response().headers);
        }
        response
    }
}

/// The credential document, as the schema at `/api/ns/aicv/v1/schema.json` describes it.
#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "describes a document whose schema is served by itself")]
pub struct CredentialDocument(serde_json::Map<String, Value>);
