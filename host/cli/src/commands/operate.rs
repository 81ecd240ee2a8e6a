//! `gateway plugins enable | disable | resume | reindex`: sends the command to the running gateway and prints the result.

use super::admin_client::admin_client;
use super::exit::{failure, printed};
use super::runtime::with_runtime;
use crate::arguments::PluginTarget;
use crate::exit_code::ExitCode;
use crate::output::Output;
use gateway::lifecycle::OperatorAction;
use gateway_admin::client::ClientError;
use gateway_config::Overrides;
use serde_json::Value;

pub(crate) fn run(output: Output, action: OperatorAction, target: &PluginTarget, overrides: &Overrides) -> ExitCode {
    let client = match admin_client(target.admin.as_deref(), overrides) {
        Ok(client) => client,
        Err(code) => return code,
    };
    let path = format!("/plugins/{}/{}", target.name, action.name());
    match with_runtime(client.post(&path)) {
        Ok(Ok(answer)) => tell(output, &target.name, answer.status.as_u16(), &answer.body),
        Ok(Err(ClientError::NotThere { source, .. })) => failure(
            ExitCode::Failure,
            &format!(
                "no gateway answers at {} ({source}): start it, or say where it listens (admin.listen in \
                 its configuration, or --admin http://IP:PORT)",
                client.url()
            ),
        ),
        Ok(Err(error)) => failure(ExitCode::Failure, &error),
        Err(code) => code,
    }
}

fn tell(output: Output, name: &str, status: u16, body: &Value) -> ExitCode {
    let text = |member: &str| body[member].as_str().unwrap_or_default();
    let code = match status {
        200 => ExitCode::Ok,
        404 | 409 => ExitCode::Plugin,
        _ => ExitCode::Failure,
    };
    if body["state"].is_null() {
        return failure(code, &refusal(status, body));
    }
    let line = |_| match (text("state"), text("reason")) {
        (state, "") => format!("{name}: {state}"),
        (state, reason) => format!("{name}: {state} ({reason})"),
    };
    printed(output.print(body, line), code)
}

/// The words of an answer that refuses.
pub(crate) fn refusal(status: u16, body: &Value) -> String {
    let text = |member: &str| body[member].as_str().unwrap_or_default();
    let hint = if text("hint").is_empty() { String::new() } else { format!(" ({})", text("hint")) };
    if text("error").is_empty() { format!("the answer was {status}") } else { format!("{}{hint}", text("error")) }
}
