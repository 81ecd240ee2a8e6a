//! Addresses that are not public and that the operator allows. The rule: an entry allows exactly what it names.

use std::net::{IpAddr, SocketAddr};

use ipnet::IpNet;

/// Parsed `allow_hosts`; empty by default, so that only public addresses can be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowList(Vec<Entry>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    host: Host,
    port: Option<u16>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Host {
    Name(String),
    Net(IpNet),
}

impl AllowList {
    /// The error lists every entry that cannot be parsed.
    pub fn parse<S: AsRef<str>>(entries: &[S]) -> Result<Self, Vec<String>> {
        let mut parsed = Vec::new();
        let mut problems = Vec::new();
        for text in entries.iter().map(AsRef::as_ref) {
            match Entry::parse(text) {
                Some(entry) => parsed.push(entry),
                None => problems.push(format!(
                    "allow_hosts: {text:?} is none of name, name:port, address, address:port, [v6]:port, CIDR"
                )),
            }
        }
        if problems.is_empty() { Ok(Self(parsed)) } else { Err(problems) }
    }

    /// Whether the name itself is allowed: it may then be local and resolve to any address.
    pub fn permits_name(&self, name: &str, port: u16) -> bool {
        self.permits(port, |host| matches!(host, Host::Name(allowed) if allowed == name))
    }

    /// Whether the address is allowed in this notation: `127.0.0.1` does not allow `::ffff:127.0.0.1`.
    pub fn permits_address(&self, address: IpAddr, port: u16) -> bool {
        self.permits(port, |host| matches!(host, Host::Net(net) if net.contains(&address)))
    }

    fn permits(&self, port: u16, matches: impl Fn(&Host) -> bool) -> bool {
        self.0.iter().any(|entry| entry.port.is_none_or(|only| only == port) && matches(&entry.host))
    }
}

impl Entry {
    fn parse(text: &str) -> Option<Self> {
        let net = |address: IpAddr| Host::Net(IpNet::from(address));
        if let Ok(cidr) = text.parse::<IpNet>() {
            return Some(Self { host: Host::Net(cidr), port: None });
        }
        let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if let Ok(address) = bare.unwrap_or(text).parse::<IpAddr>() {
            return Some(Self { host: net(address), port: None });
        }
        if let Ok(socket) = text.parse::<SocketAddr>() {
            return Some(Self { host: net(socket.ip()), port: Some(socket.port()) });
        }
        let (name, port) = match text.split_once(':') {
            Some((name, port)) => (name, Some(port.parse().ok()?)),
            None => (text, None),
        };
        Some(Self { host: Host::Name(parse_name(name)?), port })
    }
}

/// A host name in the URL parser's form, so that the two can be compared; no wildcard, no unusual form of an address.
fn parse_name(text: &str) -> Option<String> {
    let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    if !text.bytes().all(is_allowed) || text.ends_with('.') {
        return None;
    }
    match url::Host::parse(text) {
        Ok(url::Host::Domain(name)) => Some(name),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case("127.0.0.1:8080", "127.0.0.1", 8080, true)]
    #[case("127.0.0.1:8080", "127.0.0.1", 8081, false)]
    #[case("127.0.0.1:8080", "127.0.0.2", 8080, false)]
    #[case("127.0.0.1:8080", "::1", 8080, false)]
    #[case("127.0.0.1", "127.0.0.1", 1, true)]
    #[case("127.0.0.1", "::ffff:127.0.0.1", 1, false)]
    #[case("0.0.0.0/0", "::ffff:127.0.0.1", 1, false)]
    #[case("10.0.0.0/8", "10.255.0.1", 443, true)]
    #[case("10.0.0.0/8", "11.0.0.1", 443, false)]
    #[case("[::1]:8080", "::1", 8080, true)]
    #[case("[::1]:8080", "::1", 80, false)]
    #[case("::1", "::1", 80, true)]
    #[case("[::1]", "::1", 80, true)]
    #[case("fd00::/8", "fd12::1", 80, true)]
    #[case("localhost", "127.0.0.1", 80, false)]
    fn an_entry_permits_its_addresses(
        #[case] entry: &str,
        #[case] address: IpAddr,
        #[case] port: u16,
        #[case] is_permitted: bool,
    ) {
        let allow = AllowList::parse(&[entry]).unwrap();
        assert_eq!(allow.permits_address(address, port), is_permitted);
    }

    #[rstest]
    #[case("localhost", "localhost", 1, true)]
    #[case("LocalHost:80", "localhost", 80, true)]
    #[case("localhost:80", "localhost", 81, false)]
    #[case("localhost", "a.localhost", 80, false)]
    #[case("a.test", "test", 80, false)]
    #[case("127.0.0.1:80", "localhost", 80, false)]
    fn an_entry_permits_its_name(
        #[case] entry: &str,
        #[case] name: &str,
        #[case] port: u16,
        #[case] is_permitted: bool,
    ) {
        let allow = AllowList::parse(&[entry]).unwrap();
        assert_eq!(allow.permits_name(name, port), is_permitted);
    }

    #[rstest]
    fn invalid_entries_are_reported(
        #[values(
            "",
            "*",
            "*.test",
            "a b",
            "127.1",
            "0x7f.1",
            "2130706433",
            "a:b:c",
            "a:99999",
            "a:",
            "http://a",
            "a/b",
            "10.0.0.0/33",
            "a.",
            "ä.test",
            "user@a",
            "[[::1]]",
            "[::1",
            "[a.test]"
        )]
        entry: &str,
    ) {
        let problems = AllowList::parse(&["fine.test", entry]).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].contains(&format!("{entry:?}")), "{problems:?}");
    }
}
