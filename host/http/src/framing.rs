//! Follows the bytes of an HTTP/1 connection from head to body to head, so that every head is examined before hyper sees it,
//! and so that the connection's watch knows whether a request is still arriving. Rule: if this were ever wrong about where a
//! body ends, a request would be refused or a connection end; hyper alone decides what belongs to a request.

use super::chunks::Chunks;
use super::request_head::{Examined, Length, examine};
use super::violation::Violation;
use gateway_config::HttpConfig;

const HTTP2_PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub head_bytes_max: usize,
    pub http2: bool,
}

impl Bounds {
    pub fn new(settings: &HttpConfig) -> Self {
        Self { head_bytes_max: settings.header_bytes_max, http2: settings.http2 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    /// A head, of which so many bytes were examined and not enough.
    Head {
        examined: usize,
    },
    Sized {
        left: u64,
    },
    Chunked(Chunks),
    /// Not followed any further: HTTP/2, or a request after which the connection ends.
    Nothing,
}

#[derive(Debug)]
pub struct Framing {
    bounds: Bounds,
    expect: Expect,
    /// A head has begun and not ended.
    in_head: bool,
    heads: u64,
    violation: Option<(u64, Violation)>,
}

impl Framing {
    pub fn new(bounds: Bounds) -> Self {
        Self { bounds, expect: Expect::Head { examined: 0 }, in_head: false, heads: 0, violation: None }
    }

    /// How many of these bytes hyper may see. The rest is an incomplete head, which has to come again with what follows it,
    /// or begins a head that is refused.
    pub fn follow(&mut self, bytes: &[u8]) -> usize {
        let mut position = 0;
        while position < bytes.len() {
            let rest = &bytes[position..];
            position += match &mut self.expect {
                Expect::Head { examined } => {
                    let fresh = &rest[(*examined).min(rest.len())..];
                    match self.head(rest, fresh) {
                        Some(length) => length,
                        None => return position,
                    }
                }
                Expect::Sized { left } => {
                    let length = usize::try_from(*left).unwrap_or(usize::MAX).min(rest.len());
                    *left -= length as u64;
                    if *left == 0 {
                        self.expect = Expect::Head { examined: 0 };
                    }
                    length
                }
                Expect::Chunked(chunks) => {
                    let length = chunks.follow(rest);
                    match chunks {
                        Chunks::End => self.expect = Expect::Head { examined: 0 },
                        Chunks::Broken => self.expect = Expect::Nothing,
                        _ => {}
                    }
                    length
                }
                Expect::Nothing => rest.len(),
            };
        }
        position
    }

    /// The head that is expected will not come.
    pub fn refuse(&mut self, violation: Violation) {
        self.violation = Some((self.heads, violation));
        self.expect_nothing();
    }

    /// Heads that are complete so far.
    pub fn heads(&self) -> u64 {
        self.heads
    }

    pub fn in_head(&self) -> bool {
        self.in_head
    }

    /// The client owes bytes of a body.
    pub fn in_body(&self) -> bool {
        matches!(self.expect, Expect::Sized { .. } | Expect::Chunked(_))
    }

    /// The request, counted from 0, that is refused. None follows it.
    pub fn violation(&self) -> Option<(u64, Violation)> {
        self.violation
    }

    /// The length of the head at the begin of `bytes`; none: it is not complete, or refused.
    fn head(&mut self, bytes: &[u8], fresh: &[u8]) -> Option<usize> {
        if self.heads == 0 && is_begin_of_http2(bytes) {
            return self.http2(bytes);
        }
        // What drips in without the end of a line cannot be the end of a head. The first bytes are examined in any case:
        // rubbish is answered at once.
        let may_be_more = fresh.len() == bytes.len() || fresh.contains(&b'\n');
        let examined = if may_be_more || bytes.len() >= self.bounds.head_bytes_max {
            examine(bytes, self.bounds.head_bytes_max)
        } else {
            Examined::Incomplete
        };
        match examined {
            Examined::Good(head) => {
                self.heads += 1;
                self.in_head = false;
                self.expect = match head.body {
                    Length::Known(0) => Expect::Head { examined: 0 },
                    Length::Known(left) => Expect::Sized { left },
                    Length::Chunked => Expect::Chunked(Chunks::Start),
                };
                Some(head.bytes)
            }
            Examined::Incomplete => {
                self.wait(bytes);
                None
            }
            Examined::Refused(violation) => {
                self.refuse(violation);
                None
            }
        }
    }

    fn http2(&mut self, bytes: &[u8]) -> Option<usize> {
        if bytes.len() < HTTP2_PREFACE.len() {
            self.wait(bytes);
            None
        } else if self.bounds.http2 {
            self.expect_nothing();
            Some(bytes.len())
        } else {
            self.refuse(Violation::Http2IsOff);
            None
        }
    }

    fn wait(&mut self, bytes: &[u8]) {
        // Empty lines may come before a request; they do not begin it.
        self.in_head = !bytes.trim_ascii_start().is_empty();
        self.expect = Expect::Head { examined: bytes.len() };
    }

    fn expect_nothing(&mut self) {
        self.heads += 1;
        self.in_head = false;
        self.expect = Expect::Nothing;
    }
}

/// All of the preface, or as much of it as there is.
fn is_begin_of_http2(bytes: &[u8]) -> bool {
    let length = bytes.len().min(HTTP2_PREFACE.len());
    bytes[..length] == HTTP2_PREFACE[..length]
}
