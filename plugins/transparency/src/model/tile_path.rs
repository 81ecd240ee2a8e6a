//! Paths of tiles, as C2SP tlog-tiles writes them: `x001/x234/067`, and `x001/x234/067.p/112` for one that is not full.

use super::TILE_WIDTH;

/// An index of twelve digits: a tree of more than 2^47 leaves.
const ELEMENTS_MAX: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TilePath {
    pub index: u64,
    pub width: usize,
}

impl TilePath {
    /// Only the one text that C2SP has for a tile is one.
    pub fn parse(path: &str) -> Option<Self> {
        let (index, width) = match path.split_once(".p/") {
            Some((index, width)) => (index, partial_width(width)?),
            None => (path, TILE_WIDTH),
        };
        let elements: Vec<&str> = index.split('/').collect();
        let (last, first) = elements.split_last()?;
        if first.len() >= ELEMENTS_MAX || first.first() == Some(&"x000") {
            return None;
        }
        let first = first.iter().map(|element| element.strip_prefix('x').and_then(three_digits));
        let index = first.chain([three_digits(last)]).try_fold(0, |index, digits| Some(index * 1000 + digits?))?;
        Some(Self { index, width })
    }

    /// Whether a tree of this size has the tile.
    pub fn is_in(self, level: u8, size: u64) -> bool {
        let hashes = size.checked_shr(8 * u32::from(level)).unwrap_or_default();
        let end = self.index.saturating_mul(TILE_WIDTH as u64).saturating_add(self.width as u64);
        end <= hashes
    }

    pub fn level(text: &str) -> Option<u8> {
        let is_canonical = text == "0" || !text.starts_with('0');
        let is_decimal = is_canonical && text.bytes().all(|byte| byte.is_ascii_digit());
        text.parse().ok().filter(|level| is_decimal && *level < 64)
    }
}

fn partial_width(text: &str) -> Option<usize> {
    let is_decimal = text.bytes().all(|byte| byte.is_ascii_digit()) && !text.starts_with('0');
    text.parse().ok().filter(|width| is_decimal && (1..TILE_WIDTH).contains(width))
}

fn three_digits(text: &str) -> Option<u64> {
    let is_three = text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_three)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_the_specification() {
        for (path, index, width) in [
            ("000", 0, 256),
            ("067", 67, 256),
            ("x001/x234/067", 1_234_067, 256),
            ("x001/000", 1000, 256),
            ("273.p/112", 273, 112),
            ("x001/x234/067.p/1", 1_234_067, 1),
            ("x999/x999/x999/999.p/255", 999_999_999_999, 255),
        ] {
            assert_eq!(TilePath::parse(path), Some(TilePath { index, width }), "{path}");
        }
    }

    #[test]
    fn any_other_text_is_no_path() {
        for path in [
            "",
            "0",
            "00",
            "0000",
            "x000",
            "x000/001",
            "001/002",
            "x001/x002",
            "x1/002",
            "X001/002",
            "001.p",
            "001.p/",
            "001.p/0",
            "001.p/256",
            "001.p/01",
            "001.p/+1",
            "001.p/1/",
            "/001",
            "001/",
            "+01",
            "x001//002",
            "-01",
            "x001/x001/x001/x001/001",
        ] {
            assert_eq!(TilePath::parse(path), None, "{path:?}");
        }
    }

    #[test]
    fn a_tree_has_the_tiles_that_its_size_says() {
        let is_in = |level, path, size| TilePath::parse(path).is_some_and(|path| path.is_in(level, size));
        assert!(is_in(0, "273.p/112", 70_000) && !is_in(0, "273.p/113", 70_000) && !is_in(0, "273", 70_000));
        assert!(is_in(1, "001.p/17", 70_000) && !is_in(1, "001.p/18", 70_000) && is_in(1, "000", 70_000));
        assert!(is_in(2, "000.p/1", 70_000) && !is_in(2, "000.p/2", 70_000) && !is_in(3, "000.p/1", 70_000));
        assert!(is_in(7, "000.p/255", u64::MAX) && !is_in(8, "000.p/1", u64::MAX) && !is_in(63, "000.p/1", u64::MAX));
    }

    #[test]
    fn levels_are_canonical_numbers() {
        let levels = ["0", "1", "63", "64", "00", "01", "-1", "+1", "", "a", "256"];
        let parsed = levels.map(TilePath::level);
        assert_eq!(parsed[..3], [Some(0), Some(1), Some(63)]);
        assert_eq!(parsed[3..], [None; 8]);
    }
}
