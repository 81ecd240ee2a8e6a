//! Routes: a description as data, and a handler.

use super::{ApiError, ErrorSpec, Handler, PluginContext, RouteDescription, payment::Price};
use crate::{
    abi::{self, Fault},
    manifest::{ANY_METHOD, Answer, Auth, BriefingSpec, NeededSetting, Parent, PriceSpec, RateLimit, RouteSpec},
};
use abi_stable::std_types::RResult;
use async_ffi::FfiFuture;
use schemars::JsonSchema;
use std::collections::BTreeMap;

pub(crate) type HandlerFn<P> =
    Box<dyn Fn(&PluginContext<P>, abi::Request) -> FfiFuture<RResult<abi::Response, Fault>> + Send + Sync>;

/// Adds a part to a route's description.
pub(crate) type DescribeFn = Box<dyn Fn(&mut RouteDescription<'_>)>;

/// A route without authentication rule yet: its methods set who may call it.
pub struct RouteWithoutAuth<P> {
    route: Route<P>,
}

/// A route: name, authentication, request, responses and handler.
///
/// ```
/// use plugin_api::{HandlerError, Json, RequestContext, Route};
///
/// # struct Notes;
/// fn route() -> Route<Notes> {
///     Route::get("/api/notes/count", count_notes).public().summary("How many notes there are")
/// }
///
/// async fn count_notes(_: RequestContext<Notes>) -> Result<Json<i64>, HandlerError> {
///     Ok(Json(7))
/// }
/// ```
pub struct Route<P> {
    pub(crate) spec: RouteSpec,
    pub(crate) examples: Vec<String>,
    pub(crate) describe: Vec<DescribeFn>,
    pub(crate) call: HandlerFn<P>,
    pub(crate) price: Option<HandlerFn<P>>,
}

macro_rules! methods {
    ($($function:ident $method:literal)*) => {$(
        #[doc = concat!("A `", $method, "` route. The operation is named after the handler: see [`Route::operation`].")]
        pub fn $function<Args: 'static, H: Handler<P, Args>>(path: &'static str, handler: H) -> RouteWithoutAuth<P> {
            Self::unguarded($method, path, handler)
        }
    )*};
}

impl<P: Send + Sync + 'static> Route<P> {
    /// A route for every method that the path has no other route for, for example of a proxy: `GET`, `HEAD`, `POST`, `PUT`, `PATCH`
    /// and `DELETE`. [`RequestContext::method`](crate::RequestContext::method) says which it is. Its caller cannot sign in the body,
    /// which not every method has.
    ///
    /// ```
    /// use plugin_api::{HandlerError, Path, RequestContext, Route, response::Text};
    ///
    /// # struct Notes;
    /// fn route() -> Route<Notes> {
    ///     Route::any("/notes/{owner}/{note}/{*rest}", forward_note).public()
    /// }
    ///
    /// async fn forward_note(
    ///     cx: RequestContext<Notes>,
    ///     Path((owner, note, rest)): Path<(String, i64, String)>,
    /// ) -> Result<Text, HandlerError> {
    ///     Ok(Text(format!("{} {owner} {note} {rest}", cx.method()).into()))
    /// }
    /// ```
    pub fn any<Args: 'static, H: Handler<P, Args>>(path: &'static str, handler: H) -> RouteWithoutAuth<P> {
        Self::unguarded(ANY_METHOD, path, handler)
    }

    methods! { get "GET" post "POST" put "PUT" patch "PATCH" delete "DELETE" }

    fn unguarded<Args: 'static, H: Handler<P, Args>>(
        method: &str,
        path: &'static str,
        handler: H,
    ) -> RouteWithoutAuth<P> {
        let spec = RouteSpec::new(method, path, &operation_of::<H>());
        let describe: Vec<DescribeFn> = vec![Box::new(H::describe), Box::new(describe_errors::<H::Error>)];
        let call = move |cx: &PluginContext<P>, request| handler.call(cx, request, path);
        RouteWithoutAuth { route: Self { spec, examples: Vec::new(), describe, call: Box::new(call), price: None } }
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

    /// Names the path among the `endpoints` of the network's manifest and agent card. Of two plugins with one name the first
    /// in the order of the alphabet has it.
    pub fn endpoint(mut self, name: &str) -> Self {
        self.spec.endpoint = Some(name.to_owned());
        self
    }

    /// Adds a link to the plugin's section of llms.txt, whose title is the plugin's tag: its text, and one line on what the
    /// path is good for, with parameters and what else is below it.
    ///
    /// ```
    /// # use plugin_api::{HandlerError, RequestContext, Route, response::NoContent};
    /// # struct Forum;
    /// # async fn list_threads(_: RequestContext<Forum>) -> Result<NoContent, HandlerError> { Ok(NoContent) }
    /// # let _: Route<Forum> =
    /// Route::get("/api/forum/threads", list_threads)
    ///     .public()
    ///     .summary("List and search threads")
    ///     .endpoint("forum")
    ///     .briefing("Threads", "list and search (sort, q, tag); /{id} is a thread with all its posts")
    ///     .example("GET /api/forum/threads?sort=top&tag=help");
    /// ```
    pub fn briefing(mut self, name: &str, note: &str) -> Self {
        self.spec.briefing = Some(BriefingSpec { name: name.to_owned(), note: note.to_owned() });
        self
    }

    /// Adds a call to the examples of the plugin's skill (see [`crate::Definition::skill`]): method and path with a query, or
    /// with the members of the payload and `signed as <action>`, for example
    /// `POST /api/forum/threads {title, body} signed as thread.create`. The gateway refuses a plugin whose example is no call
    /// of one of its routes, or names another action.
    pub fn example(mut self, call: &str) -> Self {
        self.examples.push(call.to_owned());
        self
    }

    /// A larger body is a 413.
    pub fn body_max_bytes(mut self, bytes: u64) -> Self {
        self.spec.body_max_bytes = Some(bytes);
        self
    }

    /// Content types of a body that is not JSON.
    pub fn body_types(mut self, content_types: &[&str]) -> Self {
        self.spec.body_types = content_types.iter().map(ToString::to_string).collect();
        self
    }

    /// Time limit of the handler in milliseconds.
    pub fn timeout_ms(mut self, timeout_ms: u64) -> Self {
        self.spec.timeout_ms = Some(timeout_ms);
        self
    }

    /// `Cache-Control` of responses below 400.
    pub fn cache_control(mut self, value: &str) -> Self {
        self.spec.cache_control = Some(value.to_owned());
        self
    }

    /// Lets the gateway cache responses and check `If-None-Match` without calling the plugin, until the data changes.
    ///
    /// Only for a public `GET` whose response depends on its path, its query, the plugin's configuration and the stored
    /// data of this plugin and of those that it `requires`, and on nothing else: not on the clock, randomness, the caller
    /// or the plugin's memory. The gateway does not cache a response whose handler read the time, a header or the client's
    /// address, or used a transaction, a fetch, a background task or contributions that are not
    /// [cached](crate::Definition::contributes_cached) themselves. It cannot see reads of the plugin's own memory.
    pub fn cached(mut self) -> Self {
        self.spec.cached = true;
        self
    }

    /// Limit of calls per minute and client IP, for this route alone.
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

    /// The limit of calls per client IP that all signed writes of the commons share: forum, messages, bounties and others.
    pub fn commons_limit(self) -> Self {
        self.rate_limit(RateLimit::commons_writes())
    }

    /// Any other limit per client IP.
    pub fn rate_limit(mut self, limit: RateLimit) -> Self {
        self.spec.rate_limits.push(limit);
        self
    }

    /// Responds 404 `unknown <resource>` before body and signature are checked when `sql` (with `$1`, the path parameter
    /// `param` as an integer) finds no row.
    pub fn needs_row(mut self, resource: &str, param: &str, sql: &str) -> Self {
        let parent =
            Parent { sql: sql.to_owned(), param: param.to_owned(), integer: true, resource: resource.to_owned() };
        self.spec.parent = Some(parent);
        self
    }

    /// Responds with `error` before body and signature are checked, while the plugin's configuration leaves `key` out, or empty.
    /// The error is one of the handler's, so that it is documented.
    pub fn needs_setting(mut self, key: &str, error: &impl ApiError) -> Self {
        let ErrorSpec { status, code, hint } = error.spec();
        let (code, message) = (code.to_owned(), error.to_string());
        let setting = NeededSetting { key: key.to_owned(), status, code, message, hint: hint.to_owned() };
        self.spec.needed_setting = Some(setting);
        self
    }

    /// The parameters of the path are nobody else's business: the gateway's access log has the path as it is declared.
    ///
    /// ```
    /// # use plugin_api::{HandlerError, Path, RequestContext, Route, extract::SignedBy, response::NoContent};
    /// # struct Notes;
    /// # async fn delete_note(_: RequestContext<Notes>, _: SignedBy, _: Path<String>) -> Result<NoContent, HandlerError> { Ok(NoContent) }
    /// # let _: Route<Notes> =
    /// Route::delete("/api/notes/{title}", delete_note).signed_headers_once("notes.delete").private_path();
    /// ```
    pub fn private_path(mut self) -> Self {
        self.spec.private_path = true;
        self
    }

    /// A request may have a price, which `price` says: a handler of the same request that only reads. The gateway asks it before the
    /// handler, and again with the payment; its error is the response. `description` says in the documentation what is paid for what,
    /// for example `the agent's pricePerCall, paid to its owner`. See [`crate::payment`].
    pub fn priced<Args: 'static, H: Handler<P, Args, Output = Price>>(mut self, description: &str, price: H) -> Self {
        self.spec.price = Some(PriceSpec { description: description.to_owned() });
        self.describe.push(Box::new(describe_errors::<H::Error>));
        self.price = Some(Box::new(move |cx, request| price.call(cx, request, "price")));
        self
    }

    /// Documents a response that the handler's return type does not describe.
    pub fn response<T: JsonSchema>(
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

impl<P> RouteWithoutAuth<P> {
    /// Anyone may call the route.
    pub fn public(self) -> Route<P> {
        self.route
    }

    /// The wallet that signed the JSON body. Replay guard and per-address write interval apply.
    pub fn signed(self, action: &str) -> Route<P> {
        self.with(Auth::SignedBody { action: action.to_owned() })
    }

    /// The wallet in the signed headers. The same signature may be sent again.
    pub fn signed_headers(self, action: &str) -> Route<P> {
        self.with(Auth::SignedHeaders { action: action.to_owned(), guarded: false })
    }

    /// The wallet in the signed headers. Replay guard and per-address write interval apply.
    pub fn signed_headers_once(self, action: &str) -> Route<P> {
        self.with(Auth::SignedHeaders { action: action.to_owned(), guarded: true })
    }

    /// The wallet in the query's `address`, `ts` and `sig`.
    pub fn signed_query(self, action: &str) -> Route<P> {
        self.with(Auth::SignedQuery { action: action.to_owned() })
    }

    /// The plugin authenticates the caller; `scheme` documents how.
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

fn describe_errors<E: ApiError>(describe: &mut RouteDescription<'_>) {
    let details = E::describe_details(describe.schemas);
    describe.spec.error_details.extend(details);
    let mut by_status: BTreeMap<u16, Vec<String>> = BTreeMap::new();
    for spec in E::SPECS {
        let codes = by_status.entry(spec.status).or_default();
        if !codes.iter().any(|code| code == spec.code) {
            codes.push(spec.code.to_owned());
        }
    }
    for (status, mut codes) in by_status {
        let answers = &mut describe.spec.answers;
        if let Some(known) = answers.iter().position(|answer| answer.status == status && !answer.codes.is_empty()) {
            let mut earlier = answers.remove(known).codes;
            codes.retain(|code| !earlier.contains(code));
            earlier.append(&mut codes);
            codes = earlier;
        }
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
