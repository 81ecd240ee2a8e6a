//! How an RPC address is shown: scheme, host and port. User, path and query may hold keys and are left out.

use url::Url;

pub(crate) fn redacted_url(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    let suffix = if matches!(url.path(), "" | "/") && url.query().is_none() { "" } else { "/…" };
    format!("{}://{}{port}{suffix}", url.scheme(), url.host_str().unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn keys_in_an_address_are_not_shown() {
        let shown = |text: &str| redacted_url(&Url::parse(text).unwrap());
        assert_eq!(shown("https://user:hunter2@rpc.example/v3/hunter2?key=hunter2"), "https://rpc.example/…");
        assert_eq!(shown("http://127.0.0.1:8545"), "http://127.0.0.1:8545");
        assert_eq!(shown("http://[::1]:8545/?key=hunter2"), "http://[::1]:8545/…");
    }
}
