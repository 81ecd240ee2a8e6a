//! Checkpoints, as C2SP tlog-checkpoint says: origin, size and root, signed as a note.

use super::hash::Hash;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use plugin_api::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a tree stands, without its signatures. Also how the configuration names a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Checkpoint {
    /// The first line of the checkpoint.
    pub origin: String,
    /// Number of entries.
    pub size: u64,
    /// In base64, as in the checkpoint.
    pub root: String,
}

impl Checkpoint {
    pub fn new(origin: &str, size: u64, root: &Hash) -> Self {
        Self { origin: origin.to_owned(), size, root: STANDARD.encode(root) }
    }

    pub fn root_bytes(&self) -> Option<Hash> {
        STANDARD.decode(&self.root).ok()?.try_into().ok()
    }

    /// Why it is none.
    pub fn problem(&self) -> Option<&'static str> {
        if !Self::is_origin(&self.origin) {
            return Some("its origin is no text without spaces and plus signs");
        }
        self.root_bytes().is_none().then_some("its root is not 32 bytes in base64")
    }

    /// As C2SP wants key names: not empty, without spaces and plus signs. Control characters are none of a note's.
    pub fn is_origin(origin: &str) -> bool {
        let is_plain = |char: char| !char.is_whitespace() && !char.is_control() && char != '+';
        // The other one is the first line of what a cosignature signs.
        (1..=255).contains(&origin.len()) && origin.chars().all(is_plain) && origin != "cosignature/v1"
    }

    /// The text that is signed.
    pub fn body(&self) -> String {
        let Self { origin, size, root } = self;
        format!("{origin}\n{size}\n{root}\n")
    }

    /// The text that a cosignature of this time is of (C2SP tlog-cosignature).
    pub fn cosigned_text(&self, time_s: u64) -> String {
        format!("cosignature/v1\ntime {time_s}\n{}", self.body())
    }

    pub fn note(&self, signature_lines: &[String]) -> String {
        format!("{}\n{}", self.body(), signature_lines.concat())
    }

    /// The checkpoint of a note of ours; signatures are not looked at.
    pub fn parse(note: &str) -> Option<Self> {
        let (body, _) = note.split_once("\n\n")?;
        let mut lines = body.split('\n');
        let (origin, size, root) = (lines.next()?, lines.next()?, lines.next()?);
        let is_over = lines.next().is_none();
        let read = Self { origin: origin.to_owned(), size: size.parse().ok()?, root: root.to_owned() };
        (is_over && read.size.to_string() == size && read.problem().is_none()).then_some(read)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    /// The example of C2SP tlog-checkpoint.
    const EXAMPLE: &str = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
        — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n";

    #[test]
    fn the_example_of_the_specification_is_read_and_written() {
        let read = Checkpoint::parse(EXAMPLE).unwrap();
        assert_eq!((read.origin.as_str(), read.size), ("example.com/behind-the-sofa", 20_852_163));
        let signature = EXAMPLE.lines().last().unwrap();
        assert_eq!(read.note(&[format!("{signature}\n")]), EXAMPLE);
        // The example of C2SP tlog-cosignature.
        let cosigned = "cosignature/v1\ntime 1679315147\nexample.com/behind-the-sofa\n20852163\n\
            CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
        assert_eq!(read.cosigned_text(1_679_315_147), cosigned);
    }

    #[test]
    fn what_is_no_checkpoint_of_ours_is_not_read() {
        for (old, new) in [
            ("20852163", "020852163"),
            ("20852163", "-1"),
            ("20852163", ""),
            ("CsUY", "CsU"),
            ("example.com", "example com"),
            ("q2I=\n\n", "q2I=\nextension\n\n"),
            ("\n\n", "\n"),
        ] {
            assert_eq!(Checkpoint::parse(&EXAMPLE.replacen(old, new, 1)), None, "{old} → {new}");
        }
    }
}
