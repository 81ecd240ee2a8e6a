//! Documents as responses: their bytes, and the headers that name their hashes.

use super::{
    issue,
    issue_cache::{DocumentText, StoredIssue},
};
use crate::{
    Aicv,
    error::CvError,
    model::{Agent, Document, Publisher},
    store::documents,
};
use plugin_api::{
    HandlerError, Hash256, JsonSchema, RequestContext,
    handles::FfiBytes,
    response::{IntoResponse, RawResponse, Response, WithHeader},
};
use serde_json::Value;
use std::sync::Arc;

/// An earlier document, by its hash.
pub async fn earlier(
    cx: &RequestContext<Aicv>,
    agent: &Agent,
    hash: &str,
) -> Result<DocumentText, HandlerError<CvError>> {
    let hash: Hash256 = hash.parse().map_err(|_: &str| CvError::Hash)?;
    let stored = documents::find(&cx.db(), agent.agent_id, hash).await?;
    let document = stored.as_deref().and_then(Document::stored).ok_or(CvError::UnknownDocument)?;
    let text = document.text.clone();
    Ok(DocumentText { document, text, signer: None })
}

/// The document that is issued now, with so many claims, and its issue.
pub async fn newest(
    cx: &RequestContext<Aicv>,
    publisher: &Publisher<'_>,
    agent: &Agent,
    limit: u32,
) -> Result<(Arc<StoredIssue>, Arc<DocumentText>), HandlerError<CvError>> {
    let issued = issue::current(cx, publisher, agent, limit).await?;
    let document = issued.document(publisher, limit)?;
    Ok((issued, document))
}

/// A document, with its hashes as headers.
pub struct DocumentResponse {
    text: Arc<String>,
    headers: Vec<(String, String)>,
}

impl DocumentResponse {
    pub fn new(cx: &RequestContext<Aicv>, document: &DocumentText) -> Self {
        let prefix = &cx.environment().brand.header_prefix;
        let DocumentText { document, text, signer } = document;
        let mut headers = vec![
            (format!("{prefix}-Claims-Root"), document.claims_root.to_string()),
            (format!("{prefix}-Document-Hash"), document.hash.to_string()),
        ];
        headers.extend(signer.map(|signer| (format!("{prefix}-Signer"), signer.to_string())));
        Self { text: text.clone(), headers }
    }
}

impl IntoResponse for DocumentResponse {
    fn into_response(self) -> Response {
        let body = FfiBytes::from_owner(SharedText(self.text));
        let mut response = RawResponse { status: 200, content_type: "application/json".into(), body }.into_response();
        for (name, value) in self.headers {
            let empty = RawResponse { status: 200, content_type: "".into(), body: FfiBytes::default() };
            let with = WithHeader { response: empty, name: name.to_lowercase().into(), value: value.into() };
            response.headers.extend(with.into_response().headers);
        }
        response
    }
}

/// Answered without a copy.
struct SharedText(Arc<String>);

impl AsRef<[u8]> for SharedText {
    fn as_ref(&self) -> &[u8] {
        self.0.as_bytes()
    }
}

/// The credential document, as the schema at `/api/ns/aicv/v1/schema.json` describes it.
#[derive(JsonSchema)]
#[schemars(inline, transparent)]
#[expect(dead_code, reason = "describes a document whose schema is served by itself")]
pub struct CredentialDocument(serde_json::Map<String, Value>);
