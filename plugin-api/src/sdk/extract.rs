//! Typed parts of a request. An extractor also describes itself, so that the documentation cannot differ from the code.

use super::{Address, Problem, Request};
use crate::{
    abi::FfiBytes,
    manifest::{Parameter, ParameterIn, RouteSpec},
};
use schemars::{JsonSchema, SchemaGenerator};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// A part of a request, or the problem that the caller hears about.
pub trait Extract: Sized + Send {
    fn extract(request: &mut Request) -> Result<Self, Problem>;

    fn describe(_: &mut Describe<'_>) {}
}

/// Where extractors and answers write their part of a route's description.
pub struct Describe<'a> {
    pub spec: &'a mut RouteSpec,
    pub schemas: &'a mut SchemaGenerator,
}

impl Describe<'_> {
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

/// A path parameter's type. A text that does not parse names nothing that exists: 404.
pub trait FromParam: Sized + Send {
    /// What is missing then, for example `thread`.
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

/// The path's parameters: one value, or a tuple in the order of the path.
pub struct Path<T>(pub T);

fn param<T: FromParam>(request: &Request, position: u32) -> Result<T, Problem> {
    let missing = || {
        let hint = format!("check the {} in the path", T::RESOURCE);
        Problem::new(404, "not_found", format!("unknown {}", T::RESOURCE)).hint(hint)
    };
    request.param(position).and_then(T::from_param).ok_or_else(missing)
}

impl<T: FromParam> Extract for Path<T> {
    fn extract(request: &mut Request) -> Result<Self, Problem> {
        param(request, 0).map(Self)
    }

    fn describe(describe: &mut Describe<'_>) {
        describe.path_parameter(0, T::schema());
    }
}

impl<A: FromParam, B: FromParam> Extract for Path<(A, B)> {
    fn extract(request: &mut Request) -> Result<Self, Problem> {
        Ok(Self((param(request, 0)?, param(request, 1)?)))
    }

    fn describe(describe: &mut Describe<'_>) {
        describe.path_parameter(0, A::schema());
        describe.path_parameter(1, B::schema());
    }
}

/// The query as a struct. Give members `#[serde(default)]`; read lenient ones with [`super::lenient`].
pub struct Query<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send> Extract for Query<T> {
    fn extract(request: &mut Request) -> Result<Self, Problem> {
        if request.query().contains("%00") {
            return Err(Problem::new(400, "bad_query", NUL_REFUSED).hint(NUL_HINT));
        }
        serde_urlencoded::from_str(request.query()).map(Self).map_err(|error| {
            Problem::new(400, "bad_query", format!("the query is not valid: {error}"))
                .hint("see the route's parameters in /api/openapi.json")
        })
    }

    fn describe(describe: &mut Describe<'_>) {
        // Inline: a parameter's schema stands in the route, not among the components.
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
pub struct Payload<T>(pub T);

impl<T: DeserializeOwned + JsonSchema + Send> Extract for Payload<T> {
    fn extract(request: &mut Request) -> Result<Self, Problem> {
        parse_payload(&request.take_body()).map(Self)
    }

    fn describe(describe: &mut Describe<'_>) {
        describe.spec.body = Some(describe.schema::<T>());
    }
}

/// One of the two databases cannot store it, and both shall behave the same.
const NUL_REFUSED: &str = "a text must not contain the character U+0000";
const NUL_HINT: &str = "leave it out: no database keeps it in a text";

/// Whether a string in the JSON text contains U+0000, which JSON can only write as an escape.
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
    if has_nul(body) {
        return Err(Problem::new(400, "bad_request", NUL_REFUSED).hint(NUL_HINT));
    }
    serde_json::from_slice(body).map_err(|error| {
        Problem::new(400, "bad_request", format!("the body is not what this route takes: {error}"))
            .hint("see the route's request schema in /api/openapi.json")
    })
}

/// A signed body: the gateway checked the envelope; this is who signed and what.
pub struct Signed<T> {
    pub signer: Address,
    pub payload: T,
}

impl<T: DeserializeOwned + JsonSchema + Send> Extract for Signed<T> {
    fn extract(request: &mut Request) -> Result<Self, Problem> {
        let signer = signer(request)?;
        Ok(Self { signer, payload: parse_payload(&request.take_body())? })
    }

    fn describe(describe: &mut Describe<'_>) {
        describe.spec.body = Some(describe.schema::<T>());
    }
}

/// Who signed, on a route with signed headers or a signed query.
pub struct SignedBy(pub Address);

impl Extract for SignedBy {
    fn extract(request: &mut Request) -> Result<Self, Problem> {
        signer(request).map(Self)
    }
}

fn signer(request: &Request) -> Result<Address, Problem> {
    request.signer().ok_or_else(|| Problem::new(401, "bad_sig", "this route needs a signature"))
}

/// The body as it came.
pub struct Body(pub FfiBytes);

impl Extract for Body {
    fn extract(request: &mut Request) -> Result<Self, Problem> {
        Ok(Self(request.take_body()))
    }
}

/// The content type, user agent and other headers: the first of that name, by a marker type that names it.
pub struct HeaderValue<N>(pub Option<String>, std::marker::PhantomData<N>);

/// Names the header of a [`HeaderValue`].
pub trait HeaderName: Send {
    /// Lower case.
    const NAME: &'static str;
}

impl<N: HeaderName> Extract for HeaderValue<N> {
    fn extract(request: &mut Request) -> Result<Self, Problem> {
        Ok(Self(request.header(N::NAME).map(str::to_owned), std::marker::PhantomData))
    }

    fn describe(describe: &mut Describe<'_>) {
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
    fn a_nul_is_found_however_it_is_written() {
        for json in [r#""\u0000""#, r#"{"a":"x\n\u0000"}"#, r#""\\\u0000""#] {
            assert!(has_nul(json.as_bytes()), "{json}");
        }
        for json in [r#""\\u0000""#, r#""\u0001""#, r#""u0000""#, "\"\\", ""] {
            assert!(!has_nul(json.as_bytes()), "{json}");
        }
        assert_eq!(String::from_param("a\0b"), None);
    }
}
