//! The client IP behind trusted proxies.

use super::fixture::{Client, settings, start};
use gateway_config::HttpConfig;
use rstest::rstest;

const PEER: &str = "127.0.0.1";

#[rstest]
#[case::no_trusted_proxy(0, "x-forwarded-for: 1.2.3.4\r\n", PEER)]
#[case::no_header(1, "", PEER)]
#[case::one_hop(1, "x-forwarded-for: 1.2.3.4\r\n", "1.2.3.4")]
#[case::one_hop_spoofed(1, "x-forwarded-for: 6.6.6.6, 1.2.3.4\r\n", "1.2.3.4")]
#[case::one_hop_spoofed_in_its_own_line(1, "x-forwarded-for: 6.6.6.6\r\nx-forwarded-for: 1.2.3.4\r\n", "1.2.3.4")]
#[case::two_hops(2, "x-forwarded-for: 1.2.3.4, 10.0.0.1\r\n", "1.2.3.4")]
#[case::two_hops_spoofed(2, "x-forwarded-for: 6.6.6.6,1.2.3.4,10.0.0.1\r\n", "1.2.3.4")]
#[case::two_hops_over_two_lines(2, "x-forwarded-for: 6.6.6.6, 1.2.3.4\r\nx-forwarded-for: 10.0.0.1\r\n", "1.2.3.4")]
#[case::fewer_than_configured(2, "x-forwarded-for: 1.2.3.4\r\n", "1.2.3.4")]
#[case::garbage(1, "x-forwarded-for: 1.2.3.4, unknown\r\n", PEER)]
#[case::empty(1, "x-forwarded-for: \r\n", PEER)]
#[case::empty_entry(1, "x-forwarded-for: 1.2.3.4,\r\n", PEER)]
#[case::with_port(1, "x-forwarded-for: 1.2.3.4:5678\r\n", "1.2.3.4")]
#[case::ipv6(1, "x-forwarded-for: 2001:db8::1\r\n", "2001:db8::1")]
#[case::ipv6_in_brackets(1, "x-forwarded-for: [2001:db8::1]\r\n", "2001:db8::1")]
#[case::ipv6_with_port(1, "x-forwarded-for: [2001:db8::1]:443\r\n", "2001:db8::1")]
#[case::mapped(1, "x-forwarded-for: ::ffff:1.2.3.4\r\n", "1.2.3.4")]
#[tokio::test]
async fn the_client_ip_is_the_one_that_the_last_trusted_proxy_saw(
    #[case] trusted_proxy_hops: usize,
    #[case] headers: &str,
    #[case] client: &str,
) {
    let server = start(&HttpConfig { trusted_proxy_hops, ..settings() });
    let response = Client::connect(server.addr).await.get_with("/who", headers).await;
    assert_eq!(response.text().split(' ').next(), Some(client));
}
