//! The docs page, embedded in the binary, so that it works offline. The rule: no inline script and no file of another origin, so
//! that [`CONTENT_SECURITY_POLICY`] can forbid both.

use bytes::Bytes;
use sha2::{Digest as _, Sha256};
use std::{io::Read as _, sync::LazyLock};

/// For the page and its files. Swagger UI styles elements inline and draws icons from `data:` URLs.
pub const CONTENT_SECURITY_POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
                                           object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

/// A file of the page in one encoding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asset {
    pub content_type: &'static str,
    pub bytes: Bytes,
    /// Whether `bytes` are compressed: send `Content-Encoding: gzip`, and in both cases `Vary: Accept-Encoding`.
    pub gzip: bool,
    /// Strong, with quotes; differs between the encodings.
    pub etag: String,
}

struct EmbeddedFile {
    path: &'static str,
    content_type: &'static str,
    gzipped: &'static [u8],
}

macro_rules! embedded_files {
    ($($path:literal $file:literal $content_type:literal)*) => {
        &[$(EmbeddedFile {
            path: $path,
            content_type: $content_type,
            gzipped: include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".gz")),
        }),*]
    };
}

const FILES: &[EmbeddedFile] = embedded_files! {
    "/docs" "index.html" "text/html; charset=utf-8"
    "/docs/swagger-ui.css" "swagger-ui.css" "text/css; charset=utf-8"
    "/docs/swagger-ui-bundle.js" "swagger-ui-bundle.js" "text/javascript; charset=utf-8"
    "/docs/docs.css" "docs.css" "text/css; charset=utf-8"
    "/docs/docs.js" "docs.js" "text/javascript; charset=utf-8"
    "/docs/icon.svg" "icon.svg" "image/svg+xml"
};

/// Each file, gzipped and plain, in the order of [`FILES`].
static ASSETS: LazyLock<Vec<(Asset, Asset)>> = LazyLock::new(|| FILES.iter().map(both_encodings).collect());

/// The file at a path, for example `/docs/docs.js`.
pub fn asset(path: &str, accept_gzip: bool) -> Option<Asset> {
    let position = FILES.iter().position(|file| file.path == path)?;
    let (gzipped, plain) = ASSETS.get(position)?;
    Some(if accept_gzip { gzipped.clone() } else { plain.clone() })
}

/// Names of the files below `/docs/`.
pub(crate) fn asset_names() -> Vec<&'static str> {
    FILES.iter().filter_map(|file| file.path.strip_prefix("/docs/")).collect()
}

fn both_encodings(file: &EmbeddedFile) -> (Asset, Asset) {
    let gzipped = Bytes::from_static(file.gzipped);
    let mut plain = Vec::new();
    // Cannot fail: the build compressed these bytes, and the test below unpacks every file.
    let unpacked = flate2::read::GzDecoder::new(file.gzipped).read_to_end(&mut plain);
    let plain = if unpacked.is_ok() { Bytes::from(plain) } else { Bytes::new() };
    let digest = hex::encode(&Sha256::digest(&plain)[..16]);
    let asset = |bytes, gzip, etag| Asset { content_type: file.content_type, bytes, gzip, etag };
    (asset(gzipped, true, format!("\"{digest}-gz\"")), asset(plain, false, format!("\"{digest}\"")))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;

    #[test]
    fn every_file_is_there_in_both_encodings() {
        for file in FILES {
            let (gzipped, plain) = (asset(file.path, true).unwrap(), asset(file.path, false).unwrap());
            assert!(gzipped.gzip && !plain.gzip);
            assert!(!plain.bytes.is_empty(), "{}", file.path);
            assert_ne!(gzipped.etag, plain.etag);
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&gzipped.bytes[..]).read_to_end(&mut unpacked).unwrap();
            assert_eq!(unpacked, plain.bytes);
        }
        assert_eq!(asset("/docs/../Cargo.toml", true), None);
        assert_eq!(asset("/docs/", true), None);
    }

    #[test]
    fn the_page_names_only_files_that_exist_and_runs_no_inline_script() {
        let page = asset("/docs", false).unwrap();
        let page = std::str::from_utf8(&page.bytes).unwrap();
        let mut parts = 0;
        for part in page.split(['"', '\'']).filter(|part| part.starts_with("/docs/")) {
            assert!(asset(part, true).is_some(), "{part}");
            parts += 1;
        }
        assert_eq!(parts, asset_names().len() + 1, "every file is used, the icon twice");
        assert!(!page.contains("://"), "nothing from elsewhere");
        assert!(page.split("<script").skip(1).all(|script| script.starts_with(" src=\"/docs/")));
        assert!(!page.contains("onload=") && !page.contains("style="));
    }
}
