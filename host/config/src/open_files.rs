//! How many connections the limit of open files allows. Rule: a listener that stops for everybody is worse than one that
//! refuses a connection, so the cap follows the limit, and whoever lowers it is told.

use super::http::HttpConfig;
use std::fmt;

/// Files besides the clients' connections: database, libraries, logs, outbound requests, the operator's listener.
pub(crate) const RESERVED_FILES: usize = 256;

/// `http.connections_max` is lowered to what the limit of open files allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoweredConnections {
    pub configured: usize,
    pub effective: usize,
    pub open_files_max: u64,
}

impl fmt::Display for LoweredConnections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { configured, effective, open_files_max } = self;
        let needed = configured.saturating_add(RESERVED_FILES);
        write!(
            f,
            "at most {effective} connections, not {configured} (http.connections_max): the process may open {open_files_max} \
             files, and {needed} are needed; raise the hard limit (LimitNOFILE= of the unit, ulimit -Hn) or lower the key"
        )
    }
}

impl LoweredConnections {
    /// Lowers the caps on connections to what the limit allows; `None` when it allows them.
    pub(super) fn fit(http: &mut HttpConfig, open_files_max: u64) -> Option<Self> {
        let limit = usize::try_from(open_files_max).unwrap_or(usize::MAX);
        let allowed = limit.saturating_sub(RESERVED_FILES).max(limit / 2).max(1);
        let configured = http.connections_max;
        if configured <= allowed {
            return None;
        }
        http.connections_max = allowed;
        http.connections_per_ip_max = http.connections_per_ip_max.min(allowed);
        Some(Self { configured, effective: allowed, open_files_max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(open_files_max: u64) -> (HttpConfig, Option<LoweredConnections>) {
        let mut http = HttpConfig::default();
        let lowered = LoweredConnections::fit(&mut http, open_files_max);
        (http, lowered)
    }

    #[test]
    fn enough_files_change_nothing() {
        let (http, lowered) = fitted(4096 + 256);
        assert_eq!((http.connections_max, lowered), (4096, None));
    }

    #[test]
    fn too_few_lower_both_caps_and_say_so() {
        let (http, lowered) = fitted(1024);
        assert_eq!((http.connections_max, http.connections_per_ip_max), (768, 256));
        let text = lowered.map(|lowered| lowered.to_string()).unwrap_or_default();
        assert!(text.contains("at most 768 connections, not 4096") && text.contains("1024 files, and 4352"), "{text}");
        let (http, _) = fitted(300);
        assert_eq!((http.connections_max, http.connections_per_ip_max), (150, 150));
        assert_eq!(fitted(0).0.connections_max, 1);
    }
}
