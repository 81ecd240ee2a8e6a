//! Whether a manifest makes sense, before anything is built from it.
//!
//! The rule: every problem is listed at once, in words its author can act on; what a newer plugin-api may add
//! (extension points, fields) is not a problem.

use super::{validate_documents::check_documents, validate_queues::check_queues};
use gateway_config::MAIN;
use gateway_jobs::JobSet;
use plugin_api::{
    Address,
    abi::{is_plugin_name, is_snake_case},
    manifest::{ANY_METHOD, Auth, ContributionSpec, IndexedValue, Manifest, MigrationSpec, ParameterIn, RouteSpec},
};
use serde_json::json;
use std::collections::HashSet;

const METHODS: [&str; 6] = ["GET", "POST", "PUT", "PATCH", "DELETE", ANY_METHOD];
const BODY_MAX_BYTES: u64 = 256 * 1024 * 1024;

/// Checks the whole document; with `stamped` (name and version) it must be the one of that file.
pub fn validate_manifest(manifest: &Manifest, stamped: Option<(&str, &str)>) -> Result<(), Vec<String>> {
    let mut problems = Vec::new();
    check_identity(manifest, stamped, &mut problems);
    check_routes(&manifest.routes, &mut problems);
    check_needed_settings(manifest, &mut problems);
    check_jobs(manifest, &mut problems);
    check_queues(manifest, &mut problems);
    check_migrations(&manifest.migrations, &mut problems);
    check_views(manifest, &mut problems);
    check_contributions(manifest, &mut problems);
    check_subscriptions(manifest, &mut problems);
    check_requires(manifest, &mut problems);
    check_documents(manifest, &mut problems);
    if problems.is_empty() { Ok(()) } else { Err(problems) }
}

fn check_identity(manifest: &Manifest, stamped: Option<(&str, &str)>, problems: &mut Vec<String>) {
    let (name, version) = (manifest.name.as_str(), manifest.version.as_str());
    if !is_plugin_name(name) {
        problems.push(format!("name `{name}`: expected a-z, 0-9 and _, first a letter, 2 to 31 characters"));
    }
    if version.is_empty() {
        problems.push("version is empty".to_owned());
    }
    if let Some((stamped_name, stamped_version)) = stamped
        && (name, version) != (stamped_name, stamped_version)
    {
        problems.push(format!("says {name} {version}, but the stamp of its file {stamped_name} {stamped_version}"));
    }
    if !(manifest.config_schema.is_object() || manifest.config_schema.is_null()) {
        problems.push("config_schema: expected an object".to_owned());
    }
}

fn check_routes(routes: &[RouteSpec], problems: &mut Vec<String>) {
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

fn check_needed_settings(manifest: &Manifest, problems: &mut Vec<String>) {
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

fn check_jobs(manifest: &Manifest, problems: &mut Vec<String>) {
    if let Err(invalid) = JobSet::new(&manifest.name, &manifest.jobs) {
        problems.extend(invalid.problems);
    }
}

fn check_migrations(migrations: &[MigrationSpec], problems: &mut Vec<String>) {
    for (migration, expected) in migrations.iter().zip(1_u32..) {
        let mut problem =
            |text: String| problems.push(format!("migration {} `{}`: {text}", migration.version, migration.name));
        if migration.version != expected {
            problem(format!("expected version {expected}: versions are 1, 2, 3 … in order"));
        }
        if !is_snake_case(&migration.name) {
            problem("name: expected a-z, 0-9 and _, first a letter".to_owned());
        }
        let is_empty = |sql: &str| sql.trim().is_empty();
        if is_empty(&migration.sql) || migration.postgres.as_deref().is_some_and(is_empty) {
            problem("has no SQL".to_owned());
        }
    }
}

fn check_views(manifest: &Manifest, problems: &mut Vec<String>) {
    let mut names = HashSet::new();
    for view in &manifest.views {
        let is_versioned = view.rsplit_once("_v").is_some_and(|(name, version)| {
            is_snake_case(name) && !version.is_empty() && version.bytes().all(|byte| byte.is_ascii_digit())
        });
        if !is_versioned {
            problems.push(format!("view `{view}`: expected a name with a version, like `agents_v1`"));
        }
        if !names.insert(view) {
            problems.push(format!("view `{view}` is there twice"));
        }
    }
    for view in manifest.private_views.iter().filter(|view| !names.contains(view)) {
        problems.push(format!("private view `{view}`: expected one of the plugin's views"));
    }
}

fn check_contributions(manifest: &Manifest, problems: &mut Vec<String>) {
    let mut points = HashSet::new();
    for ContributionSpec { point, .. } in &manifest.contributions {
        if point.is_empty() {
            problems.push("a contribution names no extension point".to_owned());
        }
        if !points.insert(point) {
            problems.push(format!("contributes to `{point}` twice"));
        }
    }
    for (list, word) in
        [(&manifest.points, "point"), (&manifest.provides, "provided service"), (&manifest.uses, "used service")]
    {
        let mut names = HashSet::new();
        for spec in list {
            if spec.name.is_empty() || !names.insert(&spec.name) {
                problems.push(format!("the {word} `{}` has no name or is there twice", spec.name));
            }
        }
    }
    let prefix = format!("{}.", manifest.name);
    for point in manifest.points.iter().filter(|point| !point.name.starts_with(&prefix)) {
        problems.push(format!("point `{}`: expected a name of its own, `{prefix}…`", point.name));
    }
    let mut topics = HashSet::new();
    for topic in &manifest.topics {
        if topic.is_empty() || !topics.insert(topic) {
            problems.push(format!("the topic `{topic}` has no name or is there twice"));
        }
    }
}

fn check_subscriptions(manifest: &Manifest, problems: &mut Vec<String>) {
    let prefix = format!("{}_", manifest.name);
    for subscription in &manifest.subscriptions {
        let mut problem = |text: String| {
            problems.push(format!("subscription {} {}: {text}", subscription.contract, subscription.event));
        };
        if subscription.contract.is_empty() {
            problem("names no contract".to_owned());
        }
        match gateway_chain::EventDecoder::parse(&subscription.event) {
            Err(reason) => {
                problem(format!("event: expected a signature like `Registered(uint256 indexed agentId)`: {reason}"));
            }
            Ok(decoder) => {
                // The addresses of contracts are not known here.
                let value = |value: &IndexedValue| match value {
                    IndexedValue::Value(value) => value.clone(),
                    IndexedValue::Contract(_) => json!(Address::ZERO),
                };
                let values = |(argument, values): (&String, &Vec<IndexedValue>)| {
                    (argument.clone(), values.iter().map(value).collect())
                };
                let values = subscription.indexed.iter().map(values).collect();
                if let Err(reason) = decoder.indexed_topics(&values) {
                    problem(format!("indexed arguments: {reason}"));
                }
            }
        }
        let chain = &subscription.chain;
        if chain != MAIN && !manifest.grants.chains.contains(chain) {
            problem(format!("chain `{chain}`: expected main, or a chain of the plugin's grants"));
        }
        for table in subscription.derived_tables.iter().filter(|table| !table.starts_with(&prefix)) {
            problem(format!("derived table `{table}`: expected a table of its own, `{prefix}…`"));
        }
        // Said once of the two.
        let others = manifest.subscriptions.iter().filter(|other| other.chain < *chain);
        let other_tables: HashSet<&String> = others.flat_map(|other| &other.derived_tables).collect();
        for table in subscription.derived_tables.iter().filter(|table| other_tables.contains(table)) {
            problem(format!(
                "derived table `{table}`: it belongs to one chain, and a subscription on another derives it, too"
            ));
        }
    }
}

fn check_requires(manifest: &Manifest, problems: &mut Vec<String>) {
    let mut names = HashSet::new();
    for required in &manifest.requires {
        if !is_plugin_name(required) {
            problems.push(format!("requires `{required}`: expected the name of a plugin"));
        }
        if *required == manifest.name {
            problems.push("requires itself".to_owned());
        }
        if !names.insert(required) {
            problems.push(format!("requires `{required}` twice"));
        }
    }
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use plugin_api::manifest::{
        CallTypes, Grants, JobSpec, NeededSetting, Parameter, Parent, RateLimit, Schedule, ServiceSpec,
        SubscriptionSpec,
    };
    use serde_json::json;

    fn route(method: &str, path: &str, operation: &str) -> RouteSpec {
        let spec = json!({
            "method": method, "path": path, "operation": operation, "tag": "t", "summary": "s", "auth": {"kind": "public"}
        });
        serde_json::from_value(spec).unwrap()
    }

    fn manifest() -> Manifest {
        Manifest {
            name: "forum".into(),
            version: "1.0.0".into(),
            routes: vec![
                route("GET", "/api/forum/threads/{id}", "get_thread"),
                RouteSpec {
                    auth: Auth::SignedBody { action: "post.create".into() },
                    body_max_bytes: Some(1024),
                    parent: Some(parent("id", "SELECT 1 FROM forum_threads WHERE id = $1")),
                    ..route("DELETE", "/api/forum/threads/{id}", "delete_thread")
                },
                route("GET", "/api/forum/threads/{id}/posts/{*rest}", "get_rest"),
                route("GET", "/", "get_root"),
            ],
            migrations: vec![migration(1, "threads"), migration(2, "posts")],
            views: vec!["forum_posts_v1".into(), "x402_v12".into()],
            jobs: vec![job("sweep", Schedule::EveryMs(100)), job("daily", Schedule::Cron("0 3 * * *".into()))],
            contributions: vec![contribution("stats"), contribution("unheard_of")],
            topics: vec!["a".into(), "b".into()],
            subscriptions: vec![
                SubscriptionSpec::new("registry", "Registered(uint256 indexed agentId)").deriving(&["forum_agents"]),
                SubscriptionSpec::new("registry", "Registered(uint256 indexed agentId)")
                    .on_chain("base")
                    .any_of("agentId", &[7])
                    .deriving(&["forum_agents_on_base"]),
            ],
            grants: Grants { chains: vec!["base".into()], ..Grants::default() },
            requires: vec!["agents".into()],
            ..Default::default()
        }
    }

    fn parent(param: &str, sql: &str) -> Parent {
        Parent { sql: sql.into(), param: param.into(), integer: true, resource: "thread".into() }
    }

    fn migration(version: u32, name: &str) -> MigrationSpec {
        MigrationSpec { version, name: name.into(), sql: "CREATE TABLE t (id {{id}})".into(), postgres: None }
    }

    fn job(name: &str, schedule: Schedule) -> JobSpec {
        JobSpec { name: name.into(), schedule, timeout_ms: 1000 }
    }

    fn contribution(point: &str) -> ContributionSpec {
        ContributionSpec { point: point.into(), cached: false, types: None }
    }

    /// The problems after a change to a manifest that has none.
    fn problems(change: impl FnOnce(&mut Manifest)) -> Vec<String> {
        let mut manifest = manifest();
        assert_eq!(validate_manifest(&manifest, Some(("forum", "1.0.0"))), Ok(()));
        change(&mut manifest);
        validate_manifest(&manifest, Some(("forum", "1.0.0"))).err().unwrap_or_default()
    }

    #[track_caller]
    fn expect(part: &str, change: impl FnOnce(&mut Manifest)) {
        let problems = problems(change);
        assert!(problems.len() == 1 && problems[0].contains(part), "expected one with `{part}`: {problems:#?}");
    }

    #[test]
    fn identity_is_the_one_of_the_stamp() {
        expect("the stamp of its file forum 1.0.0", |manifest| manifest.version = "1.0.1".into());
        expect("config_schema", |manifest| manifest.config_schema = json!("text"));
        let version = problems(|manifest| manifest.version = String::new());
        assert!(version.iter().any(|problem| problem == "version is empty"), "{version:?}");
    }

    #[test]
    fn routes_are_well_formed() {
        expect("method: expected one of GET", |manifest| manifest.routes[0].method = "get".into());
        expect("`get_root` names another route too", |manifest| manifest.routes[0].operation = "get_root".into());
        expect("operation `{{closure}}`", |manifest| manifest.routes[0].operation = "{{closure}}".into());
        expect("is there twice", |manifest| manifest.routes.push(route("GET", "/", "get_root_again")));
        expect("action `PostCreate`", |manifest| {
            manifest.routes[1].auth = Auth::SignedBody { action: "PostCreate".into() };
        });
        expect("own auth", |manifest| manifest.routes[1].auth = Auth::Own { scheme: " ".into() });
        expect("body_max_bytes 0", |manifest| manifest.routes[1].body_max_bytes = Some(0));
        expect("body_max_bytes", |manifest| manifest.routes[1].body_max_bytes = Some(u64::MAX));
        expect("timeout_ms 0", |manifest| manifest.routes[1].timeout_ms = Some(0));
        expect("rate limit `b`", |manifest| {
            let limit = RateLimit { bucket: "b".into(), calls: 0, window_s: 60, code: "c".into(), additional: false };
            manifest.routes[0].rate_limits = vec![limit];
        });
    }

    /// A signature covers the whole body, and an own scheme may.
    #[test]
    fn only_public_routes_read_their_body_in_parts() {
        let streams = |auth: Auth| {
            move |manifest: &mut Manifest| {
                let upload = route("POST", "/api/forum/files", "create_file");
                manifest.routes.push(RouteSpec { streams_body: true, auth, ..upload });
            }
        };
        let refusal = "streams_body: only a public route with a body reads it in parts";
        assert_eq!(problems(streams(Auth::Public)), Vec::<String>::new());
        expect(refusal, streams(Auth::Own { scheme: "a token".into() }));
        expect(refusal, streams(Auth::SignedBody { action: "file.create".into() }));
        expect(refusal, |manifest| manifest.routes[0].streams_body = true);
    }

    #[test]
    fn paths_are_well_formed() {
        let path = |path: &'static str| move |manifest: &mut Manifest| manifest.routes[3].path = path.into();
        expect("expected a / first", path("/search?q=1"));
        expect("expected a / first", path("api/forum"));
        expect("no empty part", path("/api//forum"));
        expect("no / at the end", path("/api/forum/"));
        expect("no ..", path("/api/../forum"));
        expect("`a` is there twice", path("/x/{a}/{a}"));
        expect("conflict", path("/api/forum/threads/{thread_id}"));
        for broken in ["/x/{a", "/x/a}", "/x/{a{b}}", "/x/{}", "/x/{A}", "/x/{a-b}"] {
            let found = problems(path(broken));
            assert!(
                found.iter().any(|problem| problem.contains("brace") || problem.contains("parameter")),
                "{found:?}"
            );
        }
        let catch_all = problems(path("/x/{*a}/y"));
        assert!(catch_all[0].contains("does not fit the router"), "{catch_all:?}");
    }

    #[test]
    fn a_needed_setting_is_a_key_of_the_configuration() {
        expect("has no key `operators`", |manifest| {
            let [code, message, hint] = ["disabled", "off", "set it"].map(str::to_owned);
            let setting = NeededSetting { key: "operators".into(), status: 503, code, message, hint };
            manifest.routes[1].needed_setting = Some(setting);
        });
    }

    #[test]
    fn parameters_are_in_the_path() {
        expect("`thread` is not in the path", |manifest| {
            manifest.routes[1].parent = Some(parent("thread", "SELECT 1 WHERE $1 = 1"));
        });
        expect("as $1", |manifest| manifest.routes[1].parent = Some(parent("id", "SELECT 1")));
        expect("documents the path parameter `slug`", |manifest| {
            manifest.routes[1].parameters = vec![Parameter {
                name: "slug".into(),
                place: ParameterIn::Path,
                required: true,
                description: String::new(),
                schema: json!({}),
            }];
        });
    }

    #[test]
    fn jobs_can_run() {
        let schedule = |schedule: Schedule| move |manifest: &mut Manifest| manifest.jobs[0] = job("sweep", schedule);
        expect("expected at least 100", schedule(Schedule::EveryMs(99)));
        expect("cron line `0 3 * *`", schedule(Schedule::Cron("0 3 * *".into())));
        expect("cron line `61 * * * *`", schedule(Schedule::Cron("61 * * * *".into())));
        expect("cron line `0 0 3 * * * 2030`", schedule(Schedule::Cron("0 0 3 * * * 2030".into())));
        assert!(problems(schedule(Schedule::Cron("*/5 0 3 * * *".into()))).is_empty());
        expect("job daily: is there twice", |manifest| manifest.jobs[0].name = "daily".into());
        expect("timeout_ms 0", |manifest| manifest.jobs[0].timeout_ms = 0);
    }

    #[test]
    fn migrations_are_numbered_without_gaps() {
        expect("expected version 2", |manifest| manifest.migrations[1].version = 3);
        expect("expected version 1", |manifest| manifest.migrations[0].version = 0);
        expect("name: expected", |manifest| manifest.migrations[0].name = "First step".into());
        expect("has no SQL", |manifest| manifest.migrations[0].postgres = Some(" ".into()));
    }

    #[test]
    fn the_rest_is_checked_too() {
        for view in ["forum_posts", "forum_posts_v", "Forum_v1", "_v1", "forum_posts_v1x"] {
            expect("like `agents_v1`", |manifest| manifest.views[0] = view.into());
        }
        expect("private view `forum_threads_v9`: expected one of the plugin's views", |manifest| {
            manifest.private_views = vec!["forum_posts_v1".into(), "forum_threads_v9".into()];
        });
        let spec = |name: &str| ServiceSpec { name: name.into(), types: CallTypes::default(), in_write: false };
        expect("point `agents.grades`: expected a name of its own, `forum.…`", |manifest| {
            manifest.points = vec![spec("forum.grades"), spec("agents.grades")];
        });
        expect("the provided service `pay` has no name or is there twice", |manifest| {
            manifest.provides = vec![spec("pay"), spec("pay")];
        });
        expect("the used service `` has no name", |manifest| manifest.uses = vec![spec("")]);
        expect("contributes to `stats` twice", |manifest| manifest.contributions[1].point = "stats".into());
        expect("topic `a` has no name or is there twice", |manifest| manifest.topics[1] = "a".into());
        expect("topic `` has no name", |manifest| manifest.topics[0] = String::new());
        expect("derived table `agents_all`", |manifest| {
            manifest.subscriptions[0].derived_tables = vec!["agents_all".into()];
        });
        expect("event: expected a signature", |manifest| manifest.subscriptions[0].event = "Registered".into());
        expect("chain `base`: expected main, or a chain of the plugin's grants", |manifest| {
            manifest.grants.chains.clear();
        });
        expect("derived table `forum_agents`: it belongs to one chain", |manifest| {
            manifest.subscriptions[1].derived_tables = vec!["forum_agents".into()];
        });
        expect("indexed arguments: `owner` is no indexed argument", |manifest| {
            manifest.subscriptions[1] = manifest.subscriptions[1].clone().any_of("owner", &["0x00"]);
        });
        expect("requires itself", |manifest| manifest.requires = vec!["forum".into()]);
        expect("requires `a-b`", |manifest| manifest.requires = vec!["a-b".into()]);
    }

    #[test]
    fn every_problem_is_listed_at_once() {
        let found = problems(|manifest| {
            manifest.routes[0].method = "FETCH".into();
            manifest.jobs[0].timeout_ms = 0;
            manifest.migrations[1].version = 7;
            manifest.views[0] = "posts".into();
        });
        assert_eq!(found.len(), 4, "{found:#?}");
    }
}
