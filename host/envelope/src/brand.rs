//! The two brand strings in signed requests: the first line of the message and the prefix of the headers.

use http::HeaderName;

/// Validated at start, so that every request can rely on a valid message line and valid header names.
#[derive(Debug, Clone)]
pub struct Brand {
    message_line: String,
    pub(crate) address_header: HeaderName,
    pub(crate) ts_header: HeaderName,
    pub(crate) sig_header: HeaderName,
}

#[derive(Debug, thiserror::Error)]
pub enum BrandError {
    #[error("the first line of signed messages must be one line of visible text, not {line:?}")]
    MessageLine { line: String },
    #[error("{prefix:?} cannot start a header name; use letters, digits and `-`, for example `X-Service`")]
    HeaderPrefix { prefix: String },
}

impl Brand {
    /// `message_line` as in `Service Commons`, `header_prefix` without the last dash as in `X-Service`.
    pub fn new(message_line: &str, header_prefix: &str) -> Result<Self, BrandError> {
        if message_line.trim().is_empty() || message_line.chars().any(char::is_control) {
            return Err(BrandError::MessageLine { line: message_line.to_owned() });
        }
        let header = |suffix: &str| {
            let well_formed = !header_prefix.is_empty() && !header_prefix.ends_with('-');
            well_formed
                .then(|| HeaderName::try_from(format!("{header_prefix}-{suffix}")).ok())
                .flatten()
                .ok_or_else(|| BrandError::HeaderPrefix { prefix: header_prefix.to_owned() })
        };
        Ok(Self {
            message_line: message_line.to_owned(),
            address_header: header("Address")?,
            ts_header: header("Ts")?,
            sig_header: header("Sig")?,
        })
    }

    #[must_use]
    pub fn message_line(&self) -> &str {
        &self.message_line
    }
}

/// The neutral names of the specification.
impl Default for Brand {
    fn default() -> Self {
        Self {
            message_line: request_signing::MESSAGE_LINE.to_owned(),
            address_header: HeaderName::from_static("x-service-address"),
            ts_header: HeaderName::from_static("x-service-ts"),
            sig_header: HeaderName::from_static("x-service-sig"),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn names_the_headers_after_the_prefix() {
        let brand = Brand::new("Acme Commons", "X-Acme").unwrap();
        assert_eq!(brand.message_line(), "Acme Commons");
        assert_eq!(brand.address_header, "x-acme-address");
        assert_eq!(brand.ts_header, "x-acme-ts");
        assert_eq!(brand.sig_header, "x-acme-sig");
        let neutral = Brand::new("Service Commons", "X-Service").unwrap();
        assert_eq!(neutral.sig_header, Brand::default().sig_header);
    }

    #[test]
    fn refuses_invalid_lines_and_prefixes() {
        for line in ["", "  ", "two\nlines", "bell\u{7}"] {
            assert!(matches!(Brand::new(line, "X-Acme"), Err(BrandError::MessageLine { .. })), "{line:?}");
        }
        for prefix in ["", "X Acme", "X-Acme-", "X:Acme", "Ä"] {
            assert!(matches!(Brand::new("Acme", prefix), Err(BrandError::HeaderPrefix { .. })), "{prefix:?}");
        }
    }
}
