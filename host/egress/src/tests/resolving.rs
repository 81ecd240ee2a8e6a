//! A name is resolved at most every 30 seconds, and only the addresses found then are connected to.

use rstest::rstest;

use super::fixture::*;

const OPEN: &str = "127.0.0.1";

#[tokio::test]
async fn a_request_goes_to_the_resolved_address_with_the_name_as_host() {
    let fixture = Fixture::start(|_| ok("hello")).await;
    let resolver = ScriptedResolver::new(&[("fixture.test", &[&[OPEN]])]);
    let egress = egress_with(settings(&[fixture.allow_entry()]), &resolver);
    let url = fixture.url_by_name("fixture.test", "/a?b=c#d");
    let response = egress.fetch("hello", get(&url)).await.unwrap();
    assert_eq!((response.status, &response.body[..], response.is_truncated), (200, &b"hello"[..], false));
    assert_eq!(response.url, url);
    let request = &fixture.requests()[0];
    assert_eq!(request.line(), "GET /a?b=c");
    assert_eq!(request.header("host").unwrap(), format!("fixture.test:{}", fixture.port));
    assert_eq!(resolver.resolved(), ["fixture.test"]);
}

#[rstest]
#[tokio::test]
async fn one_special_address_refuses_all(
    #[values(
        "10.0.0.1",
        "127.0.0.2",
        "169.254.169.254",
        "0.1.2.3",
        "100.64.0.1",
        "168.63.129.16",
        "::1",
        "::",
        "::ffff:127.0.0.1",
        "::ffff:8.8.8.8",
        "::127.0.0.1",
        "64:ff9b::7f00:1",
        "64:ff9b:1::a9fe:a9fe",
        "2002:7f00:1::1",
        "2001:0:4136:e378:8000:63bf:80ff:fffe",
        "fd00:ec2::254",
        "fe80::1",
        "fec0::1",
        "ff02::1"
    )]
    special: &str,
    #[values("alone", "first", "last")] place: &str,
) {
    let fixture = Fixture::start(|_| ok("never")).await;
    let response: &[&str] = match place {
        "alone" => &[special],
        "first" => &[special, OPEN],
        _ => &[OPEN, special],
    };
    let resolver = ScriptedResolver::new(&[("fixture.test", &[response])]);
    let egress = egress_with(settings(&[fixture.allow_entry()]), &resolver);
    let url = fixture.url_by_name("fixture.test", "/");
    let error = egress.fetch("hello", get(&url)).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("private_url", 400));
    assert!(!error.to_string().contains(special), "an address leaked: {error}");
    assert_eq!(fixture.connections(), 0);
}

#[rstest]
#[case::error(&[])]
#[case::no_address(&[("gone.test", &[&[] as &[&str]] as &[&[&str]])])]
#[tokio::test]
async fn a_name_without_address_is_unresolvable(#[case] responses: &[(&str, &[&[&str]])]) {
    let egress = egress_with(settings(&[]), &ScriptedResolver::new(responses));
    let error = egress.fetch("hello", get("https://gone.test/secret")).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("unresolvable_url", 502));
    assert_eq!(error.to_string(), "the host \"gone.test\" does not resolve");
}

/// DNS rebinding: a public address when it is checked, 169.254.169.254 when it is connected to. There is no second
/// look-up, until the time of the first one is over.
#[tokio::test]
async fn rebinding_after_the_check_has_no_effect() {
    let fixture = Fixture::start(|_| ok("checked")).await;
    let resolver = ScriptedResolver::new(&[("fixture.test", &[&[OPEN], &["169.254.169.254"]])]);
    let egress = egress_with(settings(&[fixture.allow_entry()]), &resolver);
    let url = fixture.url_by_name("fixture.test", "/");
    for _ in 0..2 {
        let response = egress.fetch("hello", get(&url)).await.unwrap();
        assert_eq!(&response.body[..], b"checked");
        assert_eq!(resolver.resolved().len(), 1);
    }
    egress.advance_clock(std::time::Duration::from_secs(30));
    let error = egress.fetch("hello", get(&url)).await.unwrap_err();
    assert_eq!(error.code(), "private_url", "the next check refuses it");
    let error = egress.fetch("hello", get(&url)).await.unwrap_err();
    assert_eq!((error.code(), resolver.resolved().len()), ("private_url", 3), "a refusal is not remembered");
    assert_eq!(fixture.connections(), 2);
}

#[tokio::test]
async fn rebinding_between_two_hops_has_no_effect() {
    let fixture = Fixture::start(|request| match request.path() {
        "/" => redirect(302, "/again"),
        _ => ok("checked"),
    })
    .await;
    let resolver = ScriptedResolver::new(&[("fixture.test", &[&[OPEN], &["169.254.169.254"]])]);
    let egress = egress_with(settings(&[fixture.allow_entry()]), &resolver);
    let mut request = get(&fixture.url_by_name("fixture.test", "/"));
    request.redirects_max = 3;
    assert_eq!(&egress.fetch("hello", request).await.unwrap().body[..], b"checked");
    assert_eq!(resolver.resolved().len(), 1);
    assert_eq!(fixture.request_lines(), ["GET /", "GET /again"]);
}

#[tokio::test]
async fn address_literals_are_not_looked_up() {
    let fixture = Fixture::start(|_| ok("")).await;
    let resolver = ScriptedResolver::new(&[]);
    let egress = egress_with(settings(&[fixture.allow_entry()]), &resolver);
    egress.fetch("hello", get(&fixture.url("/"))).await.unwrap();
    for refused in ["http://127.0.0.2/", "http://[::1]/", "http://2130706433/", "http://[::ffff:127.0.0.1]/"] {
        let error = egress.fetch("hello", get(refused)).await.unwrap_err();
        assert_eq!(error.code(), "private_url", "{refused}");
    }
    assert!(resolver.resolved().is_empty());
}

#[rstest]
#[case::the_name("fixture.test", "fixture.test", "ok")]
#[case::another_name("fixture.test", "other.test", "private_url")]
#[case::below_the_name("fixture.test", "a.fixture.test", "private_url")]
#[tokio::test]
async fn an_allowed_name_may_resolve_to_any_address(
    #[case] opened: &str,
    #[case] called: &str,
    #[case] expected: &str,
    #[values(true, false)] right_port: bool,
) {
    let fixture = Fixture::start(|_| ok("")).await;
    let port = if right_port { fixture.port } else { fixture.port ^ 1 };
    let resolver = ScriptedResolver::new(&[(called, &[&[OPEN]])]);
    let egress = egress_with(settings(&[format!("{opened}:{port}")]), &resolver);
    let outcome = egress.fetch("hello", get(&fixture.url_by_name(called, "/"))).await;
    let expected = if right_port { expected } else { "private_url" };
    assert_eq!(outcome.map_or_else(|error| error.code(), |_| "ok"), expected);
}

/// Uses the system's resolver.
#[tokio::test]
async fn localhost_must_be_allowed_by_the_operator() {
    let fixture = Fixture::start(|_| ok("")).await;
    let url = fixture.url_by_name("localhost", "/");
    let open = crate::Egress::new(settings(&[format!("localhost:{}", fixture.port)])).unwrap();
    assert_eq!(open.fetch("hello", get(&url)).await.unwrap().status, 200);
    let closed = crate::Egress::new(settings(&[])).unwrap();
    assert_eq!(closed.fetch("hello", get(&url)).await.unwrap_err().code(), "private_url");
    assert_eq!(closed.check_url(&url).unwrap_err().code(), "private_url");
    assert_eq!(open.check_url(&url).unwrap().port(), Some(fixture.port));
}
