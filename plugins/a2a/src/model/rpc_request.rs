//! A request of JSON-RPC 2.0. Rule: whatever the bytes are, the result is a call or an error of JSON-RPC.

use super::{
    Dialect, RpcError, SendParams,
    dialect::is_known_version,
    method::Method,
    send_params::{check_history_length, text},
};
use serde_json::{Map, Value};

/// A parsed request: its id, and the call or what is wrong with it.
#[derive(Debug)]
pub struct RpcRequest {
    /// Null where the request has none, or none that JSON-RPC allows.
    pub id: Value,
    pub call: Result<RpcCall, RpcError>,
}

#[derive(Debug)]
pub enum RpcCall {
    Send(Dialect, Box<SendParams>),
    GetTask(Dialect, TaskQuery),
    CancelTask(TaskQuery),
}

/// Names a task.
#[derive(Debug)]
pub struct TaskQuery {
    pub task_id: String,
}

impl RpcRequest {
    /// `content_type` and `version` are the headers, if they are there.
    pub fn parse(content_type: Option<&str>, version: Option<&str>, body: &[u8]) -> Self {
        let type_check = check_content_type(content_type);
        // A body that is announced as something else need not be JSON.
        let failed = |id, error| Self { id, call: type_check.clone().and(Err(error)) };
        let request: Value = match serde_json::from_slice(body) {
            Ok(request) => request,
            Err(error) => return failed(Value::Null, RpcError::parse(format!("the body is no JSON: {error}"))),
        };
        let Value::Object(request) = request else {
            let what = if request.is_array() { "batches are not served: send" } else { "the body is" };
            return failed(Value::Null, RpcError::no_object(format!("{what} one JSON object")));
        };
        let id = match request.get("id") {
            None => Value::Null,
            Some(id @ (Value::Null | Value::String(_) | Value::Number(_))) => id.clone(),
            Some(_) => return failed(Value::Null, RpcError::invalid_request("id: a text, a number or null")),
        };
        let call = type_check.and_then(|()| check_version(version)).and_then(|()| RpcCall::parse(&request));
        Self { id, call }
    }
}

fn check_content_type(content_type: Option<&str>) -> Result<(), RpcError> {
    let content_type = content_type.unwrap_or("application/json").split(';').next().unwrap_or_default().trim();
    let content_type = content_type.to_ascii_lowercase();
    let is_json = matches!(content_type.as_str(), "application/json" | "application/json-rpc")
        || content_type.starts_with("application/") && content_type.ends_with("+json");
    let refused = || RpcError::content_type_not_supported("content type not supported: application/json is needed");
    if is_json { Ok(()) } else { Err(refused()) }
}

fn check_version(version: Option<&str>) -> Result<(), RpcError> {
    let refused = || RpcError::version_not_supported("version not supported: A2A-Version is 1.0 or 0.3 here");
    if is_known_version(version.unwrap_or_default()) { Ok(()) } else { Err(refused()) }
}

impl RpcCall {
    fn parse(request: &Map<String, Value>) -> Result<Self, RpcError> {
        if request.get("jsonrpc") != Some(&Value::from("2.0")) {
            return Err(RpcError::invalid_request("jsonrpc: it is \"2.0\""));
        }
        let Some(Value::String(name)) = request.get("method") else {
            return Err(RpcError::invalid_request("method: a text is needed"));
        };
        let unknown = || RpcError::unknown_method("method not found: send tasks/send, message/send or SendMessage");
        let method = Method::parse(name).ok_or_else(unknown)?;
        let no_params = Map::new();
        let params = match request.get("params") {
            None | Some(Value::Null) => &no_params,
            Some(Value::Object(params)) => params,
            Some(_) => return Err(RpcError::invalid_params("params: an object is needed")),
        };
        match method {
            Method::Send(dialect) => Ok(Self::Send(dialect, Box::new(SendParams::parse(params)?))),
            Method::GetTask(dialect) => {
                check_history_length(params, "params.historyLength")?;
                Ok(Self::GetTask(dialect, TaskQuery::parse(params)?))
            }
            Method::CancelTask => Ok(Self::CancelTask(TaskQuery::parse(params)?)),
            Method::Push => Err(RpcError::push_not_supported("push notifications are not supported")),
            Method::Unsupported => Err(RpcError::unsupported_operation("this operation is not supported")),
            Method::ExtendedCard => Err(RpcError::no_extended_card("there is no other card than the public one")),
        }
    }
}

impl TaskQuery {
    fn parse(params: &Map<String, Value>) -> Result<Self, RpcError> {
        let task_id = text(params, "id", "params.id")?;
        // 1.0 had names of resources in its drafts.
        let task_id = task_id.map(|id| id.strip_prefix("tasks/").map(str::to_owned).unwrap_or(id));
        let missing = || RpcError::invalid_params("params.id: the id of a task is needed");
        Ok(Self { task_id: task_id.ok_or_else(missing)? })
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn parse(request: &Value) -> RpcRequest {
        RpcRequest::parse(None, None, request.to_string().as_bytes())
    }

    fn code(request: &RpcRequest) -> Option<i32> {
        request.call.as_ref().err().map(|error| error.code)
    }

    fn send(method: &str) -> Value {
        let params = json!({ "message": { "role": "user", "parts": [{ "kind": "text", "text": "hi" }] } });
        json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
    }

    #[test]
    fn the_dialect_is_that_of_the_method() {
        for (method, expected) in
            [("tasks/send", Dialect::V01), ("message/send", Dialect::V03), ("SendMessage", Dialect::V1)]
        {
            let request = parse(&send(method));
            assert!(matches!(request.call, Ok(RpcCall::Send(dialect, _)) if dialect == expected), "{request:?}");
        }
    }

    #[test]
    fn what_is_no_request_is_told_with_its_id_where_there_is_one() {
        for (body, expected) in [
            ("", -32700),
            ("{", -32700),
            ("{\"jsonrpc\":\"2.0\",}", -32700),
            ("\u{feff}{}", -32700),
            ("[]", -32600),
            ("[{\"jsonrpc\":\"2.0\"}]", -32600),
            ("7", -32600),
            ("null", -32600),
            ("{}", -32600),
        ] {
            let request = RpcRequest::parse(None, None, body.as_bytes());
            assert_eq!((code(&request), &request.id), (Some(expected), &Value::Null), "{body}");
        }
        assert_eq!(code(&RpcRequest::parse(None, None, b"\xff\xfe")), Some(-32700));
        let deep = "[".repeat(1000);
        assert_eq!(code(&RpcRequest::parse(None, None, deep.as_bytes())), Some(-32700));
        for (member, value, expected) in [
            ("jsonrpc", json!("1.0"), -32600),
            ("jsonrpc", json!(2.0), -32600),
            ("method", json!(7), -32600),
            ("method", json!(null), -32600),
            ("method", json!("tasks/unknown"), -32601),
            ("method", json!(""), -32601),
            ("params", json!([1]), -32602),
            ("params", json!("x"), -32602),
            ("params", json!(null), -32602),
        ] {
            let mut request = send("message/send");
            request[member] = value;
            let parsed = parse(&request);
            assert_eq!((code(&parsed), &parsed.id), (Some(expected), &json!(1)), "{request}");
        }
    }

    /// As the table of errors says it, and A2A's own errors name themselves as 1.0 wants.
    #[test]
    fn errors_have_the_status_and_the_data_of_their_kind() {
        let error = |version: Option<&str>, body: &str| {
            let error = RpcRequest::parse(None, version, body.as_bytes()).call.unwrap_err();
            (error.code, error.http_status, error.to_json()["data"][0]["reason"].clone())
        };
        assert_eq!(error(None, "{"), (-32700, 400, Value::Null));
        assert_eq!(error(None, "[]"), (-32600, 400, Value::Null));
        assert_eq!(error(None, "{\"jsonrpc\":\"2.0\"}"), (-32600, 200, Value::Null));
        assert_eq!(error(None, "{\"jsonrpc\":\"2.0\",\"id\":[]}"), (-32600, 200, Value::Null));
        let call = |method: &str| format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"{method}\"}}");
        assert_eq!(error(None, &call("nosuch")), (-32601, 200, Value::Null));
        assert_eq!(error(None, &call("tasks/get")), (-32602, 200, Value::Null));
        assert_eq!(error(None, &call("message/stream")), (-32004, 200, json!("UNSUPPORTED_OPERATION")));
        assert_eq!(error(Some("9.9"), &call("tasks/get")), (-32009, 200, json!("VERSION_NOT_SUPPORTED")));
        let info = &RpcError::task_not_found("").to_json()["data"][0];
        assert_eq!(info["domain"], "a2a-protocol.org");
        assert_eq!(info["@type"], "type.googleapis.com/google.rpc.ErrorInfo");
    }

    #[test]
    fn an_id_is_a_text_a_number_or_null() {
        for id in [json!("x"), json!(7), json!(-1.5), json!(null), json!(u64::MAX)] {
            let mut request = send("message/send");
            request["id"] = id.clone();
            let parsed = parse(&request);
            assert_eq!((parsed.id, parsed.call.is_ok()), (id, true));
        }
        for id in [json!({ "bad": "type" }), json!([1]), json!(true)] {
            let mut request = send("message/send");
            request["id"] = id;
            assert_eq!(code(&parse(&request)), Some(-32600));
        }
    }

    #[test]
    fn headers_are_checked() {
        let body = send("message/send").to_string();
        let of = |content_type, version| code(&RpcRequest::parse(content_type, version, body.as_bytes()));
        for good in
            [None, Some("application/json"), Some("Application/JSON; charset=utf-8"), Some("application/a2a+json")]
        {
            assert_eq!(of(good, Some("1.0")), None, "{good:?}");
        }
        for bad in ["text/plain", "", "application/xml", "multipart/form-data", "text/x+json"] {
            assert_eq!(of(Some(bad), None), Some(-32005), "{bad}");
            for body in [&b"<xml/>"[..], b"[]", b"{}", b"{\"id\":{}}"] {
                assert_eq!(code(&RpcRequest::parse(Some(bad), Some("2.0"), body)), Some(-32005), "{bad}");
            }
        }
        assert_eq!(of(None, Some("2.0")), Some(-32009));
        assert_eq!(of(None, Some("")), None);
    }

    #[test]
    fn known_methods_that_are_not_served_are_told_from_unknown_ones() {
        for (method, expected) in [
            ("tasks/pushNotification/set", -32003),
            ("tasks/pushNotificationConfig/list", -32003),
            ("CreateTaskPushNotificationConfig", -32003),
            ("message/stream", -32004),
            ("tasks/sendSubscribe", -32004),
            ("tasks/resubscribe", -32004),
            ("SendStreamingMessage", -32004),
            ("ListTasks", -32004),
            ("GetExtendedAgentCard", -32004),
            ("agent/getAuthenticatedExtendedCard", -32007),
            ("sendmessage", -32601),
        ] {
            assert_eq!(
                code(&parse(&json!({ "jsonrpc": "2.0", "id": 1, "method": method }))),
                Some(expected),
                "{method}"
            );
        }
    }

    #[test]
    fn a_task_is_asked_for_by_its_id() {
        for method in ["tasks/get", "GetTask", "tasks/cancel", "CancelTask"] {
            let request =
                |params: Value| parse(&json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params }));
            let query = match request(json!({ "id": "tasks/job-7", "historyLength": 3 })).call.unwrap() {
                RpcCall::GetTask(_, query) | RpcCall::CancelTask(query) => query,
                RpcCall::Send(..) => panic!("{method} sends"),
            };
            assert_eq!(query.task_id, "job-7");
            for params in [json!({}), json!({ "id": 7 }), json!({ "id": "" }), json!({ "id": null })] {
                assert_eq!(code(&request(params)), Some(-32602), "{method}");
            }
        }
        let params = json!({ "id": "x", "historyLength": -1 });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/get", "params": params });
        assert_eq!(code(&parse(&request)), Some(-32602));
    }

    /// Any JSON, a few levels deep, with the names that requests have.
    fn any_json() -> impl Strategy<Value = Value> {
        let name = prop_oneof![
            prop::sample::select(vec![
                "jsonrpc",
                "id",
                "method",
                "params",
                "message",
                "parts",
                "kind",
                "type",
                "text",
                "data",
                "file",
                "role",
                "metadata",
                "jobId",
                "envelope",
                "configuration",
                "taskId",
                "historyLength",
                "acceptedOutputModes",
                "",
            ])
            .prop_map(str::to_owned),
            ".{0,4}"
        ];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            ".{0,8}".prop_map(Value::from),
            prop::sample::select(vec!["2.0", "message/send", "SendMessage", "tasks/send", "tasks/get", "text", "user"])
                .prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 40, 5, move |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec((name.clone(), inner), 0..6)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_call_or_an_error(body in prop::collection::vec(any::<u8>(), 0..200)) {
            RpcRequest::parse(None, None, &body);
        }

        #[test]
        fn any_json_is_a_call_or_an_error(params in any_json(), method in prop::sample::select(vec![
            "message/send", "SendMessage", "tasks/send", "tasks/get", "CancelTask",
        ])) {
            let request = parse(&json!({ "jsonrpc": "2.0", "id": "x", "method": method, "params": params }));
            prop_assert_eq!(request.id, json!("x"));
            let is_of_params = |code: i32| [-32602, -32001, -32003].contains(&code);
            prop_assert!(request.call.as_ref().err().is_none_or(|error| is_of_params(error.code)));
        }

        #[test]
        fn any_object_is_a_call_or_an_error(request in any_json()) {
            let parsed = parse(&request);
            prop_assert!(parsed.call.is_ok() || parsed.call.is_err_and(|error| error.http_status < 500));
        }
    }
}
