//! A route as its author writes it: data with a handler.

use super::{ApiError, Describe, Gateway, Handler};
use crate::{
    abi::{self, Fault},
    manifest::{Answer, Auth, Parent, RateLimit, RouteSpec},
};
use abi_stable::std_types::RResult;
use async_ffi::FfiFuture;
use schemars::JsonSchema;
use std::collections::BTreeMap;

pub const KIB: u64 = 1024;

pub(crate) type CallHandler<P> =
    Box<dyn Fn(&Gateway<P>, abi::Request) -> FfiFuture<RResult<abi::Response, Fault>> + Send + Sync>;

/// Writes its part of a route's description.
pub(crate) type DescribePart = Box<dyn Fn(&mut Describe<'_>)>;

/// A route that does not say yet who may call it.
pub struct Unguarded<P> {
    route: Route<P>,
}

/// A route: what it is called, who may call it, what it takes and answers.
pub struct Route<P> {
    pub(crate) spec: RouteSpec,
    pub(crate) describe: Vec<DescribePart>,
    pub(crate) call: CallHandler<P>,
}

macro_rules! methods {
    ($($function:ident $method:literal)*) => {$(
        #[doc = concat!("A `", $method, "` route. The operation is named after the handler: see [`Route::operation`].")]
        pub fn $function<Args: 'static, H: Handler<P, Args>>(path: &'static str, handler: H) -> Unguarded<P> {
            Self::unguarded($method, path, handler)
        }
    )*};
}

impl<P: Send + Sync + 'static> Route<P> {
    methods! { get "GET" post "POST" put "PUT" patch "PATCH" delete "DELETE" }

    fn unguarded<Args: 'static, H: Handler<P, Args>>(method: &str, path: &'static str, handler: H) -> Unguarded<P> {
        let spec = RouteSpec::new(method, path, &operation_of::<H>());
        let describe: Vec<DescribePart> = vec![Box::new(H::describe), Box::new(describe_errors::<H::Error>)];
        let call = move |gateway: &Gateway<P>, request| handler.call(gateway, request, path);
        Unguarded { route: Self { spec, describe, call: Box::new(call) } }
    }

    /// Overrides the operation id, which is the handler's function name.
    pub fn operation(mut self, operation: &str) -> Self {
        self.spec.operation = operation.to_owned();
        self
    }

    /// One line for the route index.
    pub fn summary(mut self, summary: &str) -> Self {
        self.spec.summary = summary.to_owned();
        self
    }

    /// More for the documentation (Markdown).
    pub fn description(mut self, description: &str) -> Self {
        self.spec.description = description.to_owned();
        self
    }

    /// Larger bodies answer 413.
    pub fn body_max_bytes(mut self, bytes: u64) -> Self {
        self.spec.body_max_bytes = Some(bytes);
        self
    }

    /// Content types of a body that is no JSON.
    pub fn takes(mut self, content_types: &[&str]) -> Self {
        self.spec.body_types = content_types.iter().map(ToString::to_string).collect();
        self
    }

    /// Time limit of the handler in milliseconds.
    pub fn timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.spec.timeout_ms = Some(timeout_ms);
        self
    }

    /// `Cache-Control` of answers below 400.
    pub fn cache_control(mut self, value: &str) -> Self {
        self.spec.cache_control = Some(value.to_owned());
        self
    }

    /// Lets the gateway keep answers and check `If-None-Match` without asking the plugin, until the data changes.
    ///
    /// Only for a public `GET` whose answer follows from its path, its query, the plugin's configuration and the stored
    /// data of this plugin and of those that it `requires`, and from nothing else: no clock, no chance, nothing about
    /// the caller, no memory of the plugin's own. The gateway never keeps an answer during which the handler asked for
    /// the time, a header, the caller's address, a transaction, a fetch, a background task or contributions that are not
    /// [cached](crate::Definition::contributes_cached) themselves; a plugin's own memory it cannot see.
    pub fn cached(mut self) -> Self {
        self.spec.cached = true;
        self
    }

    /// Calls per minute and client IP, for this route alone.
    pub fn per_minute(mut self, calls: u32) -> Self {
        let bucket = self.spec.operation.clone();
        self.spec.rate_limits.push(RateLimit {
            bucket,
            calls,
            window_s: 60,
            code: "rate_limited".into(),
            additional: false,
        });
        self
    }

    /// Any other limit per client IP.
    pub fn rate_limit(mut self, limit: RateLimit) -> Self {
        self.spec.rate_limits.push(limit);
        self
    }

    /// Answers 404 `unknown <resource>` before looking at body and signature when `sql` (with `$1`, the path
    /// parameter `param` as an integer) finds no row.
    pub fn needs_row(mut self, resource: &str, param: &str, sql: &str) -> Self {
        let parent =
            Parent { sql: sql.to_owned(), param: param.to_owned(), integer: true, resource: resource.to_owned() };
        self.spec.parent = Some(parent);
        self
    }

    /// Documents an answer that the handler's type does not show.
    pub fn answers<T: JsonSchema>(
        mut self,
        status: u16,
        content_type: &'static str,
        description: &'static str,
    ) -> Self {
        self.describe.push(Box::new(move |describe| {
            let schema = Some(describe.schema::<T>());
            let (description, content_type) = (description.to_owned(), content_type.to_owned());
            describe.spec.answers.push(Answer { status, description, content_type, schema, codes: Vec::new() });
        }));
        self
    }
}

impl<P> Unguarded<P> {
    /// Anyone may call it.
    pub fn public(self) -> Route<P> {
        self.route
    }

    /// The wallet that signed the JSON body. Used up by the call, guarded by the per-address interval.
    pub fn signed(self, action: &str) -> Route<P> {
        self.with(Auth::SignedBody { action: action.to_owned() })
    }

    /// The wallet in the signed headers; may be repeated.
    pub fn signed_headers(self, action: &str) -> Route<P> {
        self.with(Auth::SignedHeaders { action: action.to_owned(), guarded: false })
    }

    /// The wallet in the signed headers; used up by the call, guarded by the per-address interval.
    pub fn signed_headers_once(self, action: &str) -> Route<P> {
        self.with(Auth::SignedHeaders { action: action.to_owned(), guarded: true })
    }

    /// The wallet in the query's `address`, `ts` and `sig`.
    pub fn signed_query(self, action: &str) -> Route<P> {
        self.with(Auth::SignedQuery { action: action.to_owned() })
    }

    /// The plugin checks the caller; `scheme` says how, for the documentation.
    pub fn own_auth(self, scheme: &str) -> Route<P> {
        self.with(Auth::Own { scheme: scheme.to_owned() })
    }

    fn with(mut self, auth: Auth) -> Route<P> {
        self.route.spec.auth = auth;
        self.route
    }
}

/// `forum::routes::create_post::create_post` → `create_post`.
fn operation_of<H>() -> String {
    let name = std::any::type_name::<H>();
    name.rsplit("::").next().unwrap_or(name).to_owned()
}

fn describe_errors<E: ApiError>(describe: &mut Describe<'_>) {
    let mut by_status: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for case in E::CASES {
        by_status.entry(case.status).or_default().push(case.code.to_owned());
    }
    for (status, codes) in by_status {
        let description = codes.join(", ");
        describe.spec.answers.push(Answer {
            status,
            description,
            content_type: "application/json".into(),
            schema: None,
            codes,
        });
    }
}
