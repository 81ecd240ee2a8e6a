//! The content of artifacts and submissions: bytes in the payload store, an https URL, or both.

use super::{ApiError, HandlerError, Hash256, HostError, HostHandle, Query, format, sql};
use schemars::JsonSchema;
use serde::Deserialize;

/// As a writer sends it; a part of the payload (`#[serde(flatten)]`).
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NewContent {
    /// Hash of a payload that is stored already: `POST /api/payloads`.
    #[serde(default)]
    payload_hash: Option<String>,
    /// Begins with `https://`, at most 512 characters.
    #[serde(default)]
    url: Option<String>,
}

/// Checked content; at least one of the two is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Content {
    pub payload: Option<Hash256>,
    pub url: Option<String>,
}

/// A payload's row in the view `payloads_v1`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct PayloadInfo {
    pub size: i64,
    pub content_type: String,
}

/// Why content was refused.
#[derive(Clone, Debug, PartialEq, Eq, ApiError)]
#[api(400, "bad_request", hint = "correct the named member and sign the new payload")]
pub enum ContentError {
    #[api("payloadHash, url: one of them is needed")]
    Missing,
    #[api("payloadHash: 0x and 64 hex digits are needed")]
    Hash,
    #[api(
        400,
        "unknown_payload",
        "payloadHash: no payload {hash} is stored",
        hint = "store the bytes first: POST /api/payloads answers their hash"
    )]
    UnknownPayload { hash: Hash256 },
    #[api("url: it must begin with https://")]
    NotHttps,
    #[api("url: {message}")]
    BadUrl { message: String },
    #[api(400, "private_url", "url: {message}", hint = "name a host that everybody can reach")]
    PrivateUrl { message: String },
}

impl NewContent {
    /// Checks the form of both members; an empty text counts as absent.
    pub async fn check<E: From<ContentError>>(self, host: &HostHandle) -> Result<Content, HandlerError<E>> {
        let content = self.parse().map_err(|error| HandlerError::Caller(error.into()))?;
        let Some(url) = &content.url else { return Ok(content) };
        match host.check_url(url).await? {
            None => Ok(content),
            Some(problem) if problem.code == "private_url" => {
                Err(HandlerError::Caller(ContentError::PrivateUrl { message: problem.message }.into()))
            }
            Some(problem) => Err(HandlerError::Caller(ContentError::BadUrl { message: problem.message }.into())),
        }
    }

    fn parse(self) -> Result<Content, ContentError> {
        let is_present = |text: &String| !text.trim().is_empty();
        let payload = self.payload_hash.filter(is_present);
        let payload = payload.map(|text| format::payload_hash(&text).ok_or(ContentError::Hash)).transpose()?;
        let url = self.url.filter(is_present).map(|url| url.trim().to_owned());
        if url.as_ref().is_some_and(|url| !url.starts_with("https://")) {
            return Err(ContentError::NotHttps);
        }
        if payload.is_none() && url.is_none() {
            return Err(ContentError::Missing);
        }
        Ok(Content { payload, url })
    }
}

impl Content {
    /// Size and content type of its payload, if it has one. Call it in the transaction that stores the reference, from a
    /// plugin that requires `payloads`: otherwise the payload may be pruned before the reference is committed.
    pub async fn payload_info<E: From<ContentError>>(
        &self,
        tx: &impl Query,
    ) -> Result<Option<PayloadInfo>, HandlerError<E>> {
        let Some(hash) = self.payload else { return Ok(None) };
        let select = sql("SELECT size, content_type FROM payloads_v1 WHERE hash = $1").bind(hash);
        let info: Result<Option<PayloadInfo>, HostError> = tx.row(select).await;
        info?.map(Some).ok_or_else(|| HandlerError::Caller(ContentError::UnknownPayload { hash }.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(payload_hash: Option<&str>, url: Option<&str>) -> Result<Content, ContentError> {
        NewContent { payload_hash: payload_hash.map(str::to_owned), url: url.map(str::to_owned) }.parse()
    }

    #[test]
    fn a_payload_or_a_url_is_enough() {
        let (hash, text) = (Hash256([0xab; 32]), format!(" 0x{}\n", "AB".repeat(32)));
        assert_eq!(parsed(Some(&text), None), Ok(Content { payload: Some(hash), url: None }));
        let url = Some("https://a.example/b".to_owned());
        assert_eq!(parsed(None, Some(" https://a.example/b ")), Ok(Content { payload: None, url: url.clone() }));
        assert_eq!(parsed(Some(&text), url.as_deref()), Ok(Content { payload: Some(hash), url }));
    }

    #[test]
    fn missing_or_malformed_members_are_named() {
        for (hash, url) in [(None, None), (Some(""), None), (None, Some(" ")), (Some(" "), Some(""))] {
            assert_eq!(parsed(hash, url), Err(ContentError::Missing));
        }
        assert_eq!(parsed(Some("0x12"), Some("https://a.example")), Err(ContentError::Hash));
        for url in ["http://a.example", "a.example", "HTTPS://a.example", "ipfs://x", "//a.example"] {
            assert_eq!(parsed(None, Some(url)), Err(ContentError::NotHttps), "{url}");
        }
    }
}
