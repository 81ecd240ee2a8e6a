//! Which IP addresses are public.
//!
//! The rule that must not break: an address is refused unless it is known to be public. The standard library's
//! `is_private`, `is_loopback` and the like miss many of these ranges, hence this table.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use ipnet::{Ipv4Net, Ipv6Net};

/// The range of an address that is not public, from the first row that contains it.
pub(crate) fn special_range(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => SPECIAL_V4.iter().find(|(net, _)| net.contains(&address)).map(|(_, reason)| *reason),
        IpAddr::V6(address) => SPECIAL_V6
            .iter()
            .find(|(net, _)| net.contains(&address))
            .map(|(_, reason)| *reason)
            // No other block is assigned; when one is, it gets a row here.
            .or_else(|| (!GLOBAL_UNICAST_V6.contains(&address)).then_some("an IPv6 address outside global unicast")),
    }
}

const GLOBAL_UNICAST_V6: Ipv6Net = v6([0x2000, 0, 0, 0, 0, 0, 0, 0], 3);

/// Single addresses stand before the blocks that contain them.
const SPECIAL_V4: &[(Ipv4Net, &str)] = &[
    (v4([169, 254, 169, 254], 32), "a cloud metadata address"),
    (v4([100, 100, 100, 200], 32), "a cloud metadata address"),
    (v4([192, 0, 0, 192], 32), "a cloud metadata address"),
    (v4([168, 63, 129, 16], 32), "a cloud platform address"),
    (v4([0, 0, 0, 0], 8), "this network (0.0.0.0/8)"),
    (v4([10, 0, 0, 0], 8), "a private network (10.0.0.0/8)"),
    (v4([100, 64, 0, 0], 10), "shared carrier space (100.64.0.0/10)"),
    (v4([127, 0, 0, 0], 8), "loopback (127.0.0.0/8)"),
    (v4([169, 254, 0, 0], 16), "link-local (169.254.0.0/16)"),
    (v4([172, 16, 0, 0], 12), "a private network (172.16.0.0/12)"),
    (v4([192, 0, 0, 0], 24), "protocol assignments (192.0.0.0/24)"),
    (v4([192, 0, 2, 0], 24), "documentation (192.0.2.0/24)"),
    (v4([192, 88, 99, 0], 24), "the 6to4 relay (192.88.99.0/24)"),
    (v4([192, 168, 0, 0], 16), "a private network (192.168.0.0/16)"),
    (v4([198, 18, 0, 0], 15), "benchmarking (198.18.0.0/15)"),
    (v4([198, 51, 100, 0], 24), "documentation (198.51.100.0/24)"),
    (v4([203, 0, 113, 0], 24), "documentation (203.0.113.0/24)"),
    (v4([224, 0, 0, 0], 4), "multicast (224.0.0.0/4)"),
    (v4([255, 255, 255, 255], 32), "broadcast (255.255.255.255)"),
    (v4([240, 0, 0, 0], 4), "reserved (240.0.0.0/4)"),
];

/// Forms that contain an IPv4 address are refused altogether: where they lead depends on the gateway's network.
const SPECIAL_V6: &[(Ipv6Net, &str)] = &[
    (v6([0; 8], 128), "the unspecified address"),
    (v6([0, 0, 0, 0, 0, 0, 0, 1], 128), "loopback"),
    (v6([0xfd00, 0x0ec2, 0, 0, 0, 0, 0, 0x0254], 128), "a cloud metadata address"),
    (v6([0, 0, 0, 0, 0, 0xffff, 0, 0], 96), "an IPv4-mapped address (::ffff:0:0/96)"),
    (v6([0, 0, 0, 0, 0xffff, 0, 0, 0], 96), "an IPv4-translated address (::ffff:0:0:0/96)"),
    (v6([0; 8], 96), "an IPv4-compatible address (::/96)"),
    (v6([0x0064, 0xff9b, 0, 0, 0, 0, 0, 0], 96), "NAT64 (64:ff9b::/96)"),
    (v6([0x0064, 0xff9b, 1, 0, 0, 0, 0, 0], 48), "local NAT64 (64:ff9b:1::/48)"),
    (v6([0x0100, 0, 0, 0, 0, 0, 0, 0], 64), "discard only (100::/64)"),
    (v6([0x2001, 0, 0, 0, 0, 0, 0, 0], 23), "protocol assignments, Teredo among them (2001::/23)"),
    (v6([0x2001, 0x0db8, 0, 0, 0, 0, 0, 0], 32), "documentation (2001:db8::/32)"),
    (v6([0x2002, 0, 0, 0, 0, 0, 0, 0], 16), "6to4 (2002::/16)"),
    (v6([0x3fff, 0, 0, 0, 0, 0, 0, 0], 20), "documentation (3fff::/20)"),
    (v6([0x5f00, 0, 0, 0, 0, 0, 0, 0], 16), "segment routing (5f00::/16)"),
    (v6([0xfc00, 0, 0, 0, 0, 0, 0, 0], 7), "a private network (fc00::/7)"),
    (v6([0xfe80, 0, 0, 0, 0, 0, 0, 0], 10), "link-local (fe80::/10)"),
    (v6([0xfec0, 0, 0, 0, 0, 0, 0, 0], 10), "site-local (fec0::/10)"),
    (v6([0xff00, 0, 0, 0, 0, 0, 0, 0], 8), "multicast (ff00::/8)"),
];

const fn v4(octets: [u8; 4], prefix: u8) -> Ipv4Net {
    Ipv4Net::new_assert(Ipv4Addr::from_octets(octets), prefix)
}

const fn v6(segments: [u16; 8], prefix: u8) -> Ipv6Net {
    Ipv6Net::new_assert(Ipv6Addr::from_segments(segments), prefix)
}

#[cfg(test)]
#[path = "tests/special_ranges.rs"]
mod tests;
