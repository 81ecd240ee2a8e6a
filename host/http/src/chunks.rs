//! Where a chunked body ends (RFC 9112 §7.1). Rule: this agrees with hyper on every body that hyper accepts; of one that
//! hyper refuses nothing has to be known, because the connection ends with it.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chunks {
    /// Before the first digit of a size.
    Start,
    Size(u64),
    /// What may stand behind the size: extensions.
    SizeRest(u64),
    SizeLf(u64),
    Data(u64),
    DataCr,
    DataLf,
    /// At the begin of a line behind the last chunk.
    LineStart,
    Trailer,
    TrailerLf,
    EndLf,
    End,
    Broken,
}

impl Chunks {
    /// Goes on over `bytes` until they or the body end, and tells how many were the body's.
    pub fn follow(&mut self, bytes: &[u8]) -> usize {
        let mut position = 0;
        while position < bytes.len() && !matches!(self, Self::End | Self::Broken) {
            if let Self::Data(left) = self {
                let length = usize::try_from(*left).unwrap_or(usize::MAX).min(bytes.len() - position);
                position += length;
                *left -= length as u64;
                if *left == 0 {
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
            (Self::Start, b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => Self::Size(0).digit(byte),
            (Self::Size(_), b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F') => self.digit(byte),
            (Self::Size(size), b' ' | b'\t' | b';') => Self::SizeRest(size),
            (Self::Size(size) | Self::SizeRest(size), b'\r') => Self::SizeLf(size),
            (Self::SizeRest(_), byte) if byte != b'\n' => self,
            (Self::SizeLf(0), b'\n') => Self::LineStart,
            (Self::SizeLf(size), b'\n') => Self::Data(size),
            (Self::DataCr, b'\r') => Self::DataLf,
            (Self::DataLf, b'\n') => Self::Start,
            (Self::LineStart, b'\r') => Self::EndLf,
            (Self::Trailer, b'\r') => Self::TrailerLf,
            (Self::LineStart | Self::Trailer, _) => Self::Trailer,
            (Self::TrailerLf, b'\n') => Self::LineStart,
            (Self::EndLf, b'\n') => Self::End,
            _ => Self::Broken,
        }
    }

    fn digit(self, byte: u8) -> Self {
        let (Self::Size(size), Some(digit)) = (self, char::from(byte).to_digit(16)) else { return Self::Broken };
        let sum = size.checked_mul(16).and_then(|size| size.checked_add(u64::from(digit)));
        sum.map_or(Self::Broken, Self::Size)
    }
}
