//! `X-Service-Position`: a client that sends back the value of the answer to its write reads no cached response that is older than
//! this write, at any gateway.
//!
//! Without `database.staleness_ms` no cached response is older than an acknowledged write, and no answer has the header.

use gateway_storage::{ChangeCount, Database};
use http::{HeaderMap, HeaderName, HeaderValue, header::InvalidHeaderName};

pub struct PositionHeader(HeaderName);

impl PositionHeader {
    /// The name begins with that of the brand.
    pub fn new(header_prefix: &str) -> Result<Self, InvalidHeaderName> {
        HeaderName::try_from(format!("{header_prefix}-Position")).map(Self)
    }

    /// The change count in a request; one that is none of ours says nothing.
    pub fn sent_by(&self, headers: &HeaderMap) -> Option<ChangeCount> {
        headers.get(&self.0)?.to_str().ok()?.parse().ok()
    }

    /// For the answer to a write, which is committed. `None` where it says nothing; without it, the client may read what was before.
    pub async fn of_write(&self, database: &Database) -> Option<(HeaderName, HeaderValue)> {
        let count = database.change_count().await?;
        Some((self.0.clone(), HeaderValue::try_from(count.to_string()).ok()?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_position_says_nothing() {
        let header = PositionHeader::new("X-Acme").unwrap();
        let sent = |name: &'static str, value: &'static str| {
            let headers = HeaderMap::from_iter([(HeaderName::from_static(name), HeaderValue::from_static(value))]);
            header.sent_by(&headers)
        };
        assert_eq!(sent("x-acme-position", "17"), "17".parse().ok());
        assert_eq!(sent("x-acme-position", "soon"), None);
        assert_eq!(sent("x-service-position", "17"), None);
    }
}
