//! The attribute `#[api(…)]` of an error.

use crate::{attribute::checked, error_detail::Detail};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{
    Error, Expr, Ident, LitInt, LitStr, Result, Token,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
};

pub const USAGE: &str = "#[api(404, \"not_found\", \"unknown note {0}\", hint = \"what the caller can do next\")], \
                     #[api(NAME, \"the text\")] with a constant of the type ErrorSpec, #[api(\"the text\")] where the \
                     attribute above the enum has the rest, or #[api(transparent)] for all of the error inside; after a \
                     hint, a name or a text, header(\"retry-after\" = FIELD) and member(\"nextAt\" = FIELD)";

/// What `#[api(…)]` says.
pub enum Api {
    Own(OwnApi),
    /// The one field has all of it.
    Transparent(Ident),
}

pub struct OwnApi {
    /// A constant expression of the type `ErrorSpec`.
    pub spec: Option<TokenStream>,
    pub text: Option<LitStr>,
    /// What its response has beside the one body.
    pub details: Vec<Detail>,
}

impl Parse for Api {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut api = if input.peek(LitInt) {
            parse_spec(input)?
        } else if input.peek(LitStr) {
            Api::Own(OwnApi { spec: None, text: Some(input.parse()?), details: Vec::new() })
        } else {
            parse_name(input)?
        };
        if let Api::Own(own) = &mut api {
            own.details = parse_details(input)?;
        }
        if input.is_empty() { Ok(api) } else { Err(input.error("too much")) }
    }
}

fn parse_spec(input: ParseStream<'_>) -> Result<Api> {
    let status: LitInt = input.parse()?;
    if !status.base10_parse::<u16>().is_ok_and(|status| (400..600).contains(&status)) {
        return Err(Error::new(status.span(), "the status of an error is 400 to 599"));
    }
    input.parse::<Token![,]>()?;
    let code = checked(input.parse()?, is_code, "a code is for programs and consists of a-z, 0-9 and _")?;
    let text = parse_text(input)?;
    if input.is_empty() {
        return Err(Error::new(code.span(), "a hint is missing after code and text"));
    }
    input.parse::<Token![,]>()?;
    let name: Ident = input.parse()?;
    if name != "hint" {
        return Err(Error::new(name.span(), format!("`{name}` is unknown")));
    }
    input.parse::<Token![=]>()?;
    let hint = parse_hint(input)?;
    let spec = quote!(::plugin_api::ErrorSpec::new(#status, #code, #hint));
    Ok(Api::Own(OwnApi { spec: Some(spec), text, details: Vec::new() }))
}

/// `, "the text"`: the attribute above an enum has none.
fn parse_text(input: ParseStream<'_>) -> Result<Option<LitStr>> {
    if !(input.peek(Token![,]) && input.peek2(LitStr)) {
        return Ok(None);
    }
    input.parse::<Token![,]>()?;
    input.parse().map(Some)
}

/// `, header("name" = field)` and `, member("name" = field)`, any number of them.
fn parse_details(input: ParseStream<'_>) -> Result<Vec<Detail>> {
    let mut details: Vec<Detail> = Vec::new();
    while input.parse::<Option<Token![,]>>()?.is_some() && !input.is_empty() {
        let detail: Detail = input.parse()?;
        if details.iter().any(|other| other.name.value() == detail.name.value()) {
            return Err(Error::new(detail.name.span(), "it is there twice"));
        }
        details.push(detail);
    }
    Ok(details)
}

/// A text, or a constant.
fn parse_hint(input: ParseStream<'_>) -> Result<TokenStream> {
    if input.peek(LitStr) {
        let is_said = |hint: &str| !hint.trim().is_empty();
        return checked(input.parse()?, is_said, "an empty hint").map(|hint| hint.to_token_stream());
    }
    input.parse::<Expr>().map(|hint| hint.to_token_stream())
}

fn parse_name(input: ParseStream<'_>) -> Result<Api> {
    let name: Expr = input.parse()?;
    let Expr::Path(path) = &name else {
        return Err(Error::new(name.span(), "neither a status nor the name of a constant"));
    };
    if let Some(ident) = path.path.get_ident().filter(|ident| *ident == "transparent") {
        return Ok(Api::Transparent(ident.clone()));
    }
    let (spec, text) = (path.to_token_stream(), parse_text(input)?);
    Ok(Api::Own(OwnApi { spec: Some(spec), text, details: Vec::new() }))
}

fn is_code(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_plain)
}
