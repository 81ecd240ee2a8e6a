//! How the holder of a client certificate is called.

use x509_cert::der::{Decode as _, asn1::ObjectIdentifier};

const COMMON_NAME: ObjectIdentifier = ObjectIdentifier::new_unwrap("2.5.4.3");

/// The common name of the subject of a certificate that was checked, or the whole subject; `None` for one that names nobody.
pub fn client_name(certificate: &[u8]) -> Option<String> {
    let certificate = x509_cert::Certificate::from_der(certificate).ok()?;
    let subject = certificate.tbs_certificate.subject;
    let mut attributes = subject.0.iter().flat_map(|names| names.0.iter());
    let common = attributes.find(|attribute| attribute.oid == COMMON_NAME);
    let common = common.and_then(|attribute| std::str::from_utf8(attribute.value.value()).ok()).map(str::to_owned);
    common.or_else(|| Some(subject.to_string())).filter(|name| !name.trim().is_empty())
}
