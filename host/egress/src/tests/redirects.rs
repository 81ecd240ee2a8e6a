//! Redirects are URLs from outside, and are checked like any other.

use rstest::rstest;

use super::fixture::*;
use crate::{EgressError, FetchRequest, FetchResponse};

fn following(method: &str, url: &str, redirects_max: u8) -> FetchRequest {
    let mut request = FetchRequest::new(method, url);
    request.redirects_max = redirects_max;
    request
}

async fn follow(fixture: &Fixture, request: FetchRequest) -> Result<FetchResponse, EgressError> {
    egress(&[fixture.allow_entry()]).fetch("hello", request).await
}

#[rstest]
#[case::private("http://10.0.0.1/", "private_url")]
#[case::metadata("http://169.254.169.254/latest/meta-data/", "private_url")]
#[case::decimal("http://2130706433/", "private_url")]
#[case::other_port("http://127.0.0.1:1/", "private_url")]
#[case::v6("http://[::1]/", "private_url")]
#[case::name("http://localhost/", "private_url")]
#[case::protocol_relative("//metadata.google.internal/", "private_url")]
#[case::name_that_resolves_inside("http://inside.test/", "private_url")]
#[case::backslash("\\\\10.0.0.1\\", "private_url")]
#[case::file("file:///etc/passwd", "private_url")]
#[case::gopher("gopher://127.0.0.1:6379/_INFO", "private_url")]
#[case::credentials("http://user:pass@8.8.8.8/", "private_url")]
#[case::unresolvable("http://gone.test/", "unresolvable_url")]
#[case::no_url("http://[", "bad_redirect")]
#[case::not_ascii("http://\u{fffd}/", "bad_redirect")]
#[tokio::test]
async fn a_redirect_to_a_special_address_is_refused(#[case] location: &'static str, #[case] expected: &str) {
    let fixture = Fixture::start(move |_| redirect(302, location)).await;
    let resolver = ScriptedResolver::new(&[("inside.test", &[&["192.168.0.1"]])]);
    let egress = egress_with(settings(&[fixture.allow_entry()]), &resolver);
    let error = egress.fetch("hello", following("GET", &fixture.url("/"), 3)).await.unwrap_err();
    assert_eq!(error.code(), expected, "{error}");
    assert_eq!(fixture.connections(), 1);
}

#[tokio::test]
async fn by_default_a_redirect_is_the_response() {
    let fixture = Fixture::start(|_| redirect(302, "http://10.0.0.1/")).await;
    let response = follow(&fixture, get(&fixture.url("/"))).await.unwrap();
    assert_eq!(response.status, 302);
    assert!(response.headers.contains(&("location".to_owned(), "http://10.0.0.1/".to_owned())));
}

#[tokio::test]
async fn a_redirect_without_location_is_the_response() {
    let fixture =
        Fixture::start(|_| ServerScript::Bytes(b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n".to_vec())).await;
    let response = follow(&fixture, following("GET", &fixture.url("/"), 3)).await.unwrap();
    assert_eq!(response.status, 302);
}

/// `/3` redirects three times until `/0` responses.
async fn countdown() -> Fixture {
    Fixture::start(|request| match request.path().trim_start_matches('/').parse::<u8>() {
        Ok(left) if left > 0 => redirect(307, &format!("/{}", left - 1)),
        _ => ok("there"),
    })
    .await
}

#[rstest]
#[case(1, 1, true)]
#[case(2, 1, false)]
#[case(3, 3, true)]
#[case(4, 3, false)]
#[case(4, 255, false)]
#[tokio::test]
async fn redirects_are_counted(#[case] sent: u8, #[case] redirects_max: u8, #[case] arrives: bool) {
    let fixture = countdown().await;
    let outcome = follow(&fixture, following("GET", &fixture.url(&format!("/{sent}")), redirects_max)).await;
    assert_eq!(fixture.connections(), usize::from(sent.min(redirects_max.min(3))) + 1);
    match outcome {
        Ok(response) => assert_eq!((arrives, response.url), (true, fixture.url("/0"))),
        Err(error) => assert_eq!((arrives, error.code()), (false, "redirect_limit")),
    }
}

#[tokio::test]
async fn a_redirect_loop_ends() {
    let fixture = Fixture::start(|_| redirect(301, "/")).await;
    let error = follow(&fixture, following("GET", &fixture.url("/"), 3)).await.unwrap_err();
    assert_eq!((error.code(), error.status()), ("redirect_limit", 502));
    assert_eq!(fixture.connections(), 4);
}

#[rstest]
#[case(301, "POST", "GET /0", false)]
#[case(302, "POST", "GET /0", false)]
#[case(303, "PUT", "GET /0", false)]
#[case(303, "HEAD", "HEAD /0", false)]
#[case(307, "POST", "POST /0", true)]
#[case(308, "PUT", "PUT /0", true)]
#[tokio::test]
async fn the_status_decides_method_and_body(
    #[case] status: u16,
    #[case] method: &str,
    #[case] line: &str,
    #[case] keeps_body: bool,
) {
    let fixture = Fixture::start(move |request| match request.path() {
        "/" => redirect(status, "/0"),
        _ => ServerScript::Bytes(b"HTTP/1.1 204 No Content\r\n\r\n".to_vec()),
    })
    .await;
    let mut request = following(method, &fixture.url("/"), 3);
    request.headers = vec![("Content-Type".into(), "text/plain".into()), ("X-Mine".into(), "1".into())];
    if method != "HEAD" {
        request.body = "body".into();
    }
    follow(&fixture, request).await.unwrap();
    let second = &fixture.requests()[1];
    assert_eq!(second.line(), line);
    assert_eq!(second.body == b"body", keeps_body);
    assert_eq!(second.header("content-type").is_some(), keeps_body);
    assert_eq!(second.header("x-mine"), Some("1"), "the origin is the same");
}

/// Another port is another origin. Headers that are dropped there stay dropped on the way back.
#[tokio::test]
async fn headers_are_dropped_for_good_at_a_change_of_origin() {
    let second = Fixture::start(|request| {
        let back = request.path().trim_start_matches("/to/").to_owned();
        redirect(307, &format!("http://127.0.0.1:{back}/back"))
    })
    .await;
    let away = second.port;
    let first = Fixture::start(move |request| match request.path() {
        "/back" => ok("back"),
        path => redirect(307, &format!("http://127.0.0.1:{away}/to{path}")),
    })
    .await;
    let egress = egress(&[first.allow_entry(), second.allow_entry()]);
    let mut request = following("POST", &first.url(&format!("/{}", first.port)), 3);
    request.headers = vec![("Authorization".into(), "Bearer secret".into()), ("X-Mine".into(), "1".into())];
    request.body = "body".into();
    assert_eq!(&egress.fetch("hello", request).await.unwrap().body[..], b"back");
    let (sent, away, back) = (&first.requests()[0], &second.requests()[0], &first.requests()[1]);
    assert_eq!(sent.header("authorization"), Some("Bearer secret"));
    for later in [away, back] {
        assert_eq!((later.header("authorization"), later.header("x-mine")), (None, None));
        assert_eq!(later.body, b"body");
        assert!(later.header("user-agent").is_some());
    }
}
