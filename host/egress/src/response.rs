//! Responses: with a body that is read while it arrives, and collected from one.

use super::{error::EgressError, fetch_record::FetchRecord, response_body::ResponseBody, sent_request::SentRequest};
use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;

/// A whole response.
#[derive(Debug, Clone)]
pub struct FetchResponse {
    pub status: u16,
    /// In the order received; values that are not UTF-8 have replacement characters.
    pub headers: Vec<(String, String)>,
    /// As received: content encodings are not decoded.
    pub body: Bytes,
    /// The body was longer, or was not read; only with [`super::Overflow::Truncate`].
    pub is_truncated: bool,
    /// The URL of the response, after redirects.
    pub url: String,
}

/// A response whose body is read while it arrives; its head is that of a [`FetchResponse`].
#[derive(Debug)]
pub struct StreamedResponse {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub url: String,
    pub body: ResponseBody,
}

impl StreamedResponse {
    pub(super) fn begin(sent: SentRequest, mut record: FetchRecord) -> Result<Self, EgressError> {
        match sent.checked_head() {
            Ok((status, headers)) => {
                record.set_status(status);
                let url = sent.url.to_string();
                Ok(Self { status, headers, url, body: ResponseBody::new(sent, record) })
            }
            Err(error) => {
                record.set_outcome(error.code());
                Err(error)
            }
        }
    }

    pub(super) async fn collect(self) -> Result<FetchResponse, EgressError> {
        let Self { status, headers, url, body: mut chunks } = self;
        // Most bodies are one chunk, which is not copied.
        let first = chunks.next().await.transpose()?.unwrap_or_default();
        let body = match chunks.next().await.transpose()? {
            None => first,
            Some(second) => {
                let mut body = BytesMut::from(&first[..]);
                body.extend_from_slice(&second);
                while let Some(chunk) = chunks.next().await {
                    body.extend_from_slice(&chunk?);
                }
                body.freeze()
            }
        };
        Ok(FetchResponse { status, headers, body, is_truncated: chunks.is_truncated(), url })
    }
}
