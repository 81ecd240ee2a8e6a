//! Extractors: typed parts of a request. An extractor also describes itself, so that the documentation matches the code.

use super::{Address, Problem, Request};
use crate::{
    abi::FfiBytes,
    manifest::{Parameter, ParameterIn, RouteSpec},
};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// An extractor: parses a part of the request, or fails with the problem that the caller receives.
pub trait FromRequest: Sized + Send {
    fn from_request(request: &mut Request) -> Result<Self, Problem>;

    fn describe(_: &mut RouteDescription<'_>) {}
}

/// The description of a route, to which its extractors and its response types add their parts.
pub struct RouteDescription<'a> {
    pub spec: &'a mut RouteSpec,
    pub schemas: &'a mut SchemaGenerator,
}

impl RouteDescription<'_> {
    pub fn schema<T: JsonSchema>(&mut self) -> Value {
        self.schemas.subschema_for::<T>().to_value()
    }

    fn path_names(&self) -> Vec<String> {
        let parts = self.spec.path.split(['{', '}']).skip(1).step_by(2);
        parts.map(|name| name.trim_start_matches('*').to_owned()).collect()
    }

    fn path_parameter(&mut self, position: usize, schema: Value) {
        let Some(name) = self.path_names().into_iter().nth(position) else { return };
        let parameter =
            Parameter { name, place: ParameterIn::Path, required: true, description: String::new(), schema };
        self.spec.parameters.push(parameter);
    }
}

/// A path parameter's type. A text that does not parse is a 404.
pub trait FromParam: Sized + Send {
    /// Name of the resource in the text of the 404, for example `thread`.
    const RESOURCE: &'static str;

    fn from_param(text: &str) -> Option<Self>;

    fn schema() -> Value;
}

impl FromParam for String {
    const RESOURCE: &'static str = "resource";

    fn from_param(text: &str) -> Option<Self> {
        (!text.contains('\0')).then(|| text.to_owned())
    }

    fn schema() -> Value {
        json!({ "type": "string" })
    }
}

impl FromParam for i64 {
    const RESOURCE: &'static str = "resource";

    fn from_param(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn schema() -> Value {
        json!({ "type": "integer", "minimum": 1 })
    }
}

impl FromParam for Address {
    const RESOURCE: &'static str = "address";

    fn from_param(text: &str) -> Option<Self> {
        text.parse().ok()
    }

    fn schema() -> Value {
        json!({ "type": "string", "pattern": "^0x[0-9a-fA-F]{40}$" })
    }
}

/// The path's parameters: one value, or a tuple of up to six in the order of the path.
///
/// ```
/// use plugin_api::{HandlerError, Json, Path, RequestContext, Route};
///
/// # struct Notes;
/// /// `GET /api/notes/{id}/words/{word}`
/// async fn find_word(
///     _: RequestContext<Notes>,
///     Path((id, word)): Path<(i64, String)>,
/// ) -> Result<Json<(i64, String)>, HandlerError> {
///     Ok(Json((id, word)))
/// }
/// # let _ = Route::<Notes>::get("/api/notes/{id}/words/{word}", find_word).public();
/// ```
pub struct Path<T>(pub T);

fn param<T: FromParam>(request: &Request, position: u32) -> Result<T, Problem> {
    let missing = || {
        let hint = format!("check the {} in the path", T::RESOURCE);
        Problem::new(404, "not_found", format!("unknown {}", T::RESOURCE)).hint(hint)
    };
    request.param(position).and_then(T::from_param).ok_or_else(missing)
}

impl<T: FromParam> FromRequest for Path<T> {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        param(request, 0).map(Self)
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe.path_parameter(0, T::schema());
    }
}

macro_rules! path_parameters {
    ($($part:ident $position:literal),*) => {
        impl<$($part: FromParam),*> FromRequest for Path<($($part,)*)> {
            fn from_request(request: &mut Request) -> Result<Self, Problem> {
                Ok(Self(($(param::<$part>(request, $position)?,)*)))
            }

            fn describe(describe: &mut RouteDescription<'_>) {
                $(describe.path_parameter($position, $part::schema());)*
            }
        }
    };
}

path_parameters!(A 0, B 1);
path_parameters!(A 0, B 1, C 2);
path_parameters!(A 0, B 1, C 2, D 3);
path_parameters!(A 0, B 1, C 2, D 3, E 4);
path_parameters!(A 0, B 1, C 2, D 3, E 4, F 5);

/// The query string as a struct. Give members `#[serde(default)]`; read lenient ones with [`super::lenient`].
///
/// ```
/// use plugin_api::{Address, HandlerError, Json, JsonSchema, QueryString, RequestContext, lenient};
///
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Filter {
///     /// Notes that contain this text.
///     #[serde(default)]
///     q: String,
///     /// Notes of this author.
///     #[serde(default, deserialize_with = "lenient")]
///     author: Option<Address>,
/// }
///
/// # struct Notes;
/// async fn list(_: RequestContext<Notes>, QueryString(filter): QueryString<Filter>) -> Result<Json<bool>, HandlerError> {
///     Ok(Json(filter.q.is_empty() && filter.author.is_none()))
/// }
/// ```
pub struct QueryString<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send> FromRequest for QueryString<T> {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        if request.query().contains("%00") {
            return Err(Problem::new(400, "bad_query", NUL_REFUSED).hint(NUL_HINT));
        }
        serde_urlencoded::from_str(request.query()).map(Self).map_err(|error| {
            Problem::new(400, "bad_query", format!("the query is not valid: {error}"))
                .hint("see the route's parameters in /api/openapi.json")
        })
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        // A parameter's schema is inlined into the route, not listed among the components.
        let settings =
            schemars::generate::SchemaSettings::draft2020_12().with(|settings| settings.inline_subschemas = true);
        let schema = settings.into_generator().into_root_schema_for::<T>().to_value();
        let required = schema["required"].as_array().cloned().unwrap_or_default();
        for (name, schema) in schema["properties"].as_object().into_iter().flatten() {
            let description = schema["description"].as_str().unwrap_or_default().to_owned();
            let required = required.iter().any(|member| member == name);
            let (name, schema) = (name.clone(), schema.clone());
            describe.spec.parameters.push(Parameter { name, place: ParameterIn::Query, required, description, schema });
        }
    }
}

/// A JSON body on a route without signature.
///
/// ```
/// use plugin_api::{HandlerError, Json, JsonBody, JsonSchema, RequestContext};
///
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct Question {
///     text: String,
/// }
///
/// # struct Notes;
/// async fn ask(_: RequestContext<Notes>, JsonBody(question): JsonBody<Question>) -> Result<Json<usize>, HandlerError> {
///     Ok(Json(question.text.len()))
/// }
/// ```
pub struct JsonBody<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send> FromRequest for JsonBody<T> {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        let body = request.take_body();
        // The parser does not look into members that the type leaves out.
        if let Err(error) = std::str::from_utf8(&body) {
            return Err(
                Problem::new(400, "bad_request", format!("the body is no UTF-8: {error}")).hint("send JSON in UTF-8")
            );
        }
        if has_nul(&body) {
            return Err(Problem::new(400, "bad_request", NUL_REFUSED).hint(NUL_HINT));
        }
        parse_payload(&body).map(Self)
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe.spec.body = Some(describe.schema::<T>());
    }
}

/// PostgreSQL cannot store U+0000 in a text, and both databases must behave the same.
const NUL_REFUSED: &str = "a text must not contain the character U+0000";
const NUL_HINT: &str = "leave it out: no database keeps it in a text";

/// Whether a string in the JSON text contains U+0000, which JSON can write only as the escape `\u0000`.
fn has_nul(json: &[u8]) -> bool {
    let mut rest = json;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        let escape = &rest[at + 1..];
        if escape.starts_with(b"u0000") {
            return true;
        }
        rest = escape.get(1..).unwrap_or_default();
    }
    false
}

fn parse_payload<T: DeserializeOwned>(body: &[u8]) -> Result<T, Problem> {
    serde_json::from_slice(body).map_err(|error| {
        Problem::new(400, "bad_request", format!("the body is not what this route takes: {error}"))
            .hint("see the route's request schema in /api/openapi.json")
    })
}

/// A signed body: signer and payload. The gateway has checked the envelope, and that no text contains U+0000; what crosses the
/// border is the canonical JSON of the payload, which is parsed here, once, into `T`.
///
/// ```
/// use plugin_api::{Address, Created, HandlerError, JsonSchema, RequestContext, Route, Signed};
///
/// #[derive(serde::Deserialize, JsonSchema)]
/// struct NewNote {
///     text: String,
/// }
///
/// # struct Notes;
/// async fn create_note(
///     _: RequestContext<Notes>,
///     Signed { signer, payload }: Signed<NewNote>,
/// ) -> Result<Created<(Address, String)>, HandlerError> {
///     Ok(Created((signer, payload.text)))
/// }
/// # let _ = Route::<Notes>::post("/api/notes", create_note).signed("notes.create");
/// ```
pub struct Signed<T> {
    pub signer: Address,
    pub payload: T,
}

impl<T: DeserializeOwned + JsonSchema + Send> FromRequest for Signed<T> {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        let signer = signer(request)?;
        Ok(Self { signer, payload: parse_payload(&request.take_body())? })
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe.spec.body = Some(describe.schema::<T>());
    }
}

/// The signer, on a route with signed headers or a signed query.
///
/// ```
/// use plugin_api::{Address, HandlerError, Json, RequestContext, Route, extract::SignedBy};
///
/// # struct Notes;
/// async fn list_own(_: RequestContext<Notes>, SignedBy(owner): SignedBy) -> Result<Json<Address>, HandlerError> {
///     Ok(Json(owner))
/// }
/// # let _ = Route::<Notes>::get("/api/notes/own", list_own).signed_headers("notes.list");
/// ```
pub struct SignedBy(pub Address);

impl FromRequest for SignedBy {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        signer(request).map(Self)
    }
}

fn signer(request: &Request) -> Result<Address, Problem> {
    request.signer().ok_or_else(|| Problem::new(401, "bad_sig", "this route needs a signature"))
}

/// The body as received.
pub struct Body(pub FfiBytes);

impl FromRequest for Body {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        Ok(Self(request.take_body()))
    }
}

/// The first header with the name that the marker type `N` gives, for example the content type or the user agent.
pub struct HeaderValue<N>(pub Option<String>, std::marker::PhantomData<N>);

/// Names the header of a [`HeaderValue`].
pub trait HeaderName: Send {
    /// Lower case.
    const NAME: &'static str;
}

impl<N: HeaderName> FromRequest for HeaderValue<N> {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        Ok(Self(request.header(N::NAME).map(str::to_owned), std::marker::PhantomData))
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        let schema = json!({ "type": "string" });
        let parameter = Parameter {
            name: N::NAME.to_owned(),
            place: ParameterIn::Header,
            required: false,
            description: String::new(),
            schema,
        };
        describe.spec.parameters.push(parameter);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escaped_nul_is_found_and_an_escaped_backslash_is_no_nul() {
        for json in [r#""\u0000""#, r#"{"a":"x\n\u0000"}"#, r#""\\\u0000""#] {
            assert!(has_nul(json.as_bytes()), "{json}");
        }
        for json in [r#""\\u0000""#, r#""\u0001""#, r#""u0000""#, "\"\\", ""] {
            assert!(!has_nul(json.as_bytes()), "{json}");
        }
        assert_eq!(String::from_param("a\0b"), None);
    }
}
