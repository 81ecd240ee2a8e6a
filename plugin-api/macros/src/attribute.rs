//! The attribute of a derive, and errors that point at it.

use proc_macro2::TokenStream;
use quote::{ToTokens, quote};
use std::fmt::Display;
use syn::{
    Attribute, Error, Ident, LitStr, Result, Token,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

/// The arguments of `#[name(…)]`, if it is there. `usage` says what to write.
pub fn arguments<T: Parse>(attributes: &[Attribute], name: &str, usage: &str) -> Result<Option<T>> {
    let mut found = attributes.iter().filter(|attribute| attribute.path().is_ident(name));
    let Some(attribute) = found.next() else { return Ok(None) };
    if let Some(second) = found.next() {
        return Err(Error::new_spanned(second, format!("a second #[{name}(…)]: write one")));
    }
    attribute.parse_args().map(Some).map_err(|error| Error::new(error.span(), format!("{error}: write {usage}")))
}

/// For an item that lacks the attribute.
pub fn missing(item: &impl ToTokens, name: &str, usage: &str) -> Error {
    Error::new_spanned(item, format!("there is no #[{name}(…)]: write {usage} above it"))
}

/// A field of the struct, or a field in a field: `job_id`, `job.id`.
pub struct Field(Punctuated<Ident, Token![.]>);

impl Parse for Field {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        Punctuated::parse_separated_nonempty(input).map(Self)
    }
}

impl Field {
    /// The field's place in `self`.
    pub fn of_self(&self) -> TokenStream {
        let path = &self.0;
        quote!(self.#path)
    }
}

/// Sets a named argument, which may be there once.
pub fn set<T>(argument: &mut Option<T>, name: &Ident, value: T) -> Result<()> {
    if argument.is_some() {
        return Err(Error::new(name.span(), format!("a second `{name}`")));
    }
    *argument = Some(value);
    Ok(())
}

/// A text that satisfies the rule.
pub fn checked(text: LitStr, is_valid: impl FnOnce(&str) -> bool, message: impl Display) -> Result<LitStr> {
    if is_valid(&text.value()) { Ok(text) } else { Err(Error::new(text.span(), message)) }
}

/// All errors at once; they would cost the author a build each.
pub fn collect<T>(results: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let (mut values, mut errors) = (Vec::new(), None::<Error>);
    for result in results {
        match (result, &mut errors) {
            (Ok(value), _) => values.push(value),
            (Err(error), Some(errors)) => errors.combine(error),
            (Err(error), none) => *none = Some(error),
        }
    }
    errors.map_or(Ok(values), Err)
}
