//! Where a chunked body ends (RFC 9112 §7.1). Rule: this agrees with hyper on every body that hyper accepts. A body
//! that hyper refuses needs no correct end, because the connection ends with it.

/// The states of hyper's chunked decoder, without the decoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChunkedState {
    /// Before the first digit of a size.
    Start,
    Size(u64),
    /// Between the size and the end of its line: whitespace and extensions.
    Extension(u64),
    SizeLf(u64),
    Data(u64),
    DataCr,
    DataLf,
    /// At the start of a line after the last chunk.
    TrailerStart,
    Trailer,
    TrailerLf,
    EndLf,
    End,
    Invalid,
}

impl ChunkedState {
    /// Reads `bytes` up to the end of the body at most. Returns how many of them belong to the body.
    pub(crate) fn advance(&mut self, bytes: &[u8]) -> usize {
        let mut position = 0;
        while position < bytes.len() && !matches!(self, Self::End | Self::Invalid) {
            if let Self::Data(remaining) = self {
                let length = usize::try_from(*remaining).unwrap_or(usize::MAX).min(bytes.len() - position);
                position += length;
                *remaining -= length as u64;
                if *remaining == 0 {
                    *self = Self::DataCr;
                }
            } else {
                *self = self.step(bytes[position]);
                position += 1;
            }
        }
        position
    }

    fn step(self, byte: u8) -> Self {
        match (self, byte) {
            (Self::Start, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => Self::Size(0).push_digit(byte),
            (Self::Size(_), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.push_digit(byte),
            (Self::Size(size), b' ' | b'\t' | b';') => Self::Extension(size),
            (Self::Size(size) | Self::Extension(size), b'\r') => Self::SizeLf(size),
            (Self::Extension(_), byte) if byte != b'\n' => self,
            (Self::SizeLf(0), b'\n') => Self::TrailerStart,
            (Self::SizeLf(size), b'\n') => Self::Data(size),
            (Self::DataCr, b'\r') => Self::DataLf,
            (Self::DataLf, b'\n') => Self::Start,
            (Self::TrailerStart, b'\r') => Self::EndLf,
            (Self::Trailer, b'\r') => Self::TrailerLf,
            (Self::TrailerStart | Self::Trailer, _) => Self::Trailer,
            (Self::TrailerLf, b'\n') => Self::TrailerStart,
            (Self::EndLf, b'\n') => Self::End,
            _ => Self::Invalid,
        }
    }

    fn push_digit(self, byte: u8) -> Self {
        let (Self::Size(size), Some(digit)) = (self, char::from(byte).to_digit(16)) else { return Self::Invalid };
        let size = size.checked_mul(16).and_then(|size| size.checked_add(u64::from(digit)));
        size.map_or(Self::Invalid, Self::Size)
    }
}
