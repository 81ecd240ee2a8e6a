//! Operators act on a running gateway: by request, by command, and never by somebody else's web page.

use super::{
    answer, faults, setup, setup_on,
    site::{Site, THREADS},
};
use crate::storage::Engine;
use gateway_tests::process::{CommandOutput, GatewayProcess, LIMIT};
use plugin_testing::{TestGateway, TestResponse, Value, Wallet, json};
use reqwest::Method;
use rstest::rstest;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};

const OFF: &str = "switched off by an operator";
const ON: &str = "switched on by an operator";

fn desk(gateway: &GatewayProcess) -> Site {
    Site::at(gateway.admin_url())
}

async fn act(gateway: &GatewayProcess, plugin: &str, action: &str) -> TestResponse {
    let path = format!("/plugins/{plugin}/{action}");
    answer(desk(gateway).request(Method::POST, &path).header("x-gateway-admin", "1")).await
}

/// Runs `gateway plugins <action> <plugin>` beside the running gateway.
pub(super) async fn command(gateway: &GatewayProcess, arguments: &[&str]) -> CommandOutput {
    let setup = gateway.setup().clone();
    let arguments: Vec<String> =
        [&["plugins"], arguments, &["--admin", gateway.admin_url()]].concat().into_iter().map(str::to_owned).collect();
    let run = move || setup.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    tokio::task::spawn_blocking(run).await.unwrap().unwrap()
}

#[rstest]
#[case(Engine::Sqlite)]
#[case(Engine::Postgres)]
#[tokio::test]
async fn a_decision_outlives_the_gateway_and_outranks_the_file(#[case] engine: Engine) {
    let setup = setup_on(engine).await.with_config("[plugins.forum]\nenabled = true\n").unwrap();
    let mut gateway = setup.start().await.unwrap();
    let off = act(&gateway, "forum", "disable").await;
    assert_eq!((off.status, &off.json()["state"]), (200, &json!("disabled")), "{}", off.text());
    assert_eq!(off.json()["reason"], OFF);
    assert_eq!(Site::of(&gateway).get(THREADS).await.status, 404);

    // Neither the file nor a restart enables it again.
    gateway.sighup().unwrap();
    let is_read = async || setup.log().contains("the configuration is read again");
    TestGateway::eventually(LIMIT, "the configuration is read again", is_read).await;
    assert_eq!(Site::of(&gateway).get(THREADS).await.status, 404);
    gateway.terminate(LIMIT).await.unwrap();
    let listed = setup.run(&["plugins", "list", "--json"]).unwrap().json().unwrap();
    let forum = listed.as_array().unwrap().iter().find(|plugin| plugin["name"] == "forum").unwrap();
    assert_eq!(forum["reason"], OFF, "{listed}");
    let mut gateway = setup.start().await.unwrap();
    assert_eq!(faults::operator_sees(&gateway, "/plugins", "forum").await["reason"], OFF);
    assert_eq!(Site::of(&gateway).get(THREADS).await.status, 404);

    // Nor does the file disable what the opposite command enabled.
    let on = act(&gateway, "forum", "enable").await;
    assert_eq!((on.status, &on.json()["state"], &on.json()["reason"]), (200, &json!("serving"), &json!(ON)));
    setup.write_config("[plugins.forum]\nenabled = false\n").unwrap();
    gateway.terminate(LIMIT).await.unwrap();
    let gateway = setup.start().await.unwrap();
    assert_eq!(faults::operator_sees(&gateway, "/plugins", "forum").await["state"], "serving");
    Site::of(&gateway).open_thread(&Wallet::new(1), "Still on").await;

    let audit = desk(&gateway).get("/audit").await.json();
    let told: Vec<_> =
        audit.as_array().unwrap().iter().map(|row| (&row["action"], &row["subject"], &row["outcome"])).collect();
    let (forum, enable, disable) = (json!("forum"), json!("enable"), json!("disable"));
    let (reload, nothing, read_again) =
        (json!("reload"), json!(""), json!("applied: nothing; waiting for a restart: nothing"));
    let expected = [
        (&enable, &forum, &json!("serving")),
        (&reload, &nothing, &read_again),
        (&disable, &forum, &json!("disabled")),
    ];
    assert_eq!(told, expected, "newest first");
    assert_eq!(audit[1]["who"], "SIGHUP");
    assert!(audit[0]["who"].as_str().unwrap().starts_with("127.0.0.1:"), "{audit}");
    let lines: Vec<Value> = setup.log().lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let line = lines.iter().find(|line| line["target"] == "audit").expect("a line in the log");
    assert_eq!((&line["what"], &line["plugin"], &line["outcome"]), (&disable, &forum, &json!("disabled")), "{line}");
    assert_eq!(line["who"], audit[2]["who"]);
}

#[tokio::test]
async fn commands_tell_the_outcome() {
    let gateway = setup().start().await.unwrap();
    let steps = [
        ("disable", Some(0), format!("forum: disabled ({OFF})\n")),
        ("disable", Some(0), format!("forum: disabled ({OFF})\n")),
        ("resume", Some(5), format!("forum: disabled ({OFF}; enable it to start it)\n")),
        ("enable", Some(0), format!("forum: serving ({ON})\n")),
        ("resume", Some(0), format!("forum: serving ({ON})\n")),
    ];
    for (action, code, said) in steps {
        let ended = command(&gateway, &[action, "forum"]).await;
        assert_eq!((ended.code, ended.stdout.as_str()), (code, said.as_str()), "{action}: {}", ended.stderr);
    }
    let as_json = command(&gateway, &["disable", "forum", "--json"]).await.json().unwrap();
    assert_eq!((&as_json["name"], &as_json["state"]), (&json!("forum"), &json!("disabled")), "{as_json}");

    let unknown = command(&gateway, &["enable", "nosuch"]).await;
    assert_eq!((unknown.code, unknown.stdout.as_str()), (Some(5), ""), "{unknown:?}");
    assert!(unknown.stderr.contains("no plugin \"nosuch\""), "{}", unknown.stderr);
}

#[tokio::test]
async fn without_a_gateway_a_command_says_so() {
    let mut gateway = setup().start().await.unwrap();
    gateway.terminate(LIMIT).await.unwrap();
    let alone = command(&gateway, &["enable", "forum"]).await;
    assert_eq!((alone.code, alone.stdout.as_str()), (Some(1), ""), "{alone:?}");
    assert!(alone.stderr.contains("no gateway answers at") && alone.stderr.contains("admin.listen"), "{alone:?}");
    for (listen, said) in [("off", "is off"), ("127.0.0.1:0", "--admin")] {
        let ended = setup().set("admin.listen", listen).run(&["plugins", "enable", "forum"]).unwrap();
        assert_eq!(ended.code, Some(3), "{ended:?}");
        assert!(ended.stderr.contains(said), "{ended:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_reached_is_a_conflict_with_the_reason() {
    let setup = setup().with_config("[plugins.hello]\nkeep_days = 0\n").unwrap();
    let gateway = setup.set("plugins.forum.sha256", "0".repeat(64)).start().await.unwrap();
    for (plugin, action, state, reason) in [
        ("hello", "enable", "failed", "keep_days is 0"),
        ("hello", "resume", "failed", "keep_days is 0"),
        ("forum", "enable", "refused", "sha256"),
        ("forum", "disable", "refused", "sha256"),
    ] {
        let answer = act(&gateway, plugin, action).await;
        let body = answer.json();
        assert_eq!((answer.status, &body["state"]), (409, &json!(state)), "{plugin} {action}: {body}");
        assert_eq!(body["code"], "not_reached");
        assert!(body["reason"].as_str().unwrap().to_lowercase().contains(reason), "{plugin} {action}: {body}");
    }
    assert_eq!(act(&gateway, "nosuch", "enable").await.status, 404);
    assert_eq!(act(&gateway, "hello", "explode").await.status, 404);
    // The cause can be corrected without a restart.
    gateway.setup().write_config("[plugins.hello]\nkeep_days = 1\n").unwrap();
    gateway.sighup().unwrap();
    let serves = async || Site::of(&gateway).get("/api/hello/world").await.status == 200;
    TestGateway::eventually(LIMIT, "hello serves", serves).await;
}

#[tokio::test]
async fn a_fenced_plugin_is_resumed() {
    let gateway = faults::start(|setup| setup.set("plugins.fence_faults", 3).set("plugins.fence_window_s", 3600)).await;
    let site = Site::of(&gateway);
    let is_fenced = async || {
        for path in faults::FAILING {
            site.get(path).await;
        }
        faults::operator_sees(&gateway, "/plugins", "misbehaves").await["state"] == "fenced"
    };
    TestGateway::eventually(LIMIT, "the plugin is fenced", is_fenced).await;
    let enabled = act(&gateway, "misbehaves", "enable").await;
    assert_eq!((enabled.status, &enabled.json()["state"]), (409, &json!("fenced")), "{}", enabled.text());
    assert!(enabled.json()["reason"].as_str().unwrap().contains("resume it"), "{}", enabled.text());

    let resumed = act(&gateway, "misbehaves", "resume").await;
    assert_eq!((resumed.status, &resumed.json()["state"]), (200, &json!("serving")), "{}", resumed.text());
    assert_eq!(site.get("/api/misbehaves/notes").await.status, 200);
    // And it is fenced again when it goes on as before.
    TestGateway::eventually(LIMIT, "the plugin is fenced again", is_fenced).await;
    assert_eq!(act(&gateway, "misbehaves", "disable").await.status, 200);
    assert_eq!(site.get("/api/misbehaves/notes").await.status, 404);
}

#[tokio::test]
async fn the_others_do_not_notice() {
    let gateway = setup().start().await.unwrap();
    let site = Site::of(&gateway);
    let (is_over, calls) = (AtomicBool::new(false), AtomicUsize::new(0));
    let toggle = async {
        for _ in 0..25 {
            let before = calls.load(SeqCst);
            assert_eq!(act(&gateway, "forum", "disable").await.status, 200);
            assert_eq!(site.get(THREADS).await.status, 404);
            assert_eq!(act(&gateway, "forum", "enable").await.status, 200);
            assert_eq!(site.get(THREADS).await.status, 200);
            let served = async || calls.load(SeqCst) > before;
            TestGateway::eventually(LIMIT, "the others are called in every round", served).await;
        }
        is_over.store(true, SeqCst);
    };
    tokio::join!(
        toggle,
        site.keep_calling("/api/hello/world", &is_over, &calls),
        site.keep_calling("/api/activity", &is_over, &calls),
    );
}

#[tokio::test]
async fn web_pages_of_others_are_kept_away() {
    let gateway = setup().start().await.unwrap();
    let desk = desk(&gateway);
    let own = gateway.admin_url();
    let by_name = own.replace("127.0.0.1", "localhost");
    let address = own.trim_start_matches("http://").to_owned();
    let port = address.rsplit(':').next().unwrap().to_owned();
    let rebound = format!("rebound.example:{port}");
    let attacks: [&[(&str, &str)]; 6] = [
        &[],
        &[("origin", "https://evil.example")],
        &[("origin", "null"), ("x-gateway-admin", "1")],
        &[("origin", by_name.as_str()), ("x-gateway-admin", "1")],
        &[("host", rebound.as_str()), ("x-gateway-admin", "1")],
        &[("content-type", "application/x-www-form-urlencoded")],
    ];
    for headers in attacks {
        for (method, path) in [(Method::POST, "/plugins/hello/disable"), (Method::PUT, "/log-level")] {
            let request = desk.request(method, path).body("error");
            let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
            let refused = answer(request).await;
            assert_eq!((refused.status, refused.code().as_str()), (403, "cross_site"), "{headers:?}");
        }
    }
    assert_eq!(answer(desk.request(Method::GET, "/plugins").header("host", &rebound)).await.status, 403);
    let looked = answer(desk.request(Method::GET, "/plugins/hello/disable")).await;
    assert_eq!((looked.status, looked.header("allow")), (405, "POST"));
    assert_eq!(Site::of(&gateway).get("/api/hello/world").await.status, 200, "nothing was changed");
    assert_eq!(desk.get("/audit").await.json(), json!([]));

    // The page's own origin is enough.
    let allowed = answer(desk.request(Method::POST, "/plugins/hello/disable").header("origin", own)).await;
    assert_eq!(allowed.status, 200, "{}", allowed.text());
}

#[tokio::test]
async fn the_log_level_changes_while_it_runs() {
    let gateway = setup().set("log.level", "warn").start().await.unwrap();
    let desk = desk(&gateway);
    let set = async |level: &'static str| {
        answer(desk.request(Method::PUT, "/log-level").header("x-gateway-admin", "1").body(level)).await
    };
    assert!(!gateway.setup().log().contains("an operator acted"));
    for level in ["loud", "gateway", "info,loud", "info,,debug", "info,gateway=loud", ""] {
        let wrong = set(level).await;
        assert_eq!((wrong.status, wrong.code().as_str()), (400, "bad_level"), "{level:?}: {}", wrong.text());
    }
    assert_eq!(set("info").await.json(), json!({ "level": "info" }));
    assert!(gateway.setup().log().contains("an operator acted"), "{}", gateway.setup().log());
    assert_eq!(set(&"x".repeat(5000).leak()[..]).await.status, 400);
    let audit = desk.get("/audit").await.json();
    assert_eq!((&audit[0]["action"], &audit[0]["outcome"]), (&json!("log-level"), &json!("info")), "{audit}");
    assert!(audit[1]["outcome"].as_str().unwrap().starts_with("refused: "), "{audit}");
}

#[tokio::test]
async fn the_page_shows_the_gateway() {
    let gateway = setup().start().await.unwrap();
    Site::of(&gateway).open_thread(&Wallet::new(1), "Seen").await;
    act(&gateway, "hello", "disable").await;
    let page = desk(&gateway).get("/").await;
    let policy = page.header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{policy}");
    let text = page.text();
    for part in ["thread.create", "data-action=\"enable\" data-plugin=\"hello\"", OFF, "prune_guests", "127.0.0.1:"] {
        assert!(text.contains(part), "{part} is missing in {text}");
    }
    for asset in ["/page.css", "/page.js"] {
        let asset = desk(&gateway).get(asset).await;
        assert_eq!((asset.status, asset.header("x-content-type-options")), (200, "nosniff"));
    }
}
