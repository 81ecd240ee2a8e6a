//! The parts of the servers' addresses that nobody is told.
//!
//! The rule: an error text of a server that holds one of them, or any address, is not passed on. Servers in front of other servers
//! name them in their errors.

use url::Url;

/// Shorter parts of a path, such as `v3`, are no secrets, and would be found in harmless texts.
const PART_CHARS_MIN: usize = 6;

pub(crate) struct ServerSecrets(Vec<String>);

impl ServerSecrets {
    pub(crate) fn new(urls: &[Url]) -> Self {
        Self(urls.iter().flat_map(parts).map(|part| part.to_lowercase()).collect())
    }

    pub(crate) fn are_in(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        text.contains("://") || self.0.iter().any(|part| text.contains(part))
    }
}

fn parts(url: &Url) -> Vec<String> {
    let path = url.path_segments().into_iter().flatten().map(str::to_owned);
    let query = url.query_pairs().map(|(_, value)| value.into_owned());
    let user = [url.username(), url.password().unwrap_or_default()].map(str::to_owned);
    let long = path.chain(query).chain(user).filter(|part| part.len() >= PART_CHARS_MIN);
    url.host_str().map(str::to_owned).into_iter().chain(long).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn no_part_of_an_address_is_told() {
        let url = Url::parse("https://user:Hunter-22@node7.rpc.example:8545/v3/0123456789?key=abcdef99").unwrap();
        let secrets = ServerSecrets::new(&[url]);
        for text in [
            "cannot reach node7.rpc.example",
            "NODE7.RPC.EXAMPLE:8545 is down",
            "project 0123456789 is over its limit",
            "wrong key abcdef99",
            "wrong password hunter-22",
            "see https://elsewhere.example/limits",
        ] {
            assert!(secrets.are_in(text), "{text}");
        }
        for text in ["execution reverted: v3 only", "insufficient funds for gas * price + value", ""] {
            assert!(!secrets.are_in(text), "{text}");
        }
    }
}
