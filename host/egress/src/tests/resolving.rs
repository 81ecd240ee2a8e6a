//! What a name resolves to decides, for this hop, and nothing can change its mind afterwards.

use rstest::rstest;

use super::fixture::*;

const OPEN: &str = "127.0.0.1";

#[tokio::test]
async fn a_name_is_called_at_its_address_and_keeps_its_name() {
    let fixture = Fixture::start(|_| ok("hello")).await;
    let script = Script::new(&[("fixture.test", &[&[OPEN]])]);
    let egress = egress_with(settings(&[fixture.opened()]), &script);
    let url = fixture.url_by_name("fixture.test", "/a?b=c#d");
    let answer = egress.fetch("hello", get(&url)).await.unwrap();
    assert_eq!((answer.status, &answer.body[..], answer.cut), (200, &b"hello"[..], false));
    assert_eq!(answer.url, url);
    let seen = &fixture.seen()[0];
    assert_eq!(seen.line(), "GET /a?b=c");
    assert_eq!(seen.header("host").unwrap(), format!("fixture.test:{}", fixture.port));
    assert_eq!(script.asked(), ["fixture.test"]);
}

#[rstest]
#[tokio::test]
async fn one_special_answer_refuses_all(
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
    let answer: &[&str] = match place {
        "alone" => &[special],
        "first" => &[special, OPEN],
        _ => &[OPEN, special],
    };
    let script = Script::new(&[("fixture.test", &[answer])]);
    let egress = egress_with(settings(&[fixture.opened()]), &script);
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
async fn a_name_without_address_is_unresolvable(#[case] answers: &[(&str, &[&[&str]])]) {
    let egress = egress_with(settings(&[]), &Script::new(answers));
    let error = egress.fetch("hello", get("https://gone.test/secret")).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("unresolvable_url", 502));
    assert_eq!(error.to_string(), "the host \"gone.test\" does not resolve");
}

/// The classic: harmless when it is checked, 169.254.169.254 when it is called. There is no second look-up to lie to.
#[tokio::test]
async fn rebinding_after_the_check_changes_nothing() {
    let fixture = Fixture::start(|_| ok("checked")).await;
    let script = Script::new(&[("fixture.test", &[&[OPEN], &["169.254.169.254"]])]);
    let egress = egress_with(settings(&[fixture.opened()]), &script);
    let url = fixture.url_by_name("fixture.test", "/");
    let answer = egress.fetch("hello", get(&url)).await.unwrap();
    assert_eq!(&answer.body[..], b"checked");
    assert_eq!(script.asked().len(), 1);
    let error = egress.fetch("hello", get(&url)).await.unwrap_err();
    assert_eq!(error.code(), "private_url", "the next fetch must look again");
    assert_eq!(fixture.connections(), 1);
}

#[tokio::test]
async fn rebinding_between_two_hops_is_seen() {
    let fixture = Fixture::start(|_| redirect(302, "/again")).await;
    let script = Script::new(&[("fixture.test", &[&[OPEN], &["169.254.169.254"]])]);
    let egress = egress_with(settings(&[fixture.opened()]), &script);
    let mut request = get(&fixture.url_by_name("fixture.test", "/"));
    request.redirects_max = 3;
    let error = egress.fetch("hello", request).await.unwrap_err();
    assert_eq!(error.code(), "private_url");
    assert_eq!(script.asked().len(), 2);
    assert_eq!(fixture.lines(), ["GET /"]);
}

/// No connection is kept for the next fetch, which may be another plugin's.
#[tokio::test]
async fn every_fetch_has_its_own_connection() {
    let fixture = Fixture::start(|_| {
        Reply::Hang(b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n".to_vec())
    })
    .await;
    let egress = egress(&[fixture.opened()]);
    for _ in 0..3 {
        egress.fetch("hello", get(&fixture.url("/"))).await.unwrap();
    }
    assert_eq!(fixture.connections(), 3);
}

#[tokio::test]
async fn address_literals_are_not_looked_up() {
    let fixture = Fixture::start(|_| ok("")).await;
    let script = Script::new(&[]);
    let egress = egress_with(settings(&[fixture.opened()]), &script);
    egress.fetch("hello", get(&fixture.url("/"))).await.unwrap();
    for refused in ["http://127.0.0.2/", "http://[::1]/", "http://2130706433/", "http://[::ffff:127.0.0.1]/"] {
        let error = egress.fetch("hello", get(refused)).await.unwrap_err();
        assert_eq!(error.code(), "private_url", "{refused}");
    }
    assert!(script.asked().is_empty());
}

#[rstest]
#[case::the_name("fixture.test", "fixture.test", "ok")]
#[case::another_name("fixture.test", "other.test", "private_url")]
#[case::below_the_name("fixture.test", "a.fixture.test", "private_url")]
#[tokio::test]
async fn an_opened_name_may_resolve_to_anything(
    #[case] opened: &str,
    #[case] called: &str,
    #[case] expected: &str,
    #[values(true, false)] right_port: bool,
) {
    let fixture = Fixture::start(|_| ok("")).await;
    let port = if right_port { fixture.port } else { fixture.port ^ 1 };
    let script = Script::new(&[(called, &[&[OPEN]])]);
    let egress = egress_with(settings(&[format!("{opened}:{port}")]), &script);
    let outcome = egress.fetch("hello", get(&fixture.url_by_name(called, "/"))).await;
    let expected = if right_port { expected } else { "private_url" };
    assert_eq!(outcome.map_or_else(|error| error.code(), |_| "ok"), expected);
}

/// With the machine's own resolver.
#[tokio::test]
async fn localhost_needs_the_operators_word() {
    let fixture = Fixture::start(|_| ok("")).await;
    let url = fixture.url_by_name("localhost", "/");
    let open = crate::Egress::new(settings(&[format!("localhost:{}", fixture.port)])).unwrap();
    assert_eq!(open.fetch("hello", get(&url)).await.unwrap().status, 200);
    let closed = crate::Egress::new(settings(&[])).unwrap();
    assert_eq!(closed.fetch("hello", get(&url)).await.unwrap_err().code(), "private_url");
    assert_eq!(closed.check_url(&url).unwrap_err().code(), "private_url");
    assert_eq!(open.check_url(&url).unwrap().port(), Some(fixture.port));
}
