//! TLS of the listeners: the certificate of the public one, and reading the files of any listener again when they change.

mod certificate;
mod reload;

pub(crate) use certificate::{PublicTls, certificate_notes};
pub use certificate::{open_tls, read_certificate};
pub(crate) use reload::TlsReloader;
pub use reload::{TlsError, TlsSource};
