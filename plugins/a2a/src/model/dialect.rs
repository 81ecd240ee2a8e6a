//! The dialects of A2A, which the method of a request tells apart. Each response is in the dialect of its request.

/// Which names and shapes a message has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// 0.1: `tasks/send`.
    V01,
    /// 0.2 and 0.3: `message/send`.
    V03,
    /// 1.0: `SendMessage`.
    V1,
}

/// Whether a value of the header `A2A-Version` is one that the endpoint speaks; an absent or empty one is 0.3.
pub fn is_known_version(version: &str) -> bool {
    let mut numbers = version.trim().splitn(3, '.');
    let major_minor = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    let is_patch =
        numbers.next().is_none_or(|patch| !patch.is_empty() && patch.bytes().all(|byte| byte.is_ascii_digit()));
    version.trim().is_empty() || is_patch && matches!(major_minor, ("0", "1" | "2" | "3") | ("1", "0"))
}

#[cfg(test)]
mod tests {
    use super::is_known_version;

    #[test]
    fn versions_are_major_and_minor() {
        for known in ["", " ", "0.1", "0.2.5", "0.3", "0.3.0", "1.0", "1.0.1"] {
            assert!(is_known_version(known), "{known}");
        }
        for unknown in ["0", "1", "0.4", "1.1", "2.0", "1.0.", "1.0.x", "01.0", "latest", "1.0, 0.3", "0.3.0.0"] {
            assert!(!is_known_version(unknown), "{unknown}");
        }
    }
}
