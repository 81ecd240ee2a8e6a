//! `eth_getLogs` of a range of blocks, in parts. Rule: the parts cover the range once, in its order.

use super::RpcError;
use alloy_primitives::U64;
use serde_json::{Map, Value};

/// What the gateway knows of the chain now.
#[derive(Clone, Copy, Debug)]
pub struct KnownBlocks {
    pub head: u64,
    pub final_block: u64,
}

#[derive(Debug, PartialEq)]
pub enum LogQuery {
    /// As it was sent: one block, or few.
    Whole(Value),
    Parts(Vec<LogPart>),
}

/// A filter with the first and last block of a part.
#[derive(Clone, Debug, PartialEq)]
pub struct LogPart {
    filter: Map<String, Value>,
    from: u64,
    to: u64,
}

impl LogQuery {
    pub fn parse(filter: &Value, known: KnownBlocks, blocks_max: u64, chunk: u64) -> Result<Self, RpcError> {
        let wrong = |reason: &str| RpcError::invalid_params(format!("params[0]: {reason}"));
        let Value::Object(members) = filter else { return Err(wrong("the filter is an object")) };
        let bound = |name: &str| members.get(name).filter(|value| !value.is_null());
        if members.get("blockHash").is_some_and(|hash| !hash.is_null()) {
            let has_range = bound("fromBlock").or(bound("toBlock")).is_some();
            return if has_range {
                Err(wrong("blockHash, or fromBlock and toBlock"))
            } else {
                Ok(Self::Whole(filter.clone()))
            };
        }
        let number = |name: &str| match bound(name) {
            None => Ok(known.head),
            Some(value) => known.number(value).ok_or_else(|| wrong(&format!("{name} is no block number"))),
        };
        let (from, to) = (number("fromBlock")?, number("toBlock")?);
        if from > to {
            return Err(wrong("fromBlock is after toBlock"));
        }
        // Nothing is asked for beyond the head.
        let blocks = to.min(known.head.max(from)) - from + 1;
        if blocks > blocks_max {
            return Err(wrong(&format!("{blocks} blocks: at most {blocks_max} are answered at a time")));
        }
        if blocks <= chunk {
            return Ok(Self::Whole(filter.clone()));
        }
        let whole = LogPart { filter: members.clone(), from, to: from + blocks - 1 };
        Ok(Self::Parts(whole.divided(chunk)))
    }
}

impl KnownBlocks {
    fn number(self, value: &Value) -> Option<u64> {
        match value.as_str()? {
            "latest" | "pending" => Some(self.head),
            "safe" | "finalized" => Some(self.final_block),
            "earliest" => Some(0),
            number => {
                let digits = number.strip_prefix("0x")?;
                let number = U64::from_str_radix(digits, 16).ok().filter(|_| !digits.is_empty());
                number.map(|number| number.to::<u64>())
            }
        }
    }
}

impl LogPart {
    fn divided(&self, chunk: u64) -> Vec<Self> {
        let mut parts = Vec::new();
        let mut from = self.from;
        while from <= self.to {
            let to = from.saturating_add(chunk - 1).min(self.to);
            parts.push(Self { from, to, ..self.clone() });
            from = to + 1;
        }
        parts
    }

    /// The two halves, when a server finds the part too large; none of a single block.
    pub fn halves(&self) -> Option<[Self; 2]> {
        let middle = self.from + (self.to - self.from) / 2;
        (self.from < self.to).then(|| [Self { to: middle, ..self.clone() }, Self { from: middle + 1, ..self.clone() }])
    }

    pub fn to_filter(&self) -> Value {
        let mut filter = self.filter.clone();
        for (name, number) in [("fromBlock", self.from), ("toBlock", self.to)] {
            filter.insert(name.to_owned(), format!("{number:#x}").into());
        }
        filter.into()
    }
}

/// Several lists as one; none when one of them is no list.
pub fn joined<'l>(lists: impl Iterator<Item = &'l [u8]>) -> Option<Vec<u8>> {
    let mut all = vec![b'['];
    for list in lists {
        let items = list.trim_ascii().strip_prefix(b"[")?.strip_suffix(b"]")?.trim_ascii();
        if items.is_empty() {
            continue;
        }
        if all.len() > 1 {
            all.push(b',');
        }
        all.extend_from_slice(items);
    }
    all.push(b']');
    Some(all)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    const KNOWN: KnownBlocks = KnownBlocks { head: 1000, final_block: 936 };

    fn parsed(filter: Value) -> Result<Vec<(u64, u64)>, i64> {
        match LogQuery::parse(&filter, KNOWN, 500, 100) {
            Ok(LogQuery::Whole(whole)) => {
                assert_eq!(whole, filter, "it is passed on as it was sent");
                Ok(Vec::new())
            }
            Ok(LogQuery::Parts(parts)) => Ok(parts.iter().map(|part| (part.from, part.to)).collect()),
            Err(error) => Err(error.code),
        }
    }

    #[test]
    fn a_short_range_is_passed_on_as_it_was_sent() {
        for filter in [
            json!({}),
            json!({ "fromBlock": "0x385" }),
            json!({ "fromBlock": "latest", "toBlock": "latest" }),
            json!({ "fromBlock": "0x385", "toBlock": "pending", "address": "0x1" }),
            json!({ "fromBlock": "0x1", "toBlock": "0x64" }),
            json!({ "blockHash": "0x1" }),
            json!({ "fromBlock": "0x3e8", "toBlock": "0xffffffff" }),
            json!({ "fromBlock": "0xffff", "toBlock": "0xffffff" }),
        ] {
            assert_eq!(parsed(filter.clone()), Ok(vec![]), "{filter}");
        }
    }

    #[test]
    fn a_long_range_is_divided() {
        assert_eq!(
            parsed(json!({ "fromBlock": "0x1", "toBlock": "0xc9" })),
            Ok(vec![(1, 100), (101, 200), (201, 201)])
        );
        assert_eq!(parsed(json!({ "fromBlock": "0x37a" })), Ok(vec![(890, 989), (990, 1000)]));
        assert_eq!(parsed(json!({ "fromBlock": "0x320", "toBlock": "finalized" })), Ok(vec![(800, 899), (900, 936)]));
        // Blocks that are not there yet are not counted.
        assert_eq!(
            parsed(json!({ "fromBlock": "0x37a", "toBlock": "0xffffffffffffffff" })),
            Ok(vec![(890, 989), (990, 1000)])
        );
    }

    #[test]
    fn a_range_that_is_too_long_or_none_is_refused() {
        for filter in [
            json!({ "fromBlock": "earliest" }),
            json!({ "fromBlock": "0x1", "toBlock": "0x1f5" }),
            json!({ "fromBlock": "0x2", "toBlock": "0x1" }),
            json!({ "fromBlock": 1, "toBlock": 2 }),
            json!({ "fromBlock": "0x", "toBlock": "latest" }),
            json!({ "fromBlock": "1", "toBlock": "2" }),
            json!({ "fromBlock": "0x10000000000000000" }),
            json!({ "fromBlock": "newest" }),
            json!({ "blockHash": "0x1", "toBlock": "latest" }),
            json!([]),
            json!("latest"),
        ] {
            assert_eq!(parsed(filter.clone()), Err(-32602), "{filter}");
        }
    }

    #[test]
    fn lists_are_joined() {
        let join = |lists: &[&str]| {
            joined(lists.iter().map(|list| list.as_bytes())).map(|all| String::from_utf8(all).unwrap())
        };
        assert_eq!(join(&["[]", "[1, 2]", " [ ] ", "[{\"a\":[3]}]"]).as_deref(), Some("[1, 2,{\"a\":[3]}]"));
        assert_eq!(join(&["[]"]).as_deref(), Some("[]"));
        assert_eq!(join(&["[1]", "null"]), None);
    }

    proptest! {
        #[test]
        fn the_parts_cover_the_range_once(from in 0_u64..1000, count in 1_u64..500, chunk in 1_u64..200) {
            let to = from + count - 1;
            let filter = json!({ "fromBlock": format!("{from:#x}"), "toBlock": format!("{to:#x}") });
            let last = to.min(KNOWN.head);
            match LogQuery::parse(&filter, KNOWN, 500, chunk).unwrap() {
                LogQuery::Whole(_) => prop_assert!(last - from < chunk),
                LogQuery::Parts(parts) => {
                    let all: Vec<u64> = parts.iter().flat_map(|part| part.from..=part.to).collect();
                    prop_assert_eq!(all, (from..=last).collect::<Vec<_>>());
                }
            }
        }
    }
}
