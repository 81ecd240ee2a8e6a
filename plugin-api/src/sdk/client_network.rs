//! Which addresses count as one client. Rule: every limit per client uses this, so that a host with many addresses
//! cannot evade it.

use std::net::{IpAddr, Ipv6Addr};

/// The /64 network of an IPv6 address, because one host owns all of it; an IPv4 address itself, also when it is written
/// as IPv6.
pub fn client_network(ip: IpAddr) -> IpAddr {
    match ip.to_canonical() {
        IpAddr::V6(ip) => IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !u128::from(u64::MAX))),
        ip @ IpAddr::V4(_) => ip,
    }
}

/// The /48 network of an IPv6 address, which one customer of a provider may own; `None` for an IPv4 address.
pub fn client_site(ip: IpAddr) -> Option<IpAddr> {
    match ip.to_canonical() {
        IpAddr::V6(ip) => Some(IpAddr::V6(Ipv6Addr::from_bits(ip.to_bits() & !(u128::MAX >> 48)))),
        IpAddr::V4(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{client_network, client_site};

    #[test]
    fn an_ipv6_48_is_one_site() {
        for (ip, site) in [
            ("192.0.2.7", None),
            ("::ffff:192.0.2.7", None),
            ("2001:db8:1:2:3:4:5:6", Some("2001:db8:1::")),
            ("2001:db8:1:ffff::", Some("2001:db8:1::")),
        ] {
            assert_eq!(ip.parse().map(client_site), Ok(site.and_then(|site| site.parse().ok())));
        }
    }

    #[test]
    fn an_ipv6_64_is_one_client() {
        for (ip, client) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::", "2001:db8:1:2::"),
        ] {
            assert_eq!(ip.parse().map(client_network), client.parse());
        }
    }
}
