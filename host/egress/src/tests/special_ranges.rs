//! Every special range at both edges, its neighbours, and IPv4 addresses embedded in IPv6 ones.
#![allow(clippy::unwrap_used, reason = "tests")]

use proptest::prelude::*;
use rstest::rstest;

use super::*;

#[rstest]
#[case("0.0.0.0", "0.255.255.255", "this network")]
#[case("10.0.0.0", "10.255.255.255", "private")]
#[case("100.64.0.0", "100.127.255.255", "carrier")]
#[case("100.100.100.200", "100.100.100.200", "metadata")]
#[case("127.0.0.0", "127.255.255.255", "loopback")]
#[case("168.63.129.16", "168.63.129.16", "cloud platform")]
#[case("169.254.0.0", "169.254.255.255", "link-local")]
#[case("169.254.169.254", "169.254.169.254", "metadata")]
#[case("172.16.0.0", "172.31.255.255", "private")]
#[case("192.0.0.0", "192.0.0.255", "protocol")]
#[case("192.0.0.192", "192.0.0.192", "metadata")]
#[case("192.0.2.0", "192.0.2.255", "documentation")]
#[case("192.88.99.0", "192.88.99.255", "6to4")]
#[case("192.168.0.0", "192.168.255.255", "private")]
#[case("198.18.0.0", "198.19.255.255", "benchmarking")]
#[case("198.51.100.0", "198.51.100.255", "documentation")]
#[case("203.0.113.0", "203.0.113.255", "documentation")]
#[case("224.0.0.0", "239.255.255.255", "multicast")]
#[case("240.0.0.0", "255.255.255.254", "reserved")]
#[case("255.255.255.255", "255.255.255.255", "broadcast")]
#[case("::", "::", "unspecified")]
#[case("::1", "::1", "loopback")]
#[case("::2", "::ffff:ffff", "compatible")]
#[case("::ffff:0.0.0.0", "::ffff:255.255.255.255", "mapped")]
#[case("::ffff:0:0:0", "::ffff:0:255.255.255.255", "translated")]
#[case("64:ff9b::", "64:ff9b::ffff:ffff", "NAT64")]
#[case("64:ff9b:1::", "64:ff9b:1:ffff:ffff:ffff:ffff:ffff", "local NAT64")]
#[case("100::", "100::ffff:ffff:ffff:ffff", "discard")]
#[case("100:0:0:1::", "1fff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "outside global unicast")]
#[case("2001::", "2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff", "Teredo")]
#[case("2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "documentation")]
#[case("2002::", "2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "6to4")]
#[case("3fff::", "3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff", "documentation")]
#[case("4000::", "5eff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "outside global unicast")]
#[case("5f00::", "5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "segment routing")]
#[case("fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "private")]
#[case("fd00:ec2::254", "fd00:ec2::254", "metadata")]
#[case("fe80::", "febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "link-local")]
#[case("fec0::", "feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "site-local")]
#[case("ff00::", "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "multicast")]
fn special_ranges_are_refused_from_first_to_last(#[case] first: IpAddr, #[case] last: IpAddr, #[case] reason: &str) {
    for address in [first, last] {
        let found = special_range(address).unwrap_or("public");
        assert!(found.contains(reason), "{address}: {found}");
        assert!(special_range(address).is_some());
    }
}

#[rstest]
fn neighbours_of_special_ranges_are_public(
    #[values(
        "1.0.0.0",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "168.63.129.15",
        "168.63.129.17",
        "169.253.255.255",
        "169.255.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "191.255.255.255",
        "192.0.1.0",
        "192.0.3.0",
        "192.88.98.255",
        "192.88.100.0",
        "192.167.255.255",
        "192.169.0.0",
        "198.17.255.255",
        "198.20.0.0",
        "198.51.99.255",
        "198.51.101.0",
        "203.0.112.255",
        "203.0.114.0",
        "223.255.255.255",
        "8.8.8.8",
        "2000::",
        "2001:200::",
        "2001:db7:ffff::",
        "2001:db9::",
        "2003::",
        "2606:4700:4700::1111",
        "3ffe:ffff::",
        "3fff:1000::"
    )]
    address: IpAddr,
) {
    assert_eq!(special_range(address), None);
    assert!(special_range(address).is_none());
}

/// The five ways to embed an IPv4 address in an IPv6 one that reach it on some network.
fn embeddings(inner: Ipv4Addr) -> Vec<Ipv6Addr> {
    let [a, b, c, d] = inner.octets();
    let [high, low] = [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])];
    vec![
        inner.to_ipv6_mapped(),
        Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low),
        Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low),
        Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1),
        // Teredo: the client's address, all bits inverted
        Ipv6Addr::new(0x2001, 0, 0x4136, 0xe378, 0x8000, 0x63bf, !high, !low),
    ]
}

fn special_v4() -> impl Strategy<Value = Ipv4Addr> {
    (0..SPECIAL_V4.len(), any::<u32>()).prop_map(|(row, host)| {
        let net = SPECIAL_V4[row].0;
        Ipv4Addr::from_bits(net.network().to_bits() | (host & net.hostmask().to_bits()))
    })
}

proptest! {
    #[test]
    fn special_ipv4_addresses_are_refused(inner in special_v4()) {
        prop_assert!(special_range(inner.into()).is_some(), "{}", inner);
        for embedded in embeddings(inner) {
            prop_assert!(special_range(embedded.into()).is_some(), "{} as {}", inner, embedded);
        }
    }

    #[test]
    fn urls_with_special_ipv4_addresses_are_refused(inner in special_v4()) {
        let allow = crate::AllowList::default();
        let bits = inner.to_bits();
        let [a, b, c, d] = inner.octets();
        let mut hosts = vec![
            inner.to_string(), bits.to_string(), format!("{bits:#x}"), format!("0{bits:o}"),
            format!("0{a:o}.0{b:o}.0{c:o}.0{d:o}"), format!("{a:#x}.{b:#x}.{c:#x}.{d:#x}"),
            format!("{a}.{}", bits & 0xff_ffff), format!("{inner}."),
        ];
        hosts.extend(embeddings(inner).into_iter().map(|embedded| format!("[{embedded}]")));
        for host in hosts {
            let url = format!("http://{host}/");
            let refused = crate::check_url(&url, &allow);
            prop_assert!(matches!(&refused, Err(error) if error.code() == "private_url"), "{url}: {refused:?}");
        }
    }

    /// Nothing outside 2000::/3 is assigned on the internet.
    #[test]
    fn only_global_unicast_ipv6_passes(bits in any::<u128>()) {
        let address = Ipv6Addr::from_bits(bits);
        prop_assert!(bits >> 125 == 1 || special_range(address.into()).is_some(), "{}", address);
    }
}
