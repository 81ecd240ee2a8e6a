//! Splits SQL into tokens. The rule: only text that SQLite, PostgreSQL and the parser split in the same way passes, so
//! that what runs is what was checked. What they read differently (nested comments, `E'…'`, `$tag$`, `[name]`, …) is
//! refused.

use crate::dialect::Dialect;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TokenKind<'a> {
    Word(&'a str),
    /// `"name"`, without the quotes.
    Quoted(&'a str),
    /// `'text'`, without the quotes.
    Text(&'a str),
    /// `x'00ff'`
    Blob,
    Number,
    /// `$n`
    Param(u16),
    Symbol(u8),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Token<'a> {
    pub kind: TokenKind<'a>,
    pub start: usize,
    pub end: usize,
    /// Number of open parentheses around it.
    pub depth: u32,
}

impl Token<'_> {
    pub(crate) fn is_word(&self, word: &str) -> bool {
        matches!(self.kind, TokenKind::Word(found) if found.eq_ignore_ascii_case(word))
    }

    pub(crate) fn is_symbol(&self, symbol: u8) -> bool {
        self.kind == TokenKind::Symbol(symbol)
    }
}

/// The tokens of the text, or the reason why it is refused.
pub(crate) fn tokenize(sql: &str, dialect: Dialect) -> Result<Vec<Token<'_>>, String> {
    let mut lexer = Lexer { sql, bytes: sql.as_bytes(), at: 0, depth: 0, dialect };
    let mut tokens: Vec<Token<'_>> = Vec::with_capacity(sql.len() / 5);
    while let Some(token) = lexer.next(tokens.last())? {
        tokens.push(token);
    }
    Ok(tokens)
}

struct Lexer<'a> {
    sql: &'a str,
    bytes: &'a [u8],
    at: usize,
    depth: u32,
    dialect: Dialect,
}

const SYMBOLS: &[u8] = b"+-*/%<>=!|&~,().;@#:[]^";

fn is_word_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

impl<'a> Lexer<'a> {
    fn peek(&self, ahead: usize) -> u8 {
        // NUL means the end: a NUL in the text itself is refused as a symbol.
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn next(&mut self, last: Option<&Token<'a>>) -> Result<Option<Token<'a>>, String> {
        self.skip_whitespace()?;
        if self.at >= self.bytes.len() {
            return Ok(None);
        }
        let start = self.at;
        let adjacent = last.filter(|last| last.end == start);
        let kind = match self.bytes[start] {
            b'\'' => self.text(adjacent)?,
            b'"' => self.quoted(adjacent)?,
            b'$' => self.param(adjacent)?,
            byte if byte.is_ascii_digit() || (byte == b'.' && self.peek(1).is_ascii_digit()) => self.number()?,
            byte if is_word_part(byte) => self.word(),
            _ => self.symbol()?,
        };
        Ok(Some(Token { kind, start, end: self.at, depth: self.depth }))
    }

    fn skip_whitespace(&mut self) -> Result<(), String> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b' ' | b'\t' | b'\n', _) => self.at += 1,
                (b'\r', b'\n') => self.at += 2,
                (b'-', b'-') => self.skip_line_comment()?,
                (b'/', b'*') => self.skip_block_comment()?,
                _ => return Ok(()),
            }
        }
    }

    fn skip_line_comment(&mut self) -> Result<(), String> {
        let line = self.sql[self.at..].lines().next().unwrap_or_default();
        if line.contains(['\r', '\0']) {
            return Err("a comment holds a control character".into());
        }
        self.at += line.len();
        Ok(())
    }

    fn skip_block_comment(&mut self) -> Result<(), String> {
        let rest = &self.sql[self.at + 2..];
        let length = rest.find("*/").ok_or("a comment is not closed")?;
        // PostgreSQL nests comments, SQLite does not.
        if rest[..length].contains("/*") || rest[..length].contains('\0') {
            return Err("comments inside comments are not allowed".into());
        }
        self.at += length + 4;
        Ok(())
    }

    fn text(&mut self, adjacent: Option<&Token<'a>>) -> Result<TokenKind<'a>, String> {
        let is_blob = match adjacent.map(|token| token.kind) {
            Some(TokenKind::Word(prefix)) if prefix.eq_ignore_ascii_case("x") => true,
            Some(TokenKind::Word(_) | TokenKind::Symbol(b'&') | TokenKind::Text(_)) => {
                return Err("texts with a prefix (E'…', U&'…', …) are not allowed".into());
            }
            _ => false,
        };
        let content = self.until_quote('\'')?;
        Ok(if is_blob { TokenKind::Blob } else { TokenKind::Text(content) })
    }

    fn quoted(&mut self, adjacent: Option<&Token<'a>>) -> Result<TokenKind<'a>, String> {
        if matches!(adjacent.map(|token| token.kind), Some(TokenKind::Word(_) | TokenKind::Symbol(b'&'))) {
            return Err("names with a prefix (U&\"…\") are not allowed".into());
        }
        let content = self.until_quote('"')?;
        if content.is_empty() || content.contains('"') {
            return Err("a quoted name is empty or holds a quote".into());
        }
        Ok(TokenKind::Quoted(content))
    }

    /// The content up to the closing quote; doubled quotes are not unescaped.
    fn until_quote(&mut self, quote: char) -> Result<&'a str, String> {
        let from = self.at + 1;
        let mut end = from;
        loop {
            let length = self.sql[end..].find(quote).ok_or("a quote is not closed")?;
            end += length + 1;
            if !self.sql[end..].starts_with(quote) {
                break;
            }
            end += 1;
        }
        self.at = end;
        let content = &self.sql[from..end - 1];
        if content.contains('\0') {
            return Err("a quoted text holds a NUL character".into());
        }
        Ok(content)
    }

    fn param(&mut self, adjacent: Option<&Token<'a>>) -> Result<TokenKind<'a>, String> {
        let digits = self.bytes[self.at + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = &self.sql[self.at + 1..self.at + 1 + digits];
        let is_adjacent_to_name = matches!(
            adjacent.map(|token| token.kind),
            Some(TokenKind::Word(_) | TokenKind::Number | TokenKind::Param(_))
        );
        if is_adjacent_to_name || number.is_empty() || number.starts_with('0') {
            return Err("placeholders are $1, $2, …".into());
        }
        self.at += 1 + digits;
        let next = self.peek(0);
        // SQLite reads `$1::text` and `$1(x)` as one long name.
        let joins_next = self.dialect == Dialect::Sqlite && matches!(next, b':' | b'(');
        if is_word_part(next) || joins_next {
            return Err("a placeholder is followed by other text: use cast($1 as …)".into());
        }
        number
            .parse()
            .map(TokenKind::Param)
            .map_err(|_error: std::num::ParseIntError| "a placeholder's number is too large".into())
    }

    fn number(&mut self) -> Result<TokenKind<'a>, String> {
        let is_hexadecimal = self.peek(0) == b'0' && matches!(self.peek(1), b'x' | b'X');
        while is_word_part(self.peek(0)) || self.peek(0) == b'.' {
            let is_exponent = !is_hexadecimal && matches!(self.peek(0), b'e' | b'E');
            self.at += 1;
            if is_exponent && matches!(self.peek(0), b'+' | b'-') {
                self.at += 1;
            }
        }
        Ok(TokenKind::Number)
    }

    fn word(&mut self) -> TokenKind<'a> {
        let start = self.at;
        while is_word_part(self.peek(0)) {
            self.at += 1;
        }
        TokenKind::Word(&self.sql[start..self.at])
    }

    fn symbol(&mut self) -> Result<TokenKind<'a>, String> {
        let symbol = self.bytes[self.at];
        let next = self.peek(1);
        let refused = match symbol {
            b'?' => return Err("placeholders are $1, $2, …; ? is not allowed".into()),
            b'[' | b']' => self.dialect == Dialect::Sqlite,
            // SQLite's named placeholders.
            b'@' | b'#' => is_word_part(next),
            b':' => is_word_part(next) && !self.is_cast(),
            _ => !SYMBOLS.contains(&symbol),
        };
        if refused {
            return Err(format!(
                "the character {:?} is not allowed here",
                self.sql[self.at..].chars().next().unwrap_or_default()
            ));
        }
        match symbol {
            b'(' => self.depth += 1,
            b')' => self.depth = self.depth.checked_sub(1).ok_or("a ) is not opened")?,
            _ => {}
        }
        self.at += 1;
        Ok(TokenKind::Symbol(symbol))
    }

    /// Whether this is the second colon of PostgreSQL's `::type`.
    fn is_cast(&self) -> bool {
        self.dialect == Dialect::Postgres && self.at > 0 && self.bytes[self.at - 1] == b':'
    }
}
