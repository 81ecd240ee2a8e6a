//! Requests of JSON-RPC 2.0. Rule: whatever the bytes are, they are requests or errors of JSON-RPC.

use super::RpcError;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

/// Longer ids are no ids: every answer repeats them.
const ID_CHARS_MAX: usize = 256;
const NO_ID: &str = "null";

/// What a body asks for.
#[derive(Debug)]
pub enum Incoming<'b> {
    One(Item<'b>),
    Batch(Vec<Item<'b>>),
}

/// A request, or why it is none, which is answered without an id.
pub type Item<'b> = Result<RpcRequest<'b>, RpcError>;

#[derive(Debug)]
pub struct RpcRequest<'b> {
    /// JSON as it was sent; none of a notification, which is not answered.
    pub id: Option<&'b str>,
    pub method: String,
    /// JSON as it was sent.
    pub params: Option<&'b RawValue>,
}

/// A member that occurs twice is an error of the derived parser.
#[derive(Deserialize)]
struct Envelope<'b> {
    #[serde(borrow, default, deserialize_with = "present")]
    jsonrpc: Option<&'b RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    id: Option<&'b RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    method: Option<&'b RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    params: Option<&'b RawValue>,
}

/// A null is a value here, not an absent member.
fn present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de RawValue>, D::Error> {
    <&RawValue>::deserialize(deserializer).map(Some)
}

impl<'b> Incoming<'b> {
    pub fn parse(body: &'b [u8], batch_max: usize) -> Result<Self, RpcError> {
        let body: &RawValue =
            serde_json::from_slice(body).map_err(|error| RpcError::parse(format!("the body is no JSON: {error}")))?;
        if !body.get().starts_with('[') {
            return Ok(Self::One(RpcRequest::parse(body)));
        }
        let batch: Vec<&RawValue> =
            serde_json::from_str(body.get()).map_err(|error| RpcError::parse(error.to_string()))?;
        if batch.is_empty() {
            return Err(RpcError::invalid_request("the batch is empty"));
        }
        if batch.len() > batch_max {
            let text = format!("a batch of {} calls: at most {batch_max} are answered at a time", batch.len());
            return Err(RpcError::invalid_request(text));
        }
        Ok(Self::Batch(batch.into_iter().map(RpcRequest::parse).collect()))
    }

    pub fn items(&self) -> &[Item<'b>] {
        match self {
            Self::One(item) => std::slice::from_ref(item),
            Self::Batch(items) => items,
        }
    }
}

impl<'b> RpcRequest<'b> {
    fn parse(request: &'b RawValue) -> Item<'b> {
        if !request.get().starts_with('{') {
            return Err(RpcError::invalid_request("a request is a JSON object"));
        }
        let envelope: Envelope<'b> = serde_json::from_str(request.get())
            .map_err(|error| RpcError::invalid_request(format!("the request: {error}")))?;
        let text = |value: Option<&RawValue>| value.and_then(|value| serde_json::from_str::<String>(value.get()).ok());
        if text(envelope.jsonrpc).as_deref() != Some("2.0") {
            return Err(RpcError::invalid_request("jsonrpc: it is \"2.0\""));
        }
        let id = envelope.id.map(RawValue::get);
        if id.is_some_and(|id| !is_id(id)) {
            return Err(RpcError::invalid_request("id: a text, a number or null, of at most 256 characters"));
        }
        let method = text(envelope.method).ok_or_else(|| RpcError::invalid_request("method: a text is needed"))?;
        Ok(Self { id, method, params: envelope.params })
    }
}

fn is_id(json: &str) -> bool {
    let is_scalar =
        json == NO_ID || json.starts_with(|first: char| first == '"' || first == '-' || first.is_ascii_digit());
    is_scalar && json.len() <= ID_CHARS_MAX
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(body: &str) -> Result<(Option<String>, String), i64> {
        match Incoming::parse(body.as_bytes(), 3) {
            Ok(Incoming::One(Ok(request))) => Ok((request.id.map(str::to_owned), request.method)),
            Ok(Incoming::One(Err(error))) | Err(error) => Err(error.code),
            Ok(Incoming::Batch(_)) => panic!("{body} is a batch"),
        }
    }

    #[test]
    fn a_request_has_its_id_as_it_was_sent() {
        for id in ["1", "-1.50", "\"a\\u0000b\"", "null", "123456789012345678901234567890", "1e400", "\"\""] {
            let body = format!(r#" {{"jsonrpc":"2.0","id":{id},"method":"m"}}"#);
            assert_eq!(one(&body), Ok((Some(id.to_owned()), "m".to_owned())));
        }
        assert_eq!(one(r#"{"jsonrpc":"2.0","method":"m","params":[]}"#), Ok((None, "m".to_owned())));
    }

    #[test]
    fn what_is_no_request_is_an_error_of_json_rpc() {
        for (body, code) in [
            ("", -32700),
            ("{", -32700),
            ("\u{feff}{}", -32700),
            ("[1,", -32700),
            ("nonsense", -32700),
            ("[]", -32600),
            ("7", -32600),
            ("null", -32600),
            ("\"x\"", -32600),
            ("{}", -32600),
            ("[1,2,3,4]", -32600),
            (r#"{"jsonrpc":"1.0","id":1,"method":"m"}"#, -32600),
            (r#"{"jsonrpc":2.0,"id":1,"method":"m"}"#, -32600),
            (r#"{"id":1,"method":"m"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":7}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":null}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":[1],"method":"m"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":{},"method":"m"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":true,"method":"m"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"id":2,"method":"m"}"#, -32600),
            (r#"{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}"#, -32600),
        ] {
            assert_eq!(one(body), Err(code), "{body}");
        }
        assert_eq!(Incoming::parse(b"\xff\xfe", 3).unwrap_err().code, -32700);
        let long = format!(r#"{{"jsonrpc":"2.0","id":"{}","method":"m"}}"#, "x".repeat(300));
        assert_eq!(one(&long), Err(-32600));
    }

    #[test]
    fn each_item_of_a_batch_is_a_request_or_an_error() {
        let batch = r#"[1, {"jsonrpc":"2.0","id":1,"method":"m"}, [{"jsonrpc":"2.0"}]]"#;
        let incoming = Incoming::parse(batch.as_bytes(), 3).unwrap();
        let codes: Vec<Option<i64>> =
            incoming.items().iter().map(|item| item.as_ref().err().map(|error| error.code)).collect();
        assert_eq!(codes, [Some(-32600), None, Some(-32600)]);
    }

    proptest! {
        #[test]
        fn any_bytes_are_requests_or_errors(body in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = Incoming::parse(&body, 3);
        }

        #[test]
        fn any_text_of_json_is_requests_or_errors(body in "[\\[\\]{}\",:0-9a-z ]{0,60}") {
            let _ = Incoming::parse(body.as_bytes(), 3);
        }
    }
}
