//! A route as data: router, OpenAPI, docs page, limits and coverage tests read this one value.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// [`RouteSpec::method`] of a route that serves every method.
pub const ANY_METHOD: &str = "ANY";

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RouteSpec {
    /// `GET`, `POST`, `PUT`, `DELETE` or `PATCH`; a `GET` route also serves `HEAD`. [`ANY_METHOD`] serves each of them that the path
    /// has no other route for.
    pub method: String,
    /// For example `/api/forum/threads/{id}`.
    pub path: String,
    /// `<verb>_<resource>`, unique in the gateway.
    pub operation: String,
    pub tag: String,
    pub summary: String,
    #[serde(default)]
    pub description: String,
    /// The path's name among the `endpoints` of the network's manifest and agent card, for example `forum`.
    #[serde(default)]
    pub endpoint: Option<String>,
    /// The route's link in llms.txt.
    #[serde(default)]
    pub briefing: Option<BriefingSpec>,
    pub auth: Auth,
    /// A larger body is a 413; `None` is the gateway's own limit.
    #[serde(default)]
    pub body_max_bytes: Option<u64>,
    /// Time limit of the handler; `None` is the gateway's own limit.
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    /// `Cache-Control` of responses below 400.
    #[serde(default)]
    pub cache_control: Option<String>,
    /// Whether the response depends on path, query and stored data alone, so that the gateway may cache it: see
    /// [`crate::Route::cached`]. Public `GET` routes only.
    #[serde(default)]
    pub cached: bool,
    #[serde(default)]
    pub rate_limits: Vec<RateLimit>,
    /// A key of the plugin's configuration that must be set; checked first of all.
    #[serde(default)]
    pub needed_setting: Option<NeededSetting>,
    /// A row that must exist; checked before body and signature.
    #[serde(default)]
    pub parent: Option<Parent>,
    #[serde(default)]
    pub parameters: Vec<Parameter>,
    /// JSON Schema of the request body (of the payload, when the route is signed).
    #[serde(default)]
    pub body: Option<Value>,
    /// Whether the handler reads the body in parts, while it arrives. Public routes only: a signature covers the whole body.
    #[serde(default)]
    pub streams_body: bool,
    /// Content types of a body that is not JSON.
    #[serde(default)]
    pub body_types: Vec<String>,
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// Headers and members that error responses have beside the one body.
    #[serde(default)]
    pub error_details: Vec<ErrorDetail>,
    /// The parameters of the path are private: no log has them.
    #[serde(default)]
    pub private_path: bool,
    /// A request may have a price: [`crate::abi::PluginObject::price`] says which.
    #[serde(default)]
    pub price: Option<PriceSpec>,
}

impl RouteSpec {
    /// A public route without further description.
    pub fn new(method: &str, path: &str, operation: &str) -> Self {
        Self {
            method: method.to_owned(),
            path: path.to_owned(),
            operation: operation.to_owned(),
            tag: String::new(),
            summary: String::new(),
            description: String::new(),
            endpoint: None,
            briefing: None,
            auth: Auth::Public,
            body_max_bytes: None,
            timeout_ms: None,
            cache_control: None,
            cached: false,
            rate_limits: Vec::new(),
            needed_setting: None,
            parent: None,
            parameters: Vec::new(),
            streams_body: false,
            body: None,
            body_types: Vec::new(),
            answers: Vec::new(),
            error_details: Vec::new(),
            private_path: false,
            price: None,
        }
    }
}

/// What a route costs, for the documentation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PriceSpec {
    /// For example `the agent's pricePerCall, paid to its owner`.
    pub description: String,
}

/// A link in the section of llms.txt that has the route's tag as its title.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BriefingSpec {
    /// Text of the link.
    pub name: String,
    /// What the path is good for, in one line.
    pub note: String,
}

/// Who may call a route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Auth {
    /// Anyone.
    Public,
    /// The wallet that signed the JSON body; replay guard and per-address write interval apply.
    SignedBody { action: String },
    /// The wallet in the signed headers (or query, or body fields). `guarded` adds replay guard and interval.
    SignedHeaders { action: String, guarded: bool },
    /// The wallet in the query `address`, `ts`, `sig`, over the payload `{}`.
    SignedQuery { action: String },
    /// The plugin authenticates the caller; `scheme` documents how.
    Own { scheme: String },
}

impl Auth {
    /// The signed action, when the gateway checks a signature.
    pub fn action(&self) -> Option<&str> {
        match self {
            Self::SignedBody { action } | Self::SignedHeaders { action, .. } | Self::SignedQuery { action } => {
                Some(action)
            }
            Self::Public | Self::Own { .. } => None,
        }
    }

    /// Whether the replay guard applies: a signature is accepted once.
    pub fn is_guarded(&self) -> bool {
        matches!(self, Self::SignedBody { .. } | Self::SignedHeaders { guarded: true, .. })
    }
}

/// A limit of calls per window and client IP. Routes with the same bucket share it.
///
/// ```
/// use plugin_api::{Route, handles::RateLimit};
///
/// fn limited<P: Send + Sync + 'static>(route: Route<P>) -> Route<P> {
///     let (bucket, code) = ("notes".to_owned(), "rate_limited".to_owned());
///     route.rate_limit(RateLimit { bucket, calls: 10, window_s: 3600, code, additional: true })
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RateLimit {
    pub bucket: String,
    pub calls: u32,
    pub window_s: u32,
    /// Code of the 429.
    pub code: String,
    /// Whether the bucket applies in addition to the shared one (`true`) or instead of it.
    #[serde(default)]
    pub additional: bool,
}

impl RateLimit {
    /// The bucket that all signed writes of the commons (forum, messages, bounties, …) share, in addition to the gateway's own
    /// limit.
    pub fn commons_writes() -> Self {
        let (bucket, code) = ("commons_writes".to_owned(), "ip_rate_limited".to_owned());
        Self { bucket, calls: 30, window_s: 60, code, additional: true }
    }
}

/// A key of the plugin's configuration: while it is not set, the gateway responds with this error to everybody.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NeededSetting {
    pub key: String,
    pub status: u16,
    pub code: String,
    pub message: String,
    pub hint: String,
}

impl NeededSetting {
    /// Whether the configuration leaves the key out, or empty.
    pub fn is_missing(&self, config: &Map<String, Value>) -> bool {
        match config.get(&self.key) {
            None | Some(Value::Null) => true,
            Some(Value::String(text)) => text.is_empty(),
            Some(Value::Array(items)) => items.is_empty(),
            Some(Value::Object(members)) => members.is_empty(),
            Some(Value::Bool(_) | Value::Number(_)) => false,
        }
    }
}

/// A row that a path parameter identifies: when it does not exist, the gateway responds 404 before it reads the body.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parent {
    /// A query with `$1`, for example `SELECT 1 FROM forum_threads WHERE id = $1`.
    pub sql: String,
    pub param: String,
    /// Whether the parameter is a positive integer (else text).
    pub integer: bool,
    /// For the error text, for example `thread`.
    pub resource: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Parameter {
    pub name: String,
    pub place: ParameterIn,
    pub required: bool,
    #[serde(default)]
    pub description: String,
    pub schema: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ParameterIn {
    Path,
    Query,
    Header,
}

/// One documented response.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Answer {
    pub status: u16,
    pub description: String,
    /// Empty for a response without a body.
    #[serde(default)]
    pub content_type: String,
    #[serde(default)]
    pub schema: Option<Value>,
    /// Codes that an error response may have.
    #[serde(default)]
    pub codes: Vec<String>,
}

/// A header, or a member of the body, that the error response with this code has.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ErrorDetail {
    pub status: u16,
    pub code: String,
    pub place: ErrorDetailIn,
    pub name: String,
    /// JSON Schema of the value; a header's is a text.
    pub schema: Value,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorDetailIn {
    Header,
    Body,
}
