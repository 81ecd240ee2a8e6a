//! Maps method and path to a target. A router is built for each change of the set of plugins and never edited.

use super::RouteLimits;
use bytes::Bytes;
use gateway_http::RouteLabel;
use gateway_meta::MetaPage;
use gateway_plugins::ActivePlugin;
use gateway_storage::ReadDependencies;
use gateway_telemetry::OperationUsage;
use http::{HeaderValue, Method, Uri};
use matchit::Router as Tree;
use percent_encoding::percent_decode_str;
use plugin_api::manifest::{ANY_METHOD, Auth, Manifest, NeededSetting, Parent, RouteSpec, TargetMember};
use std::{
    collections::BTreeMap,
    sync::{Arc, OnceLock},
    time::Duration,
};

pub struct Router {
    /// A tree for each method: a path with a parameter serves the methods that a more specific path does not have, so that
    /// `PUT /api/memory/{key}` takes a key that is called like the path of another route.
    trees: Vec<(Method, Tree<Arc<Route>>)>,
    /// The plugins whose routes these are, sorted by name, so that documents do not depend on the order of starts.
    pub plugins: Vec<Arc<Manifest>>,
    pub documents: RenderedDocuments,
}

/// The documents that depend on the routes and the configuration alone, each rendered on its first request.
#[derive(Default)]
pub struct RenderedDocuments {
    pub index: OnceLock<TaggedDocument>,
    pub openapi: OnceLock<TaggedDocument>,
    pub llms: OnceLock<TaggedDocument>,
    pub front: OnceLock<TaggedDocument>,
}

/// A document with its entity tag.
#[derive(Clone)]
pub struct TaggedDocument {
    pub body: Bytes,
    pub tag: HeaderValue,
}

/// A route with everything the dispatcher needs, computed beforehand.
pub struct Route {
    /// Identifies this route in this table; never reused.
    pub id: u64,
    pub spec: RouteSpec,
    pub label: RouteLabel,
    /// Sent with responses below 400.
    pub cache_control: Option<HeaderValue>,
    pub target: Target,
    pub limits: RouteLimits,
    /// The limits of requests that search; `None` where the route has no query parameter `q`.
    pub search_limits: Option<RouteLimits>,
    pub body_max_bytes: usize,
    pub timeout: Duration,
    pub auth: Auth,
    /// The setting that the route needs and the plugin's configuration does not have.
    pub missing_setting: Option<NeededSetting>,
    /// The parent row that must exist, with the position of its parameter in the path.
    pub parent: Option<(Parent, usize)>,
    /// Members of the signed payload that must name what the path names.
    pub target_members: Vec<TargetMember>,
    /// Stored data that the responses of a cached route may depend on.
    pub dependencies: ReadDependencies,
    pub usage: Arc<OperationUsage>,
}

pub enum Target {
    Plugin { plugin: Arc<ActivePlugin>, index: u32 },
    Meta(MetaPage),
}

impl Route {
    /// The plugin's name, or [`HOST`], for logs and metrics.
    pub fn owner(&self) -> &str {
        self.target.owner()
    }

    /// Whether its reads may be answered by a read replica. Where somebody proves who he is or pays, what is read may be a moment old.
    pub(crate) fn may_use_read_replica(&self) -> bool {
        let spec = &self.spec;
        spec.method == "GET" && matches!(spec.auth, Auth::Public) && spec.price.is_none() && !spec.streams_body
    }

    /// Whether a request to it searches. What that costs grows with what is found.
    pub fn is_search(&self, uri: &Uri) -> bool {
        let query = self.search_limits.as_ref().and(uri.query()).unwrap_or_default();
        form_urlencoded::parse(query.as_bytes()).any(|(name, value)| name == SEARCH && !value.is_empty())
    }
}

impl Target {
    pub fn owner(&self) -> &str {
        match self {
            Self::Plugin { plugin, .. } => plugin.name(),
            Self::Meta(_) => HOST,
        }
    }
}

/// The query parameter that searches.
pub(crate) const SEARCH: &str = "q";

/// The owner of the gateway's own routes.
pub const HOST: &str = "host";

/// Two routes that cannot both be there.
#[derive(Debug, thiserror::Error)]
pub enum RouteConflict {
    #[error("{method} {path} of {newcomer} is already served by {holder}")]
    Taken { method: String, path: String, newcomer: String, holder: String },
    #[error("{path} of {newcomer} cannot be routed: {reason}")]
    Path { path: String, newcomer: String, reason: String },
    #[error("operation {operation} of {newcomer} is already one of {holder}")]
    Operation { operation: String, newcomer: String, holder: String },
}

/// The result of a route lookup.
pub enum RouteLookup {
    Found {
        route: Arc<Route>,
        params: Vec<String>,
    },
    /// The path exists with these methods.
    MethodNotAllowed(Vec<Method>),
    NotFound,
    /// A path parameter is not UTF-8 after decoding.
    BadPath,
}

impl Router {
    pub fn build(routes: Vec<Route>, mut plugins: Vec<Arc<Manifest>>) -> Result<Self, RouteConflict> {
        plugins.sort_by(|one, other| one.name.cmp(&other.name));
        let mut by_path: BTreeMap<String, Vec<(Method, Arc<Route>)>> = BTreeMap::new();
        let mut operations: BTreeMap<String, String> = BTreeMap::new();
        for route in routes {
            let newcomer = route.owner().to_owned();
            if let Some(holder) = operations.insert(route.spec.operation.clone(), newcomer.clone()) {
                return Err(RouteConflict::Operation { operation: route.spec.operation, newcomer, holder });
            }
            let method = Method::from_bytes(route.spec.method.as_bytes()).unwrap_or(Method::GET);
            let entry = by_path.entry(shape(&route.spec.path)).or_default();
            // A plugin may serve some methods of its path by routes of their own; two plugins share no path with any method.
            let is_any = |route: &Route| route.spec.method == ANY_METHOD;
            let conflicts = |taken: &Route| taken.owner() != newcomer && (is_any(taken) || is_any(&route));
            if let Some((_, taken)) = entry.iter().find(|(other, taken)| *other == method || conflicts(taken)) {
                let holder = taken.owner().to_owned();
                let (method, path) = (route.spec.method.clone(), route.spec.path);
                return Err(RouteConflict::Taken { method, path, newcomer, holder });
            }
            entry.push((method, Arc::new(route)));
        }
        let mut trees: Vec<(Method, Tree<Arc<Route>>)> = Vec::new();
        for (shape, routes) in by_path {
            for (method, route) in served(&routes) {
                let index = trees.iter().position(|(other, _)| *other == method).unwrap_or_else(|| {
                    trees.push((method, Tree::new()));
                    trees.len() - 1
                });
                let Some((_, tree)) = trees.get_mut(index) else { continue };
                if let Err(error) = tree.insert(shape.as_str(), route.clone()) {
                    let (newcomer, path) = (route.owner().to_owned(), route.spec.path.clone());
                    return Err(RouteConflict::Path { path, newcomer, reason: error.to_string() });
                }
            }
        }
        let order = |method: &Method| ANY_METHODS.iter().position(|other| other == method).unwrap_or(usize::MAX);
        trees.sort_by_key(|(method, _)| order(method));
        Ok(Self { trees, plugins, documents: RenderedDocuments::default() })
    }

    pub fn find(&self, method: &Method, path: &str) -> RouteLookup {
        let path = if path.len() > 1 { path.trim_end_matches('/') } else { path };
        let wanted = if method == Method::HEAD { &Method::GET } else { method };
        let tree = self.trees.iter().find(|(method, _)| method == wanted);
        let Some(found) = tree.and_then(|(_, tree)| tree.at(path).ok()) else { return self.other_methods(path) };
        let mut params = Vec::with_capacity(found.params.len());
        for (_, raw) in found.params.iter() {
            match percent_decode_str(raw).decode_utf8() {
                Ok(param) => params.push(param.into_owned()),
                Err(_not_utf8) => return RouteLookup::BadPath,
            }
        }
        RouteLookup::Found { route: found.value.clone(), params }
    }

    fn other_methods(&self, path: &str) -> RouteLookup {
        let serving = |(method, tree): &'_ (Method, Tree<Arc<Route>>)| {
            tree.at(path).ok().map(|found| (method.clone(), found.value.spec.method == ANY_METHOD))
        };
        let serving: Vec<(Method, bool)> = self.trees.iter().filter_map(serving).collect();
        if serving.is_empty() { RouteLookup::NotFound } else { RouteLookup::MethodNotAllowed(allowed(serving)) }
    }
}

/// The gateway itself answers `OPTIONS`; other methods than these mean nothing to most servers and proxies on the way.
const ANY_METHODS: [Method; 6] = [Method::GET, Method::HEAD, Method::POST, Method::PUT, Method::PATCH, Method::DELETE];

/// The routes of a path by method. One for any method serves those that no other one has; `HEAD` is served by that of `GET`.
fn served(routes: &[(Method, Arc<Route>)]) -> Vec<(Method, &Arc<Route>)> {
    let (any, own): (Vec<_>, Vec<_>) = routes.iter().partition(|(_, route)| route.spec.method == ANY_METHOD);
    let mut served: Vec<(Method, &Arc<Route>)> =
        own.into_iter().map(|(method, route)| (method.clone(), route)).collect();
    for (_, route) in any {
        for method in ANY_METHODS.into_iter().filter(|method| method != Method::HEAD) {
            if !served.iter().any(|(other, _)| *other == method) {
                served.push((method, route));
            }
        }
    }
    served
}

/// The methods that a path serves, each with whether a route for any method does.
fn allowed(serving: Vec<(Method, bool)>) -> Vec<Method> {
    let mut allowed: Vec<Method> = serving.iter().map(|(method, _)| method.clone()).collect();
    if serving.iter().any(|(_, is_any)| *is_any) {
        allowed = ANY_METHODS.into();
    } else if allowed.contains(&Method::GET) {
        allowed.push(Method::HEAD);
    }
    allowed.push(Method::OPTIONS);
    allowed
}

/// The path with its parameters numbered: `/a/{id}` and `/a/{slug}` have one shape.
pub fn shape(path: &str) -> String {
    let mut shape = String::with_capacity(path.len());
    let mut count = 0;
    for part in path.split_inclusive('}') {
        match part.split_once('{') {
            Some((text, name)) => {
                let star = if name.starts_with('*') { "*" } else { "" };
                shape.push_str(&format!("{text}{{{star}p{count}}}"));
                count += 1;
            }
            None => shape.push_str(part),
        }
    }
    shape
}

#[cfg(test)]
mod tests {
    use super::shape;

    #[test]
    fn shapes_do_not_depend_on_names() {
        assert_eq!(shape("/api/threads/{id}/posts/{post}"), "/api/threads/{p0}/posts/{p1}");
        assert_eq!(shape("/a/{slug}/.well-known/agent.json"), "/a/{p0}/.well-known/agent.json");
        assert_eq!(shape("/files/{*rest}"), "/files/{*p0}");
        assert_eq!(shape("/badge/{id}.svg"), "/badge/{p0}.svg");
    }
}
