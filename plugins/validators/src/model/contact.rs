//! Contacts: e-mail addresses and handles of messengers.

use plugin_api::{JsonSchema, format, handles::Bind};
use serde::{Deserialize, Serialize};

const CHARS_MAX: usize = 254;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema, Bind)]
#[serde(rename_all = "lowercase")]
pub enum ContactKind {
    Email,
    Telegram,
}

/// A contact in its normalised form, in which it is signed and stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contact {
    pub kind: ContactKind,
    pub text: String,
}

impl Contact {
    /// Normalises an e-mail address (domain in lower case) or a handle (`@name`). `None` when it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if format::utf16_len(text) > CHARS_MAX {
            return None;
        }
        match text.split_once('@') {
            Some((local, domain)) if !local.is_empty() => {
                let is_mail = is_local_part(local) && is_domain(domain);
                let text = format!("{local}@{}", domain.to_ascii_lowercase());
                is_mail.then_some(Self { kind: ContactKind::Email, text })
            }
            Some((_, handle)) => Self::telegram(handle),
            None => Self::telegram(after_host(text)),
        }
    }

    fn telegram(handle: &str) -> Option<Self> {
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
        let is_handle = (5..=32).contains(&handle.len()) && handle.bytes().all(is_name);
        is_handle.then(|| Self { kind: ContactKind::Telegram, text: format!("@{handle}") })
    }
}

/// Returns `name` of `https://t.me/name`.
fn after_host(text: &str) -> &str {
    let bare = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://")).unwrap_or(text);
    bare.strip_prefix("t.me/").unwrap_or(text)
}

fn is_local_part(text: &str) -> bool {
    text.len() <= 64
        && text.chars().all(|letter| !letter.is_whitespace() && !letter.is_control() && !"<>\"(),;:\\".contains(letter))
}

fn is_domain(text: &str) -> bool {
    let is_label = |label: &str| {
        !label.is_empty()
            && !label.starts_with('-')
            && !label.ends_with('-')
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    text.contains('.') && text.split('.').all(is_label)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    #[test]
    fn contacts_are_normalised() {
        for (text, kind, form) in [
            (" Ann.B+x@Mail.EXAMPLE ", ContactKind::Email, "Ann.B+x@mail.example"),
            ("@ann_b", ContactKind::Telegram, "@ann_b"),
            ("Ann_B", ContactKind::Telegram, "@Ann_B"),
            ("t.me/ann_b", ContactKind::Telegram, "@ann_b"),
            ("https://t.me/ann_b", ContactKind::Telegram, "@ann_b"),
        ] {
            assert_eq!(Contact::parse(text).unwrap(), Contact { kind, text: form.to_owned() });
        }
    }

    #[test]
    fn other_texts_are_refused() {
        let long = format!("{}@a.example", "x".repeat(250));
        for text in [
            "",
            "@",
            "ann",
            "@ann",
            "a b c d e",
            "ann@",
            "ann@localhost",
            "ann@a..b",
            "ann@-a.example",
            "a@b@c.example",
            "<ann>@a.example",
            "ann\n@a.example",
            "ann@a.example\ninjected: x",
            long.as_str(),
            "x.me/ann_b",
            "@ännchen",
        ] {
            assert_eq!(Contact::parse(text), None, "{text:?}");
        }
    }
}
