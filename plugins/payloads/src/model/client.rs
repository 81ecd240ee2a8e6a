//! Clients of the daily upload limit.

use std::net::{IpAddr, Ipv6Addr};

/// An IPv4 address, or an IPv6 /64, the smallest network of one household. The gateway's limits per IP use the same rule.
pub fn client_of(ip: &str) -> String {
    match ip.parse::<IpAddr>().map(|ip| ip.to_canonical()) {
        Ok(IpAddr::V6(ip)) => Ipv6Addr::from(u128::from(ip) & !u128::from(u64::MAX)).to_string(),
        Ok(ip) => ip.to_string(),
        Err(_) => ip.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ipv6_64_is_one_client() {
        for (ip, client) in [
            ("192.0.2.7", "192.0.2.7"),
            ("::ffff:192.0.2.7", "192.0.2.7"),
            ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
            ("2001:db8:1:2::", "2001:db8:1:2::"),
            ("unknown", "unknown"),
        ] {
            assert_eq!(client_of(ip), client);
        }
    }
}
