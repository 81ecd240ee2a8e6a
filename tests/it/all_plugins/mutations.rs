//! Mutations of texts, bytes and JSON. Rule: all of them follow from the seed of the dice.

use crate::crash::Dice;
use plugin_testing::{Value, json};

/// Texts that parsers get wrong: empty, long, other scripts, what looks like code, like a number, like another type.
const TEXTS: [&str; 37] = [
    "",
    " ",
    "\u{0}",
    "\u{feff}",
    "\u{202e}abc",
    "\u{200b}",
    "\u{2028}",
    "\u{ffff}",
    "\u{1F469}\u{200d}\u{1F680}",
    "e\u{301}",
    "İ",
    "ß",
    "\u{3000}",
    "\r\n",
    "a\tb",
    "null",
    "true",
    "-1",
    "0",
    "01",
    "1e9",
    "0x1F",
    "NaN",
    "9223372036854775807",
    "9223372036854775808",
    "115792089237316195423570985008687907853269984665640564039457584007913129639936",
    "' OR 1=1 --",
    "\"; DROP TABLE host_activity; --",
    "%00",
    "%",
    "_",
    "*",
    "../../etc/passwd",
    "<script>alert(1)</script>",
    "fmx://payload/0x",
    "0x0000000000000000000000000000000000000000",
    "\\u0000",
];

/// Numbers as they may stand in JSON, also beyond what any type holds.
const NUMBERS: [&str; 22] = [
    "0",
    "-0",
    "-0.0",
    "-1",
    "1.0",
    "0.1",
    "1e0",
    "2147483648",
    "-2147483649",
    "9007199254740991",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999",
    "1e308",
    "1e309",
    "-1e400",
    "5e-324",
    "1E+2",
];

impl Dice {
    /// True once in `of` times.
    pub fn hits(&mut self, of: u64) -> bool {
        self.below(of) == 0
    }

    /// A random index into a list of that length, which is not empty.
    pub fn place(&mut self, length: usize) -> usize {
        usize::try_from(self.below(length.max(1) as u64)).unwrap_or_default()
    }

    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.place(list.len())]
    }

    /// A text that is not expected.
    pub fn text(&mut self) -> String {
        let text = (*self.pick(&TEXTS)).to_owned();
        match self.below(8) {
            // About the lengths at which limits are, in units of one, two and four bytes.
            0 => {
                let lengths = [32, 64, 140, 200, 300, 512, 2000, 4096, 8192, 16_384, 65_536];
                let length = self.pick(&lengths) + self.place(3);
                self.pick(&["a", "é", "😀"]).repeat(length - 1)
            }
            1 => text.repeat(1 + self.place(40)),
            2 => text + *self.pick(&TEXTS),
            _ => text,
        }
    }

    fn number(&mut self) -> String {
        (*self.pick(&NUMBERS)).to_owned()
    }

    /// Any value that JSON has.
    pub fn value(&mut self) -> Value {
        match self.below(9) {
            0 => Value::Null,
            1 => json!(self.hits(2)),
            2 | 3 => serde_json::from_str(&self.number()).unwrap_or_default(),
            4 => json!([]),
            5 => json!({}),
            6 => {
                let depth = 1 + self.place(80);
                (0..depth).fold(json!(1), |inner, _| json!([inner]))
            }
            _ => json!(self.text()),
        }
    }

    /// Changes some bytes, takes some away, puts others in.
    pub fn spoil(&mut self, bytes: &mut Vec<u8>) {
        for _ in 0..=self.below(3) {
            let place = self.place(bytes.len() + 1);
            let end = (place + 1 + self.place(8)).min(bytes.len());
            match self.below(6) {
                0 if place < bytes.len() => bytes[place] ^= 1 << self.below(8),
                1 => bytes.truncate(place),
                2 if place < end => drop(bytes.drain(place..end)),
                3 if place < end => {
                    let twice = bytes[place..end].to_vec();
                    bytes.splice(place..place, twice);
                }
                4 => {
                    let odd: [&[u8]; 9] =
                        [b"\0", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\"", b"\\", b"{", b",", b"\\ud800"];
                    let odd = *self.pick(&odd);
                    bytes.splice(place..place, odd.iter().copied());
                }
                _ => bytes.insert(place, u8::try_from(self.below(256)).unwrap_or_default()),
            }
        }
    }

    /// Changes the structure at one place, and at more in some cases.
    pub fn restructure(&mut self, value: &mut Value) {
        for _ in 0..=self.below(2) {
            self.restructure_once(value);
        }
    }

    fn restructure_once(&mut self, value: &mut Value) {
        let goes_deeper = !self.hits(12);
        match value {
            Value::Object(members) if goes_deeper && !members.is_empty() => {
                let names: Vec<String> = members.keys().cloned().collect();
                let name = self.pick(&names).clone();
                match self.below(8) {
                    0 => drop(members.remove(&name)),
                    1 => {
                        let (other, value) = (self.text(), members.remove(&name).unwrap_or_default());
                        members.insert(other, value);
                    }
                    2 => {
                        let (other, value) = (self.text(), self.value());
                        members.insert(other, value);
                    }
                    // Copies the value of another member.
                    3 => {
                        let value = members[self.pick(&names)].clone();
                        members.insert(name, value);
                    }
                    _ => self.restructure_once(members.entry(name).or_insert(Value::Null)),
                }
            }
            Value::Array(items) if goes_deeper && !items.is_empty() => {
                let place = self.place(items.len());
                match self.below(5) {
                    0 => drop(items.remove(place)),
                    1 => items.insert(place, items[place].clone()),
                    2 => {
                        let item = items[place].clone();
                        items.extend(std::iter::repeat_n(item, 1 + self.place(100)));
                    }
                    _ => self.restructure_once(&mut items[place]),
                }
            }
            Value::String(text) if self.hits(2) => *text = self.reword(text),
            place => *place = self.value(),
        }
    }

    /// A text that is nearly the same.
    pub fn reword(&mut self, text: &str) -> String {
        let mut characters: Vec<char> = text.chars().collect();
        let place = self.place(characters.len() + 1);
        let other = self.text();
        match self.below(5) {
            0 => characters.truncate(place),
            1 if place < characters.len() => drop(characters.remove(place)),
            2 => return text.to_uppercase(),
            3 => return text.repeat(1 + self.place(3)),
            _ => drop(characters.splice(place..place, other.chars().take(40))),
        }
        characters.into_iter().collect()
    }

    /// Puts something into JSON that `Value` cannot hold: a number of any size, a member twice, a letter escaped.
    pub fn respell(&mut self, text: &str) -> String {
        let places: Vec<usize> = text.match_indices(':').map(|(place, _)| place + 1).collect();
        if places.is_empty() {
            return text.to_owned();
        }
        let place = *self.pick(&places);
        let (before, after) = text.split_at(place);
        let end = after.find([',', '}', ']']).unwrap_or(after.len());
        match self.below(4) {
            0 | 1 => format!("{before}{}{}", self.number(), &after[end..]),
            2 => {
                let first = text.split_once('{').and_then(|(_, rest)| rest.split_once(',')).map(|(member, _)| member);
                let twice = first.zip(text.strip_prefix('{')).map(|(first, rest)| format!("{{{first},{rest}"));
                twice.unwrap_or_else(|| text.to_owned())
            }
            _ => text.replacen('e', "\\u0065", 1 + self.place(3)),
        }
    }
}
