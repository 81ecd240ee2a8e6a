//! Follows the bytes of an HTTP/1 connection just far enough to know where each request's head begins and ends. hyper reads
//! leniently what RFC 9112 lets a server refuse (two kinds of length, lines that end in a bare LF) and hides it from the
//! service; it also does not tell whether a request is still arriving. Rule: this code decides nothing about meaning. If it
//! is wrong, a request is refused or a connection ends; hyper alone says where a request ends.

/// Longest line whose text matters here.
const LINE_MAX: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Violation {
    /// `Content-Length` and `Transfer-Encoding` together: the classic of request smuggling.
    TwoLengths,
    /// A head line that ends in LF without CR.
    BareLineFeed,
    /// A length header longer than any honest one.
    AbsurdLength,
}

impl Violation {
    pub fn reason(self) -> &'static str {
        match self {
            Self::TwoLengths => "the request has both Content-Length and Transfer-Encoding",
            Self::BareLineFeed => "a line of the request head does not end with CR LF",
            Self::AbsurdLength => "a length header of the request is too long",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expect {
    Head,
    Sized {
        left: u64,
    },
    ChunkSize,
    Chunk {
        left: u64,
    },
    ChunkEnd,
    Trailers,
    /// Not followed any further: HTTP/2, or a request after which the connection ends.
    Nothing,
}

#[derive(Debug)]
pub struct Framing {
    expect: Expect,
    line: Line,
    head: Head,
    heads: u64,
    violation: Option<(u64, Violation)>,
}

/// What was seen of the current head.
#[derive(Debug, Default)]
struct Head {
    lines: u32,
    length: Option<u64>,
    chunked: bool,
    violation: Option<Violation>,
}

impl Framing {
    pub fn new() -> Self {
        Self { expect: Expect::Head, line: Line::default(), head: Head::default(), heads: 0, violation: None }
    }

    pub fn feed(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            match &mut self.expect {
                Expect::Nothing => return,
                Expect::Sized { left } => {
                    skip(left, &mut bytes);
                    if *left == 0 {
                        self.expect = Expect::Head;
                    }
                }
                Expect::Chunk { left } => {
                    skip(left, &mut bytes);
                    if *left == 0 {
                        self.expect = Expect::ChunkEnd;
                    }
                }
                Expect::Head | Expect::ChunkSize | Expect::ChunkEnd | Expect::Trailers => self.feed_line(&mut bytes),
            }
        }
    }

    /// Heads that are complete so far.
    pub fn heads(&self) -> u64 {
        self.heads
    }

    /// A head has begun and not ended.
    pub fn in_head(&self) -> bool {
        self.expect == Expect::Head && (self.head.lines > 0 || !self.line.is_empty())
    }

    /// The client owes bytes of a body.
    pub fn in_body(&self) -> bool {
        !matches!(self.expect, Expect::Head | Expect::Nothing)
    }

    /// The first request, counted from 0, that is to be refused.
    pub fn violation(&self) -> Option<(u64, Violation)> {
        self.violation
    }

    fn feed_line(&mut self, bytes: &mut &[u8]) {
        let Some(end) = bytes.iter().position(|byte| *byte == b'\n') else {
            self.line.keep(bytes);
            *bytes = &[];
            return;
        };
        let (part, rest) = (&bytes[..end], &bytes[end + 1..]);
        *bytes = rest;
        let mut line = std::mem::take(&mut self.line);
        let whole = line.complete(part);
        self.end_line(whole);
        line.clear();
        self.line = line;
    }

    fn end_line(&mut self, line: Whole<'_>) {
        match self.expect {
            Expect::Head => self.end_head_line(line),
            Expect::ChunkSize => {
                self.expect = match chunk_size(line.text) {
                    Some(0) => Expect::Trailers,
                    Some(left) => Expect::Chunk { left },
                    None => Expect::Nothing,
                }
            }
            Expect::ChunkEnd => self.expect = Expect::ChunkSize,
            Expect::Trailers if line.text.is_empty() => self.expect = Expect::Head,
            Expect::Trailers | Expect::Sized { .. } | Expect::Chunk { .. } | Expect::Nothing => {}
        }
    }

    fn end_head_line(&mut self, line: Whole<'_>) {
        if !line.had_cr {
            self.head.violation.get_or_insert(Violation::BareLineFeed);
        }
        match (self.head.lines, line.text) {
            // Empty lines before a request are allowed.
            (0, b"") => {}
            // The preface of HTTP/2, which ends in the same bytes as an empty head.
            (0, b"PRI * HTTP/2.0") => {
                self.heads += 1;
                self.expect = Expect::Nothing;
            }
            (_, b"") => self.end_head(),
            _ => {
                self.head.lines += 1;
                self.head.header(line);
            }
        }
    }

    fn end_head(&mut self) {
        let head = std::mem::take(&mut self.head);
        self.expect = match head {
            Head { violation: Some(violation), .. } => {
                self.violation = Some((self.heads, violation));
                Expect::Nothing
            }
            Head { chunked: true, .. } => Expect::ChunkSize,
            Head { length: Some(left), .. } if left > 0 => Expect::Sized { left },
            _ => Expect::Head,
        };
        self.heads += 1;
    }
}

impl Head {
    fn header(&mut self, line: Whole<'_>) {
        let Some(colon) = line.text.iter().take(18).position(|byte| *byte == b':') else { return };
        let (name, value) = line.text.split_at(colon);
        let is_length = name.eq_ignore_ascii_case(b"content-length");
        let is_coding = name.eq_ignore_ascii_case(b"transfer-encoding");
        if !is_length && !is_coding {
            return;
        }
        if line.cut {
            self.violation = Some(Violation::AbsurdLength);
        }
        if is_coding {
            self.chunked = true;
        } else {
            // An unreadable length is hyper's to refuse.
            let value = std::str::from_utf8(&value[1..]).unwrap_or_default();
            self.length = Some(value.trim().parse().unwrap_or(0));
        }
        if self.chunked && self.length.is_some() {
            self.violation = Some(Violation::TwoLengths);
        }
    }
}

fn skip(left: &mut u64, bytes: &mut &[u8]) {
    let skipped = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len());
    *bytes = &bytes[skipped..];
    *left -= skipped as u64;
}

/// The size before any extension; none: hyper will refuse it.
fn chunk_size(line: &[u8]) -> Option<u64> {
    let digits = line.iter().position(|byte| !byte.is_ascii_hexdigit()).unwrap_or(line.len());
    u64::from_str_radix(std::str::from_utf8(&line[..digits]).ok()?, 16).ok()
}

/// The begin of a line whose end has not arrived.
#[derive(Debug, Default)]
struct Line {
    kept: Vec<u8>,
    /// The line was longer than what is kept.
    cut: bool,
    last: Option<u8>,
}

struct Whole<'a> {
    text: &'a [u8],
    had_cr: bool,
    cut: bool,
}

impl Line {
    fn is_empty(&self) -> bool {
        self.last.is_none()
    }

    fn keep(&mut self, part: &[u8]) {
        let room = LINE_MAX - self.kept.len();
        self.kept.extend_from_slice(&part[..part.len().min(room)]);
        self.cut |= part.len() > room;
        self.last = part.last().copied().or(self.last);
    }

    /// The line whose last part this is, without its end. A line that arrived at once is not copied.
    fn complete<'a>(&'a mut self, part: &'a [u8]) -> Whole<'a> {
        if self.is_empty() {
            let text = part.strip_suffix(b"\r");
            return Whole { text: text.unwrap_or(part), had_cr: text.is_some(), cut: false };
        }
        self.keep(part);
        let had_cr = self.last == Some(b'\r');
        let text = if had_cr && !self.cut { self.kept.strip_suffix(b"\r") } else { None };
        Whole { text: text.unwrap_or(&self.kept), had_cr, cut: self.cut }
    }

    fn clear(&mut self) {
        self.kept.clear();
        self.cut = false;
        self.last = None;
    }
}
