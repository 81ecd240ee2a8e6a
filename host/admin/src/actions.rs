//! Changes that operators make through the listener. Rule: each attempt leaves a log line and a row in the
//! audit table with its result, and it is finished even when the client has gone.

use super::{
    operator::Operator,
    response::{self, AdminResponse},
};
use gateway::Gateway;
use gateway::lifecycle::{OperateError, OperateOutcome, OperatorAction};
use gateway::operators::{PressError, PurgeError, PurgePlan};
use gateway_config::LogConfig;
use gateway_telemetry::LogLevelError;
use http::StatusCode;
use serde_json::{Value, json};
use std::sync::Arc;

pub(crate) async fn operate(
    gateway: &Arc<Gateway>,
    action: OperatorAction,
    name: &str,
    who: &Operator,
) -> AdminResponse {
    let (gateway, name, who) = (gateway.clone(), name.to_owned(), who.to_string());
    // Spawned: a client that disconnects must not stop a drain half way. The tasks of a plugin that starts belong to that runtime.
    let work = gateway.runtime.clone().spawn(async move {
        let tried = gateway.plugins.operate(action, &name, &who).await;
        if !matches!(tried, Err(OperateError::Unknown(_))) {
            record(&gateway, &who, action.name(), &name, &described(&tried)).await;
        }
        tried
    });
    match work.await {
        Ok(Ok(outcome)) => outcome_response(&outcome),
        Ok(Err(error)) => refused(&error),
        Err(error) => {
            response::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", &error.to_string(), "see the gateway's log")
        }
    }
}

/// Presses a button of a plugin's switch.
pub(crate) async fn press_control(
    gateway: &Arc<Gateway>,
    (plugin, control, action): (&str, &str, &str),
    who: &Operator,
) -> AdminResponse {
    let (gateway, plugin, control, action) =
        (gateway.clone(), plugin.to_owned(), control.to_owned(), action.to_owned());
    let who = who.to_string();
    let work = gateway.runtime.clone().spawn(async move {
        let tried = gateway.controls.press(&plugin, &control, &action).await;
        if tried != Err(PressError::NotOffered) {
            let outcome = tried.as_ref().map_or_else(ToString::to_string, |control| control.state.clone());
            record(&gateway, &who, &action, &format!("{plugin} {control}"), &outcome).await;
        }
        tried
    });
    let (status, code, error) = match work.await {
        Ok(Ok(control)) => return response::json(StatusCode::OK, &control),
        Ok(Err(error @ PressError::NotOffered)) => (StatusCode::CONFLICT, "not_offered", error.to_string()),
        Ok(Err(error @ PressError::NoAnswer)) => (StatusCode::BAD_GATEWAY, "no_answer", error.to_string()),
        Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, "internal", error.to_string()),
    };
    response::error(status, code, &error, "GET /controls lists what can be pressed")
}

/// What a plugin that is gone left in the database.
pub(crate) async fn purge_plan(gateway: &Gateway, name: &str) -> AdminResponse {
    purge_response(gateway.plugins.purge_plan(name).await)
}

/// Drops it.
pub(crate) async fn purge(gateway: &Arc<Gateway>, name: &str, who: &Operator) -> AdminResponse {
    let (gateway, name, who) = (gateway.clone(), name.to_owned(), who.to_string());
    let work = tokio::spawn(async move {
        let tried = gateway.plugins.purge(&name, &who).await;
        // What was done is recorded with it.
        if let Err(error @ (PurgeError::Refused(_) | PurgeError::Storage(_))) = &tried {
            record(&gateway, &who, "purge", &name, &format!("refused: {error}")).await;
        }
        tried
    });
    match work.await {
        Ok(tried) => purge_response(tried),
        Err(error) => {
            response::error(StatusCode::INTERNAL_SERVER_ERROR, "internal", &error.to_string(), "see the gateway's log")
        }
    }
}

fn purge_response(tried: Result<PurgePlan, PurgeError>) -> AdminResponse {
    let error = match tried {
        Ok(plan) => return response::json(StatusCode::OK, &plan),
        Err(error) => error,
    };
    let (status, code, hint) = match &error {
        PurgeError::Nothing(_) => (StatusCode::NOT_FOUND, "unknown_plugin", "GET /plugins lists those that are gone"),
        PurgeError::Refused(_) | PurgeError::OtherVersion => {
            (StatusCode::CONFLICT, "not_purged", "nothing was dropped")
        }
        PurgeError::Storage(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "database", "nothing was dropped: try again when the database answers")
        }
    };
    response::error(status, code, &error.to_string(), hint)
}

const LEVEL_HINT: &str = "a level (off, error, warn, info, debug, trace), then exceptions: info,gateway=debug";

/// As `log.level` is checked at the start: the filter's own grammar takes a misspelt level for the name of a target.
fn check_level(level: &str) -> Result<(), String> {
    LogConfig { level: level.to_owned(), ..LogConfig::default() }.filter().map(drop)
}

pub(crate) async fn set_log_level(gateway: &Gateway, level: &str, who: &Operator) -> AdminResponse {
    let who = who.to_string();
    if let Err(reason) = check_level(level) {
        record(gateway, &who, "log-level", "", &format!("refused: {reason}")).await;
        return response::error(StatusCode::BAD_REQUEST, "bad_level", &reason, LEVEL_HINT);
    }
    let tried = gateway_telemetry::set_log_level(level);
    let outcome = tried.as_ref().map_or_else(|error| format!("refused: {error}"), |()| level.to_owned());
    record(gateway, &who, "log-level", "", &outcome).await;
    match tried {
        Ok(()) => response::json(StatusCode::OK, &json!({ "level": level })),
        Err(error @ LogLevelError::Invalid(_)) => {
            response::error(StatusCode::BAD_REQUEST, "bad_level", &error.to_string(), LEVEL_HINT)
        }
        Err(error @ LogLevelError::ForeignSubscriber) => {
            response::error(StatusCode::CONFLICT, "not_ours", &error.to_string(), "start the gateway with log.level")
        }
    }
}

fn outcome_response(outcome: &OperateOutcome) -> AdminResponse {
    let mut body = serde_json::to_value(&outcome.report).unwrap_or_default();
    if outcome.is_reached {
        return response::json(StatusCode::OK, &body);
    }
    if let Value::Object(members) = &mut body {
        let error = format!("{} is {}: {}", outcome.report.name, outcome.report.state, outcome.report.reason);
        members.insert("error".into(), error.into());
        members.insert("code".into(), "not_reached".into());
    }
    response::json(StatusCode::CONFLICT, &body)
}

fn refused(error: &OperateError) -> AdminResponse {
    let (status, code, hint) = match error {
        OperateError::Unknown(_) => {
            (StatusCode::NOT_FOUND, "unknown_plugin", "GET /plugins lists those that are there")
        }
        OperateError::Closing => (StatusCode::SERVICE_UNAVAILABLE, "closing", "ask the gateway that is started next"),
        OperateError::Storage(_) => {
            (StatusCode::SERVICE_UNAVAILABLE, "database", "try again when the database answers")
        }
    };
    response::error(status, code, &error.to_string(), hint)
}

fn described(tried: &Result<OperateOutcome, OperateError>) -> String {
    match tried {
        Ok(OperateOutcome { report, is_reached: true }) => report.state.to_string(),
        Ok(OperateOutcome { report, is_reached: false }) => format!("not reached: {}: {}", report.state, report.reason),
        Err(error) => format!("refused: {error}"),
    }
}

/// Records what an operator did: a log line and a row of the audit table.
pub async fn record(gateway: &Gateway, who: &str, what: &str, plugin: &str, outcome: &str) {
    tracing::info!(target: "audit", who, what, plugin, outcome, "an operator acted");
    let now_ms = gateway.clock.now_ms();
    if let Err(error) = gateway.operators.record(who, what, plugin, outcome, now_ms).await {
        tracing::warn!(%error, who, what, plugin, outcome, "an operator's action is in the log only");
    }
}
