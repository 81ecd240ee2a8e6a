//! Filter of events by type.

/// One type, or all types that begin with a prefix that ends in a dot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TypeFilter {
    Exactly(String),
    StartingWith(String),
}

impl TypeFilter {
    /// `None` when the text is empty: every type matches.
    pub fn new(text: &str) -> Option<Self> {
        match text.trim() {
            "" => None,
            prefix if prefix.ends_with('.') => Some(Self::StartingWith(prefix.to_owned())),
            kind => Some(Self::Exactly(kind.to_owned())),
        }
    }

    /// As the client sent it, and as [`plugin_api::manifest::Subscription`] expects it.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Exactly(text) | Self::StartingWith(text) => text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_that_ends_in_a_dot_is_a_prefix() {
        assert_eq!(TypeFilter::new("job."), Some(TypeFilter::StartingWith("job.".to_owned())));
        assert_eq!(TypeFilter::new(" job.requested "), Some(TypeFilter::Exactly("job.requested".to_owned())));
        assert_eq!(TypeFilter::new("job"), Some(TypeFilter::Exactly("job".to_owned())));
        assert_eq!(TypeFilter::new(""), None);
    }
}
