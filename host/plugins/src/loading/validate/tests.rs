//! A manifest without problems, and what is said of it after each change.
#![allow(clippy::unwrap_used, reason = "tests")]

use super::validate_manifest;
use plugin_api::manifest::{
    Auth, CallTypes, ContributionSpec, Grants, JobSpec, Manifest, MigrationSpec, NeededSetting, Parameter, ParameterIn,
    Parent, RateLimit, RouteSpec, Schedule, ServiceSpec, SubscriptionSpec,
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
    JobSpec { name: name.into(), schedule, timeout_ms: 1000, lease_ms: None }
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
        assert!(found.iter().any(|problem| problem.contains("brace") || problem.contains("parameter")), "{found:?}");
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
