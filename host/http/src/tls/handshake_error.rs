//! Why a connection of the TLS port does not come to a request.

use std::io;

#[derive(Debug, thiserror::Error)]
pub(crate) enum HandshakeError {
    /// The client left, before or after its first byte.
    #[error("the client left during the handshake")]
    Left,
    /// A request without TLS.
    #[error("the client speaks HTTP without TLS")]
    PlainHttp,
    #[error("the client does not speak TLS")]
    NotTls,
    #[error("the handshake took too long")]
    Timeout,
    /// No version, cipher or protocol in common, or the client refuses the certificate.
    #[error("the handshake failed: {0}")]
    Failed(#[source] io::Error),
}

impl HandshakeError {
    /// Value of the label `reason`.
    pub(crate) fn label(&self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::PlainHttp => "plain_http",
            Self::NotTls => "not_tls",
            Self::Timeout => "timeout",
            Self::Failed(_) => "failed",
        }
    }
}
