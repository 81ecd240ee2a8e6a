//! URLs as attackers write them.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use rstest::rstest;

use super::*;

fn code(text: &str) -> &'static str {
    match check_url(text, &AllowList::default()) {
        Ok(_) => "passes",
        Err(error) => error.code(),
    }
}

#[rstest]
fn public_urls_pass(
    #[values(
        "http://example.com",
        "https://example.com/hook?a=b#c",
        "HTTPS://Example.COM:8443/hook",
        "https://8.8.8.8/",
        "http://8.8.8.8:8080/127.0.0.1",
        "http://example.com:1024/",
        "https://example.com:80/",
        "https://[2606:4700:4700::1111]/",
        "https://bücher.example/ä?ö=ü",
        "https://local.example.com/",
        "https://notlocal/",
        "https://mylocalhost.com/",
        "https://internal.example.com/",
        "https://example.com/user@host",
        "https://example.com/?next=http://localhost/"
    )]
    text: &str,
) {
    assert_eq!(code(text), "passes");
}

#[rstest]
#[case::loopback("http://127.0.0.1/")]
#[case::decimal("http://2130706433/")]
#[case::octal("http://0177.0.0.1/")]
#[case::octal_whole("http://017700000001/")]
#[case::hex("http://0x7f.0.0.1/")]
#[case::hex_whole("http://0x7f000001/")]
#[case::short_1("http://127.1/")]
#[case::short_2("http://127.0.1/")]
#[case::mixed("http://0x7f.1/")]
#[case::zero("http://0/")]
#[case::overflow("http://256.256.256.256/")]
#[case::five_parts("http://127.0.0.1.5/")]
#[case::too_big("http://4294967296/")]
#[case::full_width("http://１２７.０.０.１/")]
#[case::circled("http://①②⑦.⓪.⓪.①/")]
#[case::ideographic_dot("http://127。0。0。1/")]
#[case::percent("http://%31%32%37.0.0.1/")]
#[case::percent_name("http://loc%61lhost/")]
#[case::trailing_dot_address("http://127.0.0.1./")]
#[case::public_decimal("http://134744072/")]
#[case::public_hex("http://0x08080808/")]
#[case::public_octal("http://010.010.010.010/")]
#[case::public_trailing_dot("http://8.8.8.8./")]
#[case::localhost("http://localhost/")]
#[case::localhost_port("https://LOCALHOST:8443/")]
#[case::localhost_dot("http://localhost./")]
#[case::localhost_full_width("http://ｌｏｃａｌｈｏｓｔ/")]
#[case::under_localhost("http://a.localhost/")]
#[case::local("http://printer.local/")]
#[case::internal("http://db.internal/")]
#[case::bare_internal("http://internal/")]
#[case::home_arpa("http://nas.home.arpa/")]
#[case::gcp("http://metadata.google.internal/computeMetadata/v1/")]
#[case::gcp_dot("http://metadata.google.internal./")]
#[case::public_name_dot("http://example.com./")]
#[case::aws("http://169.254.169.254/latest/meta-data/")]
#[case::azure("http://168.63.129.16/")]
#[case::oracle("http://192.0.0.192/")]
#[case::alibaba("http://100.100.100.200/")]
#[case::aws_v6("http://[fd00:ec2::254]/")]
#[case::v6_loopback("http://[::1]/")]
#[case::v6_loopback_long("http://[0:0:0:0:0:0:0:1]/")]
#[case::v6_unspecified("http://[::]/")]
#[case::mapped("http://[::ffff:127.0.0.1]/")]
#[case::mapped_hex("http://[::ffff:7f00:1]/")]
#[case::mapped_public("http://[::ffff:8.8.8.8]/")]
#[case::compatible("http://[::127.0.0.1]/")]
#[case::nat64("http://[64:ff9b::127.0.0.1]/")]
#[case::nat64_local("http://[64:ff9b:1::a9fe:a9fe]/")]
#[case::six_to_four("http://[2002:7f00:1::]/")]
#[case::teredo("http://[2001:0:4136:e378:8000:63bf:3fff:fdd2]/")]
#[case::link_local("http://[fe80::1]/")]
#[case::zone("http://[fe80::1%25eth0]/")]
#[case::zone_raw("http://[fe80::1%eth0]/")]
#[case::unique_local("http://[fc00::1]/")]
#[case::site_local("http://[fec0::1]/")]
#[case::multicast("http://[ff02::1]/")]
#[case::file("file:///etc/passwd")]
#[case::gopher("gopher://127.0.0.1:6379/_INFO")]
#[case::ftp("ftp://example.com/")]
#[case::data("data:text/plain,hello")]
#[case::javascript("javascript:alert(1)")]
#[case::websocket("ws://example.com/")]
#[case::blob("blob:https://example.com/1")]
#[case::user("http://user@example.com/")]
#[case::password("http://user:pass@example.com/")]
#[case::empty_user("http://@example.com/")]
#[case::empty_both("http://:@example.com/")]
#[case::user_looks_like_host("http://example.com@127.0.0.1/")]
#[case::user_encoded("http://example.com%40127.0.0.1@example.com/")]
#[case::empty_host("http://")]
#[case::empty_host_path("http:///etc")]
#[case::empty_host_then_host("http:///127.0.0.1/")]
#[case::empty_host_public("https:////example.com/")]
#[case::only_port("http://:80/")]
#[case::mail("http://example.com:25/")]
#[case::shell("https://8.8.8.8:22/")]
#[case::directory_v6("http://[2606:4700:4700::1111]:389/")]
#[case::below_the_free_ports("http://example.com:1023/")]
#[case::port_zero("http://example.com:0/")]
#[case::only_query("http://?x")]
fn hosts_that_are_not_public_are_refused(#[case] text: &str) {
    assert_eq!(code(text), "private_url");
}

#[rstest]
#[case::empty("")]
#[case::relative("/hook")]
#[case::no_scheme("example.com/hook")]
#[case::protocol_relative("//example.com/")]
#[case::no_slashes("https:example.com")]
#[case::one_slash("https:/example.com")]
#[case::leading_tab("\thttp://example.com/")]
#[case::leading_space(" http://example.com/")]
#[case::newline_in_scheme("ht\ntp://example.com/")]
#[case::newline_in_host("http://exam\nple.com/")]
#[case::return_in_path("http://example.com/\r\nX-Injected: 1")]
#[case::null("http://example.com/\0")]
#[case::backslash("http://example.com\\@127.0.0.1/")]
#[case::backslashes("http:\\\\127.0.0.1\\")]
#[case::no_break_space("http://example.com/\u{a0}")]
#[case::bad_port("http://example.com:99999/")]
#[case::two_ports("http://example.com:80:80/")]
#[case::forbidden_in_host("http://exa<mple.com/")]
#[case::encoded_slash_in_host("http://127.0.0.1%2f.example.com/")]
#[case::encoded_null_in_host("http://127.0.0.1%00.example.com/")]
#[case::open_bracket("http://[::1/")]
fn malformed_urls_are_refused(#[case] text: &str) {
    let found = code(text);
    assert!(found == "bad_url" || found == "private_url", "{found}");
}

#[rstest]
#[case(512, "passes")]
#[case(513, "bad_url")]
fn the_length_is_counted_in_characters(#[case] length: usize, #[case] expected: &str) {
    let start = "https://example.com/";
    let text = format!("{start}{}", "ü".repeat(length - start.len()));
    assert_eq!(text.chars().count(), length);
    assert_eq!(code(&text), expected);
}

#[test]
fn a_request_url_may_be_longer_than_a_stored_one() {
    let allow = AllowList::default();
    let of_length = |length: usize| format!("https://example.com/{}", "a".repeat(length - 20));
    check_request_url(&of_length(REQUEST_URL_BYTES_MAX), &allow).unwrap();
    let error = check_request_url(&of_length(REQUEST_URL_BYTES_MAX + 1), &allow).unwrap_err();
    assert_eq!(error.code(), "bad_url");
}

#[rstest]
#[case("127.0.0.1:8080", "http://127.0.0.1:8080/", "passes")]
#[case("127.0.0.1:8080", "http://127.0.0.1/", "private_url")]
#[case("127.0.0.1:8080", "http://127.0.0.1:8081/", "private_url")]
#[case("127.0.0.1:8080", "http://127.0.0.2:8080/", "private_url")]
#[case("127.0.0.1:8080", "http://localhost:8080/", "private_url")]
#[case("127.0.0.1:8080", "http://[::ffff:127.0.0.1]:8080/", "private_url")]
#[case("127.0.0.1:8080", "http://[::1]:8080/", "private_url")]
#[case("127.0.0.1:8080", "http://0x7f000001:8080/", "private_url")]
#[case("127.0.0.1:8080", "http://user@127.0.0.1:8080/", "private_url")]
#[case("127.0.0.1:8080", "ftp://127.0.0.1:8080/", "private_url")]
#[case("127.0.0.1:443", "https://127.0.0.1/", "passes")]
#[case("localhost", "http://localhost:1234/", "passes")]
#[case("localhost", "http://a.localhost:1234/", "private_url")]
#[case("localhost", "http://localhost./", "private_url")]
#[case("localhost", "http://127.0.0.1/", "private_url")]
#[case("db.internal:80", "http://db.internal/", "passes")]
#[case("db.internal:80", "https://db.internal/", "private_url")]
#[case("10.0.0.0/8", "http://10.1.2.3/", "passes")]
#[case("mail.example:25", "http://mail.example:25/", "passes")]
#[case("mail.example:25", "http://mail.example:26/", "private_url")]
#[case("8.8.8.8:53", "http://8.8.8.8:53/", "passes")]
#[case("10.0.0.0/8", "http://192.168.0.1/", "private_url")]
fn the_allow_list_permits_what_it_names(#[case] entry: &str, #[case] text: &str, #[case] expected: &str) {
    let allow = AllowList::parse(&[entry]).unwrap();
    let found = check_url(text, &allow).map_or_else(|error| error.code(), |_| "passes");
    assert_eq!(found, expected);
}

#[test]
fn the_reason_names_the_range_and_not_the_path() {
    let error = check_url("http://10.1.2.3/secret?token=1", &AllowList::default()).unwrap_err();
    assert_eq!(error.to_string(), "the URL's host \"10.1.2.3\" is not public: a private network (10.0.0.0/8)");
    assert_eq!(error.status(), 400);
}

#[test]
fn the_parsed_url_is_returned() {
    let url = check_url("HTTPS://Example.COM:443/Path", &AllowList::default()).unwrap();
    assert_eq!(url.as_str(), "https://example.com/Path");
}
