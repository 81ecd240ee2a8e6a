//! The params of `tasks/send`, `message/send` and `SendMessage`. Rule: every level is checked; nothing of another type passes.

use super::{
    Envelope, RpcError,
    job::{job_of_task, parse_job_id, task_id},
    part::Part,
};
use plugin_api::JobId;
use serde_json::{Map, Value};

const ROLES: [&str; 4] = ["user", "agent", "ROLE_USER", "ROLE_AGENT"];
/// Longer ids are no ids.
const ID_CHARS_MAX: usize = 256;

/// A message for an agent.
#[derive(Clone, Debug)]
pub struct SendParams {
    /// `None` where the gateway names the task.
    pub task_id: Option<String>,
    /// `sessionId` of 0.1, `contextId` of later ones.
    pub context_id: Option<String>,
    /// As the client sent it.
    pub message: Map<String, Value>,
    pub parts: Vec<Part>,
    /// The escrow job that paid for it.
    pub job: Option<JobId>,
    /// The signature of the job's client.
    pub envelope: Option<Envelope>,
}

impl SendParams {
    pub fn parse(params: &Map<String, Value>) -> Result<Self, RpcError> {
        let message = object(params, "message", "params.message")?
            .ok_or_else(|| RpcError::invalid_params("params.message: an object is needed"))?;
        let parts = parts(message)?;
        check_message(message)?;
        check_configuration(params)?;
        let metadata = object(params, "metadata", "params.metadata")?;
        let given = |name: &str| metadata.and_then(|metadata| metadata.get(name)).filter(|value| !value.is_null());
        let job = given("jobId").map(parse_job_id).transpose()?;
        let envelope = given("envelope").map(Envelope::parse).transpose()?;
        let earlier = text(message, "taskId", "params.message.taskId")?;
        let job = continued_job(earlier.as_deref(), job)?;
        let named = text(params, "id", "params.id")?.or(text(params, "taskId", "params.taskId")?);
        let session = text(params, "sessionId", "params.sessionId")?;
        Ok(Self {
            task_id: named.or_else(|| job.map(task_id)),
            context_id: session.or(text(message, "contextId", "params.message.contextId")?),
            message: message.clone(),
            parts,
            job,
            envelope,
        })
    }
}

/// A message that goes on with a task names it: the only tasks that are kept are jobs.
fn continued_job(task: Option<&str>, job: Option<JobId>) -> Result<Option<JobId>, RpcError> {
    let Some(task) = task else { return Ok(job) };
    match (job_of_task(task), job) {
        (None, _) => Err(RpcError::task_not_found("task not found: params.message.taskId names none that is kept")),
        (Some(continued), Some(job)) if continued != job => {
            Err(RpcError::invalid_params("params.message.taskId: it is the task of another job than metadata.jobId"))
        }
        (continued, _) => Ok(continued),
    }
}

fn parts(message: &Map<String, Value>) -> Result<Vec<Part>, RpcError> {
    let parts = message.get("parts").and_then(Value::as_array).filter(|parts| !parts.is_empty());
    let parts = parts.ok_or_else(|| RpcError::invalid_params("params.message.parts: a list with a part is needed"))?;
    parts.iter().enumerate().map(|(position, part)| Part::parse(part, position)).collect()
}

fn check_message(message: &Map<String, Value>) -> Result<(), RpcError> {
    if let Some(role) = text(message, "role", "params.message.role")?
        && !ROLES.contains(&role.as_str())
    {
        return Err(RpcError::invalid_params("params.message.role: user or agent"));
    }
    text(message, "messageId", "params.message.messageId")?;
    if text(message, "kind", "params.message.kind")?.is_some_and(|kind| kind != "message") {
        return Err(RpcError::invalid_params("params.message.kind: message"));
    }
    object(message, "metadata", "params.message.metadata").map(drop)
}

fn check_configuration(params: &Map<String, Value>) -> Result<(), RpcError> {
    let Some(configuration) = object(params, "configuration", "params.configuration")? else { return Ok(()) };
    let is_given = |name: &str| configuration.get(name).is_some_and(|value| !value.is_null());
    if ["pushNotificationConfig", "taskPushNotificationConfig", "pushNotification"].into_iter().any(is_given) {
        return Err(RpcError::push_not_supported(
            "push notifications are not supported: params.configuration asks for them",
        ));
    }
    let is_list_of_texts = |value: &Value| value.as_array().is_some_and(|modes| modes.iter().all(Value::is_string));
    if is_given("acceptedOutputModes") && !configuration.get("acceptedOutputModes").is_some_and(is_list_of_texts) {
        return Err(RpcError::invalid_params("params.configuration.acceptedOutputModes: a list of content types"));
    }
    check_history_length(configuration, "params.configuration.historyLength")
}

/// How many messages of the past a client wants. There are none.
pub fn check_history_length(members: &Map<String, Value>, place: &str) -> Result<(), RpcError> {
    match members.get("historyLength") {
        None | Some(Value::Null) => Ok(()),
        Some(length) if length.is_u64() => Ok(()),
        Some(_) => Err(RpcError::invalid_params(format!("{place}: a whole number, not below zero"))),
    }
}

/// A text of at most 256 characters; `None` when it is absent, null or empty, which is the same in Protocol Buffers.
pub fn text(members: &Map<String, Value>, name: &str, place: &str) -> Result<Option<String>, RpcError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.is_empty() => Ok(None),
        Some(Value::String(text)) if text.chars().count() <= ID_CHARS_MAX => Ok(Some(text.clone())),
        Some(_) => {
            Err(RpcError::invalid_params(format!("{place}: a text of at most {ID_CHARS_MAX} characters is needed")))
        }
    }
}

fn object<'p>(
    members: &'p Map<String, Value>,
    name: &str,
    place: &str,
) -> Result<Option<&'p Map<String, Value>>, RpcError> {
    match members.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Object(object)) => Ok(Some(object)),
        Some(_) => Err(RpcError::invalid_params(format!("{place}: an object is needed"))),
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use serde_json::json;

    fn parse(params: &Value) -> Result<SendParams, RpcError> {
        SendParams::parse(params.as_object().unwrap())
    }

    fn with(path: &[&str], value: Value) -> Value {
        let mut params = json!({ "message": { "role": "user", "parts": [{ "kind": "text", "text": "hi" }] } });
        let mut place = &mut params;
        for name in path {
            place = &mut place[*name];
        }
        *place = value;
        params
    }

    #[test]
    fn values_of_another_type_are_refused_at_every_level() {
        let wrong = [json!(7), json!("x"), json!([]), json!(true)];
        let objects: [&[&str]; 4] = [&["message"], &["metadata"], &["configuration"], &["message", "metadata"]];
        for (path, value) in objects.iter().flat_map(|path| wrong.iter().map(move |value| (path, value))) {
            let error = parse(&with(path, value.clone())).unwrap_err();
            assert_eq!(error.code, -32602, "{path:?} {value}");
        }
        let texts: [&[&str]; 7] = [
            &["id"],
            &["taskId"],
            &["sessionId"],
            &["message", "role"],
            &["message", "messageId"],
            &["message", "contextId"],
            &["message", "kind"],
        ];
        for path in texts {
            for value in [json!(7), json!({}), json!("x".repeat(257))] {
                assert_eq!(parse(&with(path, value.clone())).unwrap_err().code, -32602, "{path:?} {value}");
            }
        }
        for parts in [
            json!(null),
            json!([]),
            json!({}),
            json!("x"),
            json!([7]),
            json!([{}]),
            json!([{ "kind": "text" }]),
            json!([{ "kind": "text", "text": 7 }]),
            json!([{ "kind": 7, "text": "x" }]),
            json!([{ "kind": "video" }]),
            json!([{ "kind": "data" }]),
            json!([{ "file": "x" }]),
            json!([{ "url": 7 }]),
            json!([{ "text": "x" }, null]),
        ] {
            assert_eq!(parse(&with(&["message", "parts"], parts.clone())).unwrap_err().code, -32602, "{parts}");
        }
        for modes in [json!("x"), json!([7]), json!({})] {
            let params = with(&["configuration"], json!({ "acceptedOutputModes": modes }));
            assert_eq!(parse(&params).unwrap_err().code, -32602, "{params}");
        }
        for length in [json!(-1), json!(1.5), json!("1")] {
            let params = with(&["configuration"], json!({ "historyLength": length }));
            assert_eq!(parse(&params).unwrap_err().code, -32602, "{params}");
        }
        assert_eq!(parse(&with(&["message", "role"], json!("system"))).unwrap_err().code, -32602);
        assert_eq!(parse(&json!({ "": "x" })).unwrap_err().code, -32602);
    }

    #[test]
    fn null_and_an_empty_text_are_as_absent() {
        for path in [&["metadata"][..], &["configuration"], &["id"], &["message", "role"], &["message", "taskId"]] {
            assert!(parse(&with(path, json!(null))).is_ok(), "{path:?}");
        }
        for path in [&["id"][..], &["message", "role"], &["message", "taskId"], &["message", "contextId"]] {
            assert!(parse(&with(path, json!(""))).is_ok_and(|params| params.context_id.is_none()), "{path:?}");
        }
        let params = with(&["configuration"], json!({ "pushNotificationConfig": null, "acceptedOutputModes": ["x"] }));
        assert!(parse(&params).is_ok());
        assert!(parse(&with(&["metadata"], json!({ "jobId": null, "envelope": null }))).unwrap().job.is_none());
    }

    #[test]
    fn a_task_is_named_by_the_client_or_its_job() {
        assert_eq!(parse(&with(&["id"], json!("mine"))).unwrap().task_id.as_deref(), Some("mine"));
        assert_eq!(parse(&with(&["taskId"], json!("mine"))).unwrap().task_id.as_deref(), Some("mine"));
        assert_eq!(parse(&with(&["metadata"], json!({ "jobId": "7" }))).unwrap().task_id.as_deref(), Some("job-7"));
        let continued = parse(&with(&["message", "taskId"], json!("job-7"))).unwrap();
        assert_eq!((continued.job, continued.task_id.as_deref()), (Some(JobId(7)), Some("job-7")));
        assert_eq!(parse(&with(&["message", "taskId"], json!("task-x"))).unwrap_err().code, -32001);
        let mut other = with(&["message", "taskId"], json!("job-7"));
        other["metadata"] = json!({ "jobId": 8 });
        assert_eq!(parse(&other).unwrap_err().code, -32602);
    }

    #[test]
    fn push_notifications_are_refused() {
        let params = with(&["configuration"], json!({ "pushNotificationConfig": { "url": "https://a.example" } }));
        assert_eq!(parse(&params).unwrap_err().code, -32003);
    }
}
