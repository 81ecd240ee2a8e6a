//! The routes of a manifest: methods, paths, who may call them.

use plugin_api::abi::is_snake_case;
use plugin_api::manifest::{ANY_METHOD, Auth, Manifest, ParameterIn, RouteSpec};
use std::collections::HashSet;

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", ANY_METHOD];
const BODY_MAX_BYTES: u64 = 256 * 1024 * 1024;

pub(crate) fn check_routes(routes: &[RouteSpec], problems: &mut Vec<String>) {
    let mut operations = HashSet::new();
    let mut methods = HashSet::new();
    let mut paths = HashSet::new();
    let mut router = matchit::Router::new();
    for route in routes {
        let place = format!("route {} {}", route.method, route.path);
        let mut problem = |text: String| problems.push(format!("{place}: {text}"));
        if !operations.insert(&route.operation) {
            problem(format!("operation `{}` names another route too", route.operation));
        }
        if !methods.insert((&route.method, &route.path)) {
            problem("is there twice".to_owned());
        }
        // A path may carry several methods, and is one entry of the router.
        if paths.insert(&route.path)
            && let Err(error) = router.insert(route.path.clone(), ())
        {
            problem(format!("path does not fit the router: {error}"));
        }
        check_route(route, &mut problem);
    }
}

pub(crate) fn check_needed_settings(manifest: &Manifest, problems: &mut Vec<String>) {
    let keys = manifest.config_schema.get("properties");
    for route in &manifest.routes {
        if let Some(setting) = &route.needed_setting
            && keys.and_then(|keys| keys.get(&setting.key)).is_none()
        {
            let key = &setting.key;
            problems.push(format!("route {} {}: the configuration has no key `{key}`", route.method, route.path));
        }
    }
}

fn check_route(route: &RouteSpec, problem: &mut dyn FnMut(String)) {
    if !METHODS.contains(&route.method.as_str()) {
        problem(format!("method: expected one of {}", METHODS.join(", ")));
    }
    if route.method == ANY_METHOD && matches!(route.auth, Auth::SignedBody { .. }) {
        problem("a signature in the body: not every method has one; use signed headers".to_owned());
    }
    if !is_snake_case(&route.operation) {
        problem(format!("operation `{}`: expected a-z, 0-9 and _, first a letter", route.operation));
    }
    if let Some(action) = route.auth.action().filter(|action| !is_action(action)) {
        problem(format!("action `{action}`: expected lower-case words with dots between, like `post.create`"));
    }
    if matches!(&route.auth, Auth::Own { scheme } if scheme.trim().is_empty()) {
        problem("own auth without a scheme: say how the caller is checked".to_owned());
    }
    if let Some(bytes) = route.body_max_bytes.filter(|bytes| !(1..=BODY_MAX_BYTES).contains(bytes)) {
        problem(format!("body_max_bytes {bytes}: expected 1 to {BODY_MAX_BYTES}"));
    }
    if route.streams_body && (route.method == "GET" || route.auth != Auth::Public) {
        problem("streams_body: only a public route with a body reads it in parts".to_owned());
    }
    if route.cached && (route.method != "GET" || route.auth != Auth::Public) {
        problem("cached: only a public GET answers everyone alike".to_owned());
    }
    if route.price.is_some() && (route.cached || route.streams_body) {
        problem("priced: such a route is not cached, and its body is read before anything is paid".to_owned());
    }
    if route.timeout_ms == Some(0) {
        problem("timeout_ms 0: expected at least 1".to_owned());
    }
    for limit in &route.rate_limits {
        if limit.calls == 0 || limit.window_s == 0 || limit.bucket.is_empty() || limit.code.is_empty() {
            problem(format!("rate limit `{}`: expected a bucket, a code, calls and window_s above 0", limit.bucket));
        }
    }
    for answer in &route.answers {
        if !(100..=599).contains(&answer.status) {
            problem(format!("answer {}: expected a status from 100 to 599", answer.status));
        }
    }
    check_path(route, problem);
}

fn check_path(route: &RouteSpec, problem: &mut dyn FnMut(String)) {
    let path = route.path.as_str();
    let is_plain = path.bytes().all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#' | b'%' | b'\\'));
    if !path.starts_with('/') || !is_plain {
        problem("path: expected a / first, then visible ASCII without ? # % \\".to_owned());
    }
    if path.contains("//") || (path.len() > 1 && path.ends_with('/')) || path.split('/').any(|part| part == "..") {
        problem("path: expected no empty part, no .. and no / at the end".to_owned());
    }
    let names = match path_parameters(path) {
        Ok(names) => names,
        Err(text) => return problem(text),
    };
    let mut seen = HashSet::new();
    if let Some(twice) = names.iter().find(|name| !seen.insert(**name)) {
        problem(format!("path parameter `{twice}` is there twice"));
    }
    if let Some(parent) = &route.parent {
        if !seen.contains(parent.param.as_str()) {
            problem(format!("parent parameter `{}` is not in the path", parent.param));
        }
        if !parent.sql.contains("$1") {
            problem("parent query: expected the parameter as $1".to_owned());
        }
    }
    let documented = route.parameters.iter().filter(|parameter| parameter.place == ParameterIn::Path);
    for parameter in documented.filter(|parameter| !seen.contains(parameter.name.as_str())) {
        problem(format!("documents the path parameter `{}`, which is not in the path", parameter.name));
    }
}

/// The names between braces: `/threads/{id}/{*rest}` → `id`, `rest`.
fn path_parameters(path: &str) -> Result<Vec<&str>, String> {
    let mut names = Vec::new();
    let mut rest = path;
    while let Some(open) = rest.find(['{', '}']) {
        let after = &rest[open + 1..];
        let close =
            after.find(['{', '}']).filter(|close| rest[open..].starts_with('{') && after[*close..].starts_with('}'));
        let close = close.ok_or("path: a brace without its partner")?;
        let name = after[..close].strip_prefix('*').unwrap_or(&after[..close]);
        let is_name = name.starts_with(|first: char| first.is_ascii_lowercase())
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
        if !is_name {
            return Err(format!("path parameter `{name}`: expected letters, digits and _, first a lower-case letter"));
        }
        names.push(name);
        rest = &after[close + 1..];
    }
    Ok(names)
}

/// Two or more words of a-z, 0-9, `_` and `-` with dots between.
fn is_action(text: &str) -> bool {
    let is_word = |word: &str| {
        !word.is_empty()
            && word
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'_' | b'-'))
    };
    text.contains('.') && text.split('.').all(is_word)
}
