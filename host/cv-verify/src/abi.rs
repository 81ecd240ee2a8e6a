//! What contracts encode: arguments of events, results of calls.
//!
//! The rule: data that is not exactly what its types say is not decoded at all.

use alloy_primitives::{Address, B256, I256, U256, keccak256};

const WORD: usize = 32;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Uint,
    Int,
    Address,
    Bool,
    Word,
    Text,
    Bytes,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Datum {
    Uint(U256),
    Int(I256),
    Address(Address),
    Bool(bool),
    Word(B256),
    /// What is no UTF-8 is replaced, as readers of contracts do.
    Text(String),
    Bytes(Vec<u8>),
}

impl Kind {
    fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "address" => Self::Address,
            "bool" => Self::Bool,
            "bytes32" => Self::Word,
            "string" => Self::Text,
            "bytes" => Self::Bytes,
            number if number.starts_with("uint") => Self::Uint,
            number if number.starts_with("int") => Self::Int,
            _ => return None,
        })
    }

    fn is_dynamic(self) -> bool {
        matches!(self, Self::Text | Self::Bytes)
    }

    fn of_word(self, word: B256) -> Option<Datum> {
        Some(match self {
            Self::Uint => Datum::Uint(word.into()),
            Self::Int => Datum::Int(I256::from_raw(word.into())),
            Self::Address => {
                let (zeros, address) = word.split_at_checked(12)?;
                Datum::Address(zeros.iter().all(|byte| *byte == 0).then(|| Address::from_slice(address))?)
            }
            Self::Bool if U256::from_be_bytes(word.0) <= U256::ONE => Datum::Bool(!word.is_zero()),
            Self::Word => Datum::Word(word),
            Self::Bool | Self::Text | Self::Bytes => return None,
        })
    }
}

fn word(data: &[u8], at: usize) -> Option<B256> {
    data.get(at..at.checked_add(WORD)?).map(B256::from_slice)
}

fn offset(data: &[u8], at: usize) -> Option<usize> {
    U256::from_be_bytes(word(data, at)?.0).try_into().ok()
}

/// Values that follow each other, as the arguments of a function do.
pub(crate) fn decode(kinds: &[Kind], data: &[u8]) -> Option<Vec<Datum>> {
    let one = |(place, kind): (usize, &Kind)| {
        let head = place.checked_mul(WORD)?;
        if !kind.is_dynamic() {
            return kind.of_word(word(data, head)?);
        }
        let start = offset(data, head)?;
        let body = start.checked_add(WORD)?;
        let bytes = data.get(body..body.checked_add(offset(data, start)?)?)?;
        Some(match kind {
            // Databases keep no NUL, so documents have U+FFFD in its place.
            Kind::Text => Datum::Text(String::from_utf8_lossy(bytes).replace('\0', "\u{fffd}")),
            _ => Datum::Bytes(bytes.to_vec()),
        })
    };
    kinds.iter().enumerate().map(one).collect()
}

/// A struct with a dynamic member, as functions return it.
pub(crate) fn decode_struct(kinds: &[Kind], data: &[u8]) -> Option<Vec<Datum>> {
    decode(kinds, data.get(offset(data, 0)?..)?)
}

#[derive(Clone, Copy, Debug)]
struct Parameter {
    name: &'static str,
    kind: Kind,
    is_indexed: bool,
}

/// An event as its contract declares it.
#[derive(Clone, Debug)]
pub(crate) struct Event {
    parameters: Vec<Parameter>,
    /// Name and types.
    pub text: String,
    pub topic0: B256,
}

impl Event {
    /// Of a declaration with names and `indexed`; `None` of another text.
    pub(crate) fn parse(declaration: &'static str) -> Option<Self> {
        let (name, list) = declaration.strip_suffix(')')?.split_once('(')?;
        let (mut parameters, mut types) = (Vec::new(), Vec::new());
        for part in list.split(", ") {
            let mut words = part.split(' ');
            let (kind, name) = (words.next()?, words.next_back()?);
            types.push(kind);
            parameters.push(Parameter { name, kind: Kind::parse(kind)?, is_indexed: words.next() == Some("indexed") });
        }
        let text = format!("{name}({})", types.join(","));
        Some(Self { parameters, topic0: keccak256(&text), text })
    }

    /// Its arguments by name, without texts of which the log has only the hash.
    pub(crate) fn decode(&self, topics: &[B256], data: &[u8]) -> Option<Vec<(&'static str, Datum)>> {
        let (topic0, topics) = topics.split_first()?;
        let (indexed, plain): (Vec<&Parameter>, Vec<&Parameter>) =
            self.parameters.iter().partition(|parameter| parameter.is_indexed);
        if *topic0 != self.topic0 || topics.len() != indexed.len() {
            return None;
        }
        let mut arguments = Vec::new();
        for (parameter, topic) in indexed.into_iter().zip(topics) {
            if !parameter.kind.is_dynamic() {
                arguments.push((parameter.name, parameter.kind.of_word(*topic)?));
            }
        }
        let kinds: Vec<Kind> = plain.iter().map(|parameter| parameter.kind).collect();
        arguments.extend(plain.iter().map(|parameter| parameter.name).zip(decode(&kinds, data)?));
        Some(arguments)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use alloy_primitives::hex;

    const SAID: &str = "Said(uint256 indexed id, address indexed by, string text, int128 value, bool is)";

    fn log() -> (Vec<B256>, Vec<u8>) {
        let word = |number: u64| B256::from(U256::from(number));
        let topics = vec![keccak256("Said(uint256,address,string,int128,bool)"), word(7), word(9)];
        let minus_two = B256::from(I256::unchecked_from(-2).into_raw());
        let text = hex!("6869000000000000000000000000000000000000000000000000000000000000");
        let data = [word(96), minus_two, word(1), word(2), B256::from(text)].concat();
        (topics, data)
    }

    #[test]
    fn an_event_is_decoded_by_its_declaration() {
        let event = Event::parse(SAID).unwrap();
        let (topics, data) = log();
        let arguments = event.decode(&topics, &data).unwrap();
        assert_eq!(arguments[0], ("id", Datum::Uint(U256::from(7))));
        assert_eq!(arguments[1].1, Datum::Address(Address::left_padding_from(&[9])));
        assert_eq!(arguments[2], ("text", Datum::Text("hi".to_owned())));
        assert_eq!(arguments[3], ("value", Datum::Int(I256::unchecked_from(-2))));
        assert_eq!(arguments[4], ("is", Datum::Bool(true)));
    }

    #[test]
    fn other_data_is_not_decoded() {
        let event = Event::parse(SAID).unwrap();
        let (topics, data) = log();
        assert!(event.decode(&topics[..2], &data).is_none());
        assert!(event.decode(&[topics[1], topics[1], topics[2]], &data).is_none());
        assert!(event.decode(&[topics[0], topics[1], topics[0]], &data).is_none(), "no address");
        for end in 0..data.len() - 30 {
            assert!(event.decode(&topics, &data[..end]).is_none(), "{end}");
        }
        for (place, byte) in [(0, 0xff), (30, 0xff), (95, 2), (96, 1), (126, 1)] {
            let mut other = data.clone();
            other[place] = byte;
            assert!(event.decode(&topics, &other).is_none(), "{place}");
        }
    }
}
