//! The stamp: 128 bytes with a plugin's name and versions in a section of their own. The gateway reads them from the file
//! before any of the plugin's code runs.
//!
//! Bytes: `0..8` the magic `GWPLUGIN`, `8..12` ABI major, `12..16` ABI minor (u32 little-endian),
//! `16..80` plugin name, `80..112` plugin version (UTF-8, padded with NUL), `112..128` zero.
//! This layout never changes in any version of the ABI, because it identifies the version.

use super::{ABI_MAJOR, ABI_MINOR};

/// Name of the section that holds the stamp.
pub const STAMP_SECTION: &str = ".gateway_plugin";
/// The library exports abi_stable's header of its root module under this name, followed by the plugin's name.
pub const ROOT_SYMBOL_PREFIX: &str = "gateway_plugin_";

const MAGIC: [u8; 8] = *b"GWPLUGIN";
const SIZE: usize = 128;
const NAME: std::ops::Range<usize> = 16..80;
const VERSION: std::ops::Range<usize> = 80..112;

/// The stamp as [`crate::export_plugin!`] puts it into the library.
#[repr(C, align(16))]
pub struct Stamp([u8; SIZE]);

impl Stamp {
    /// Runs at compile time: an invalid plugin name or a version that is too long fails the build.
    pub const fn new(name: &str, version: &str) -> Self {
        assert!(is_plugin_name(name), "a plugin's package name is a-z, 0-9 and _, starts with a letter, 2 to 31 long");
        assert!(version.len() <= VERSION.end - VERSION.start, "a plugin's version has at most 32 characters");
        let mut bytes = [0; SIZE];
        bytes = put(bytes, 0, &MAGIC);
        bytes = put(bytes, 8, &ABI_MAJOR.to_le_bytes());
        bytes = put(bytes, 12, &ABI_MINOR.to_le_bytes());
        bytes = put(bytes, NAME.start, name.as_bytes());
        Self(put(bytes, VERSION.start, version.as_bytes()))
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }
}

const fn put(mut bytes: [u8; SIZE], at: usize, part: &[u8]) -> [u8; SIZE] {
    let mut index = 0;
    while index < part.len() {
        bytes[at + index] = part[index];
        index += 1;
    }
    bytes
}

/// The form of the names in a manifest: of operations, jobs, migrations, views and queues.
pub fn is_snake_case(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// The plugin's name is also its package, folder, config key, table prefix, log target and metric label.
pub const fn is_plugin_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    if bytes.len() < 2 || bytes.len() > 31 || !bytes[0].is_ascii_lowercase() {
        return false;
    }
    let mut index = 1;
    while index < bytes.len() {
        let byte = bytes[index];
        if !(byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_') {
            return false;
        }
        index += 1;
    }
    true
}

/// A decoded stamp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StampFacts {
    pub abi_major: u32,
    pub abi_minor: u32,
    pub name: String,
    pub version: String,
}

impl StampFacts {
    /// Decodes a stamp; `None` when the bytes are not a stamp.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        if bytes.get(..8)? != MAGIC {
            return None;
        }
        let number = |at: usize| Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?));
        let text = |range: std::ops::Range<usize>| {
            let padded = std::str::from_utf8(bytes.get(range)?).ok()?;
            Some(padded.trim_end_matches('\0').to_owned())
        };
        Some(Self { abi_major: number(8)?, abi_minor: number(12)?, name: text(NAME)?, version: text(VERSION)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_reads_as_it_was_written() {
        let stamp = Stamp::new("forum", "1.2.3");
        let facts =
            StampFacts { abi_major: ABI_MAJOR, abi_minor: ABI_MINOR, name: "forum".into(), version: "1.2.3".into() };
        assert_eq!(StampFacts::read(stamp.as_bytes()), Some(facts));
        assert_eq!(StampFacts::read(&stamp.as_bytes()[..100]), None);
        assert_eq!(StampFacts::read(b"something else entirely"), None);
    }

    #[test]
    fn names_are_plain() {
        assert!(is_plugin_name("forum") && is_plugin_name("x402") && is_plugin_name("ai_cv"));
        assert!(
            !is_plugin_name("Forum")
                && !is_plugin_name("my-plugin")
                && !is_plugin_name("9lives")
                && !is_plugin_name("a")
        );
    }
}
