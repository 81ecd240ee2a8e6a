//! Ends what a request wrote, when its response is known.
//!
//! The rule: a client that gets a status below 400 finds its write done, guard and events with it; one that gets another
//! status finds nothing done, except where the handler fails after its own write was committed: a server error is answered as it is, and
//! a 4xx, which would tell the client that nothing was written, is reported against the plugin as well.

use super::{
    call::Call,
    request_head::RequestTransaction,
    response::{self, PluginResponse},
};
use crate::error_response::ErrorResponse;
use gateway_config::Config;
use gateway_plugins::{ActivePlugin, CommitError, conflicts};
use gateway_storage::StorageError;
use gateway_telemetry::request_id;
use http::{StatusCode, header};

/// Commits what the handler left to the gateway, if its response is good, and rolls back the rest.
pub(crate) async fn end_transaction(
    config: &Config,
    call: &Call<'_>,
    transaction: &RequestTransaction,
    answer: Result<PluginResponse, ErrorResponse>,
) -> Result<PluginResponse, ErrorResponse> {
    if let Some(error) = failure(transaction) {
        if let CommitError::Storage(StorageError::Conflict(_)) = error {
            conflicts::count_given_up(call.plugin.name(), &call.route.spec.operation);
        }
        return Err(commit_error(config, call.plugin, error));
    }
    let status = answer.as_ref().map(|answer| answer.response.status()).ok();
    if let Some(write) = transaction.write() {
        if write.commit_result().is_some() {
            // A client that is refused takes for granted that nothing was written.
            if let Some(status) = status.filter(StatusCode::is_client_error) {
                response::report(
                    call,
                    &format!("the answer is {status} after the write was committed: refuse inside of the write"),
                );
            }
            return answer;
        }
        Box::pin(write.roll_back()).await;
    }
    let is_good = status.is_some_and(|status| status.as_u16() < 400);
    // The guard of a signed write is consumed even if the handler wrote nothing.
    let begun = transaction.own().cloned().or_else(|| is_good.then(|| transaction.guard_transaction()).flatten());
    match begun {
        Some(begun) if is_good => {
            Box::pin(begun.finish()).await.map_err(|error| commit_error(config, call.plugin, error))?
        }
        Some(begun) => Box::pin(begun.roll_back()).await,
        None => {}
    }
    answer
}

/// Why the handler's own write did not commit, if it tried to, or conflicted with others in its last attempt.
pub(crate) fn failure(transaction: &RequestTransaction) -> Option<CommitError> {
    let write = transaction.write()?;
    let conflict = || {
        let conflict = StorageError::Conflict("it conflicted with other writes".to_owned());
        write.has_conflict().then_some(CommitError::Storage(conflict))
    };
    write.commit_result().map_or_else(conflict, |committed| committed.as_ref().err().cloned())
}

fn commit_error(config: &Config, plugin: &ActivePlugin, error: CommitError) -> ErrorResponse {
    match error {
        CommitError::Replay => {
            let hint =
                "the first request with this signature took effect; sign a new message with a new ts for another write";
            ErrorResponse::new(409, "replay", "this signature was already used", hint)
        }
        CommitError::TooSoon => {
            metrics::counter!("gateway_limits_refused_total", "limit" => "write_interval").increment(1);
            let interval_s = config.limits.write_interval_ms.div_ceil(1000);
            let hint = "wait between two writes of one address; the same request can be sent again then";
            ErrorResponse::new(429, "rate_limited", format!("one write per {interval_s} s and address"), hint)
                .header(header::RETRY_AFTER, &interval_s.to_string())
        }
        CommitError::Storage(error) => storage_error_response(plugin, &error),
    }
}

pub(crate) fn storage_error_response(plugin: &ActivePlugin, error: &StorageError) -> ErrorResponse {
    match error {
        // The storage logs them.
        StorageError::Busy(_) => ErrorResponse::database_busy(&error.to_string()),
        StorageError::Timeout(_) | StorageError::SlowStatement(_) | StorageError::Expired(_) => {
            ErrorResponse::database_slow(&error.to_string())
        }
        StorageError::Conflict(_) => {
            let request_id = request_id();
            let request_id = request_id.as_deref();
            tracing::warn!(plugin = plugin.name(), request_id, "a write conflicted in each of its attempts");
            ErrorResponse::gave_up_on_conflicts()
        }
        StorageError::Unavailable(_) | StorageError::Closed(_) => {
            tracing::warn!(plugin = plugin.name(), request_id = request_id().as_deref(), %error, "the database did not do its part");
            ErrorResponse::unavailable(&error.to_string())
        }
        error => {
            tracing::error!(plugin = plugin.name(), request_id = request_id().as_deref(), %error, "a statement failed");
            ErrorResponse::internal()
        }
    }
}
