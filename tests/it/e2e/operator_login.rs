//! The operator's listener with a token: programs, browsers and a login proxy in front of it.

use super::{answer, setup, site::Site};
use gateway_tests::process::GatewayProcess;
use plugin_testing::{TestResponse, json};
use reqwest::{Method, RequestBuilder};

const TOKEN: &str = "5f0e1c9a7b3d4e6f5f0e1c9a7b3d4e6f";

async fn start() -> GatewayProcess {
    let setup = setup()
        .set("admin.token", TOKEN)
        .set("admin.allowed_hosts", "ops.example.com")
        .set("admin.user_header", "X-Forwarded-User");
    setup.start().await.unwrap()
}

fn request(gateway: &GatewayProcess, method: Method, path: &str) -> RequestBuilder {
    Site::at(gateway.admin_url()).request(method, path)
}

async fn disable(request: RequestBuilder) -> TestResponse {
    answer(request.header("x-gateway-admin", "1")).await
}

#[tokio::test]
async fn without_the_token_only_probes_are_answered() {
    let gateway = start().await;
    for path in ["/", "/plugins", "/metrics", "/audit", "/nothing"] {
        let refused = answer(request(&gateway, Method::GET, path)).await;
        assert_eq!((refused.status, &refused.json()["code"]), (401, &json!("token")), "{path}");
        assert!(refused.header("www-authenticate").starts_with("Basic realm="), "browsers ask then");
    }
    for path in ["/live", "/ready"] {
        assert_eq!(answer(request(&gateway, Method::GET, path)).await.status, 200, "{path}");
    }
    let change = || request(&gateway, Method::POST, "/plugins/hello/disable");
    assert_eq!(disable(change()).await.status, 401);
    assert_eq!(disable(change().bearer_auth(format!("{TOKEN}0"))).await.status, 401);
    assert_eq!(Site::of(&gateway).get("/api/hello/world").await.status, 200, "it still serves");
    assert!(!gateway.setup().log().contains(TOKEN), "the token is not logged");
}

#[tokio::test]
async fn the_audit_says_who_it_was() {
    let gateway = start().await;
    let change = |action: &str| request(&gateway, Method::POST, &format!("/plugins/hello/{action}"));
    let by_browser = change("disable").basic_auth("ann", Some(TOKEN));
    assert_eq!(disable(by_browser).await.status, 200);
    let by_proxy = change("enable").header("host", "ops.example.com").header("origin", "https://ops.example.com");
    let by_proxy = by_proxy.bearer_auth(TOKEN).header("x-forwarded-user", "bob@example.com");
    assert_eq!(answer(by_proxy).await.status, 200);
    let foreign = change("disable").bearer_auth(TOKEN).header("host", "evil.example.com");
    assert_eq!(disable(foreign).await.status, 403);

    let audit = answer(request(&gateway, Method::GET, "/audit").bearer_auth(TOKEN)).await.json();
    let who = |action: &str| {
        let rows = audit.as_array().unwrap().iter();
        let row = rows.filter(|row| row["subject"] == "hello").find(|row| row["action"] == action).unwrap();
        row["who"].as_str().unwrap().to_owned()
    };
    assert!(who("disable").starts_with("ann (127.0.0.1:"), "{audit}");
    assert!(who("enable").starts_with("bob@example.com (127.0.0.1:"), "{audit}");
}

#[tokio::test]
async fn the_command_line_takes_the_token_from_the_configuration() {
    let gateway = start().await;
    let setup = gateway.setup().clone();
    let admin = gateway.admin_url().to_owned();
    let run = async |arguments: &[&str], variables: &[(&str, &str)]| {
        let arguments: Vec<String> =
            [arguments, &["--admin", &admin]].concat().into_iter().map(str::to_owned).collect();
        let variables: Vec<(String, String)> =
            variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let setup = setup.clone();
        let work = move || {
            let variables: Vec<(&str, &str)> = variables.iter().map(|(name, value)| (&**name, &**value)).collect();
            setup.run_with(&arguments.iter().map(String::as_str).collect::<Vec<_>>(), &variables).unwrap()
        };
        tokio::task::spawn_blocking(work).await.unwrap()
    };
    for arguments in [&["status"][..], &["plugins", "list"], &["plugins", "disable", "hello"]] {
        let with = run(arguments, &[]).await;
        assert_eq!(with.code, Some(0), "{with:?}");
        let without = run(arguments, &[("GATEWAY_ADMIN__TOKEN", "00000000000000000000000000000000")]).await;
        assert_eq!(without.code, Some(1), "{without:?}");
        assert!(without.stderr.contains("GATEWAY_ADMIN__TOKEN"), "{without:?}");
    }
}
