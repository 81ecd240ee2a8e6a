//! The kinds of errors: status, code and hint.

/// Status, code and hint of one kind of error.
///
/// ```
/// use plugin_api::ErrorSpec;
///
/// /// Several variants of an error have it: `#[api(NOT_FOUND)]`.
/// const NOT_FOUND: ErrorSpec = ErrorSpec::new(404, "not_found", "GET /api/notes lists the notes there are");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorSpec {
    pub status: u16,
    /// For programs; stable.
    pub code: &'static str,
    /// What the caller can do next.
    pub hint: &'static str,
}

impl ErrorSpec {
    pub const fn new(status: u16, code: &'static str, hint: &'static str) -> Self {
        Self { status, code, hint }
    }
}

/// Number of specs in all parts; for the derive.
pub const fn count_specs(parts: &[&[ErrorSpec]]) -> usize {
    let (mut part, mut count) = (0, 0);
    while part < parts.len() {
        count += parts[part].len();
        part += 1;
    }
    count
}

/// The specs of all parts; for the derive. `COUNT` is [`count_specs`].
pub const fn join_specs<const COUNT: usize>(parts: &[&[ErrorSpec]]) -> [ErrorSpec; COUNT] {
    let mut all = [ErrorSpec::new(500, "", ""); COUNT];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut index = 0;
        while index < parts[part].len() {
            all[next] = parts[part][index];
            index += 1;
            next += 1;
        }
        part += 1;
    }
    all
}
