//! Whether a URL may be requested, judged by its text alone.
//!
//! The rule that must not break: the host is checked in the form that the URL parser returns, never as it was written,
//! because `0x7f.1`, `2130706433`, full-width digits and `%31` all become 127.0.0.1. Unusual spellings are refused as
//! well.

use std::net::IpAddr;

use url::{Host, ParseError, Url};

use super::{allow_list::AllowList, error::EgressError, special_ranges::special_range};

/// The longest URL that may be stored.
pub(crate) const URL_CHARS_MAX: usize = 512;
/// The longest URL that is requested: stored ones get paths and queries appended, and redirects carry tokens.
const REQUEST_URL_BYTES_MAX: usize = 8 * 1024;
const OTHER_PORT: &str = "ports other than 80, 443 and those from 1024 need egress.allow_hosts";
/// Names, and all names under them, that never leave the machine or its network.
const LOCAL_NAMES: &[&str] =
    &["localhost", "localdomain", "local", "internal", "home.arpa", "ip6-localhost", "ip6-loopback"];

/// Checks a URL before it is stored: syntax, host name and IP literal. Nothing is resolved, so a fetch checks the
/// addresses again.
pub fn check_url(text: &str, allow: &AllowList) -> Result<Url, EgressError> {
    if text.chars().count() > URL_CHARS_MAX {
        return Err(EgressError::BadUrl { problem: "is longer than 512 characters" });
    }
    check_request_url(text, allow)
}

/// The same for a URL that is requested now.
pub(super) fn check_request_url(text: &str, allow: &AllowList) -> Result<Url, EgressError> {
    // The parser drops tabs and newlines and reads `\` as `/`; other parsers of the same text do not.
    if text.chars().any(|c| c.is_whitespace() || c.is_control() || c == '\\') {
        return Err(EgressError::BadUrl { problem: "contains white space, a control character or a backslash" });
    }
    let url = Url::parse(text).map_err(|error| match error {
        ParseError::EmptyHost => private_url_error("", "it is empty"),
        ParseError::InvalidIpv4Address | ParseError::InvalidIpv6Address => {
            private_url_error(host_text(text), "it is not a valid address")
        }
        _ => EgressError::BadUrl { problem: "is not an absolute http or https URL" },
    })?;
    check_target(&url, allow)?;
    check_spelling(text, &url)?;
    Ok(url)
}

/// The checks of every hop, redirects included.
pub(super) fn check_target(url: &Url, allow: &AllowList) -> Result<(), EgressError> {
    let refuse = |reason| Err(private_url_error(&host_of(url), reason));
    if !matches!(url.scheme(), "http" | "https") {
        return refuse("only http and https are called");
    }
    if url.as_str().len() > REQUEST_URL_BYTES_MAX {
        return Err(EgressError::BadUrl { problem: "is too long to be called" });
    }
    if !url.username().is_empty() || url.password().is_some() {
        return refuse("a user name or password stands before it");
    }
    let port = port_of(url);
    match url.host() {
        None | Some(Host::Domain("")) => refuse("it is empty"),
        Some(Host::Domain(name)) if name.ends_with('.') => refuse("it ends with a dot"),
        Some(Host::Domain(name)) if is_local_name(name) && !allow.permits_name(name, port) => {
            refuse("the name is local")
        }
        Some(Host::Domain(name)) if !is_web_port(port) && !allow.permits_name(name, port) => refuse(OTHER_PORT),
        Some(Host::Domain(_)) => Ok(()),
        Some(Host::Ipv4(address)) => check_literal(url, address.into(), allow),
        Some(Host::Ipv6(address)) => check_literal(url, address.into(), allow),
    }
}

/// Checks an address that stands in the URL.
fn check_literal(url: &Url, address: IpAddr, allow: &AllowList) -> Result<(), EgressError> {
    let port = port_of(url);
    if !is_web_port(port) && !allow.permits_address(address, port) {
        return Err(private_url_error(&host_of(url), OTHER_PORT));
    }
    check_address(url, address, allow)
}

/// The web's own ports, and those that every program may listen on. Behind the others are mail servers, shells and directories,
/// which could be made to take a request for a command.
fn is_web_port(port: u16) -> bool {
    matches!(port, 80 | 443 | 1024..)
}

/// Checks an address that the URL contains or that its host resolved to.
pub(super) fn check_address(url: &Url, address: IpAddr, allow: &AllowList) -> Result<(), EgressError> {
    match special_range(address) {
        Some(reason) if !allow.permits_address(address, port_of(url)) => Err(private_url_error(&host_of(url), reason)),
        _ => Ok(()),
    }
}

/// Refuses text in which another parser could find another host.
fn check_spelling(text: &str, url: &Url) -> Result<(), EgressError> {
    let not_absolute = EgressError::BadUrl { problem: "is not an absolute http or https URL" };
    let Some((scheme, rest)) = text.split_once("://") else {
        return Err(not_absolute);
    };
    if !scheme.eq_ignore_ascii_case(url.scheme()) {
        return Err(not_absolute);
    }
    let authority = authority_of(rest);
    let refuse = |reason| Err(private_url_error(&host_of(url), reason));
    if authority.is_empty() {
        return refuse("it is empty");
    }
    if authority.contains('@') {
        return refuse("a user name or password stands before it");
    }
    if let Some(Host::Ipv4(address)) = url.host() {
        let written = authority.split(':').next().unwrap_or_default();
        if written != address.to_string() {
            return refuse("an IPv4 address must be written as four decimal numbers");
        }
    }
    Ok(())
}

/// The part between `//` and the path.
fn authority_of(after_scheme: &str) -> &str {
    after_scheme.split(['/', '?', '#']).next().unwrap_or_default()
}

/// The host of a URL that cannot be parsed, for the message only.
fn host_text(text: &str) -> &str {
    let authority = text.split_once("://").map_or("", |(_, rest)| authority_of(rest));
    authority.rsplit('@').next().unwrap_or_default()
}

fn is_local_name(name: &str) -> bool {
    LOCAL_NAMES
        .iter()
        .any(|local| name.strip_suffix(local).is_some_and(|before| before.is_empty() || before.ends_with('.')))
}

fn private_url_error(host: &str, reason: &'static str) -> EgressError {
    EgressError::PrivateUrl { host: host.chars().take(HOST_CHARS_SHOWN).collect(), reason }
}

const HOST_CHARS_SHOWN: usize = 255;

/// The host without port, path or credentials, for messages.
pub(super) fn host_of(url: &Url) -> String {
    url.host_str().unwrap_or_default().to_owned()
}

pub(super) fn port_of(url: &Url) -> u16 {
    // Only http and https get here, and both have a default port.
    url.port_or_known_default().unwrap_or_default()
}

#[cfg(test)]
#[path = "tests/url_check.rs"]
mod tests;
