//! A plugin's configuration: none, or one with problems.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::{fmt::Display, ops::RangeInclusive, str::FromStr};

/// The configuration of a plugin that has none.
///
/// ```
/// use plugin_api::NoConfig;
///
/// assert!(serde_json::from_str::<NoConfig>("{}").is_ok());
/// assert!(serde_json::from_str::<NoConfig>(r#"{"keep_days": 3}"#).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct NoConfig {}

/// Why a plugin refuses its configuration and does not start: a sentence that the operator can act on.
///
/// ```
/// use plugin_api::ConfigError;
///
/// let (greeting, keep_days) = ("", 0);
/// let problems = ConfigError::check([
///     greeting.is_empty().then(|| "greeting is empty".to_owned()),
///     ConfigError::outside("keep_days", keep_days, 1..=36_500),
/// ]);
/// let reason = problems.err().map(|ConfigError(reason)| reason);
/// assert_eq!(reason.as_deref(), Some("greeting is empty; keep_days is 0: it must be 1 to 36500"));
/// ```
#[derive(Clone, Debug)]
pub struct ConfigError(pub String);

impl ConfigError {
    /// Fails with all of these problems, if there are any.
    pub fn check(problems: impl IntoIterator<Item = Option<String>>) -> Result<(), Self> {
        let problems: Vec<String> = problems.into_iter().flatten().collect();
        if problems.is_empty() { Ok(()) } else { Err(Self(problems.join("; "))) }
    }

    /// The values of a key's texts, and a problem for each text that is none.
    ///
    /// ```
    /// use plugin_api::{Address, ConfigError};
    ///
    /// let (operators, problems): (Vec<Address>, _) = ConfigError::parse("operators", &["me".to_owned()]);
    /// assert!(operators.is_empty() && ConfigError::check(problems).is_err());
    /// ```
    pub fn parse<C>(key: &str, texts: &[String]) -> (C, Vec<Option<String>>)
    where
        C: Default + IntoIterator<Item: FromStr<Err: Display>> + Extend<C::Item>,
    {
        let (mut values, mut problems) = (C::default(), Vec::new());
        for text in texts {
            match text.parse() {
                Ok(value) => values.extend([value]),
                Err(error) => problems.push(Some(format!("{key}: `{text}`: {error}"))),
            }
        }
        (values, problems)
    }

    /// The problem of a key whose value is not in this range.
    pub fn outside<T: PartialOrd + Display>(key: &str, value: T, range: RangeInclusive<T>) -> Option<String> {
        let problem = || format!("{key} is {value}: it must be {} to {}", range.start(), range.end());
        (!range.contains(&value)).then(problem)
    }
}
