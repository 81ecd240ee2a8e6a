//! `GET /api/tx/{hash}`.

use super::{Pages, json};
use crate::error_response::ErrorResponse;
use gateway_http::body::Body;
use gateway_meta::transaction::TransactionStatus;
use http::Response;
use plugin_api::Hash256;

impl Pages {
    pub(super) async fn transaction(&self, path: &str) -> Result<Response<Body>, ErrorResponse> {
        let text = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
        let malformed = |_| {
            let message = "the hash of a transaction is 0x and 64 hex digits";
            ErrorResponse::new(400, "bad_hash", message, "put the txHash of an answer into the path")
        };
        let hash: Hash256 = text.to_ascii_lowercase().parse().map_err(malformed)?;
        match self.transactions.journal.status_of_transaction(hash.0.into()).await {
            Ok(Some(status)) => Ok(json(&TransactionStatus::new(hash, status))),
            Ok(None) => {
                let hint = "an RPC server of the chain knows transactions that others sent";
                Err(ErrorResponse::new(404, "not_found", "this gateway has sent no such transaction", hint))
            }
            Err(error) => {
                tracing::warn!(%error, "the journal cannot be read");
                let hint = "repeat the request in a few seconds";
                let problem =
                    ErrorResponse::new(503, "unavailable", "the gateway cannot reach its data right now", hint);
                Err(problem.header(http::header::RETRY_AFTER, "5"))
            }
        }
    }
}
