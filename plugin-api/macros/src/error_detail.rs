//! `header("…" = field)` and `member("…" = field)`: what the response of an error has beside the one body.

use crate::attribute::checked;
use proc_macro2::TokenStream;
use quote::{ToTokens as _, format_ident, quote};
use syn::{
    Error, Fields, Ident, LitStr, Member, Result, Token, Type, parenthesized,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
};

const OF_EVERY_ERROR: [&str; 3] = ["error", "code", "hint"];
const THE_GATEWAYS_OWN: [&str; 5] = ["connection", "content-length", "content-type", "transfer-encoding", "upgrade"];

/// One header or member.
pub struct Detail {
    is_header: bool,
    pub name: LitStr,
    field: Member,
}

impl Parse for Detail {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let place: Ident = input.parse()?;
        if place != "header" && place != "member" {
            return Err(Error::new(place.span(), format!("`{place}` is unknown")));
        }
        let content;
        parenthesized!(content in input);
        let (is_header, name) = (place == "header", content.parse()?);
        let name = if is_header { checked_header(name)? } else { checked_member(name)? };
        content.parse::<Token![=]>()?;
        let field = content.parse()?;
        if !content.is_empty() {
            return Err(content.error("one name and one field"));
        }
        Ok(Self { is_header, name, field })
    }
}

fn checked_header(name: LitStr) -> Result<LitStr> {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    let is_name = |name: &str| !name.is_empty() && name.bytes().all(is_plain);
    let name = checked(name, is_name, "a header's name consists of a-z, 0-9 and -")?;
    checked(name, |name| !THE_GATEWAYS_OWN.contains(&name), "the gateway writes this header")
}

fn checked_member(name: LitStr) -> Result<LitStr> {
    let name = checked(name, |name| !name.is_empty(), "a member has a name")?;
    checked(name, |name| !OF_EVERY_ERROR.contains(&name), "every error has this member")
}

/// Code for the details of one variant.
pub struct KindDetails {
    /// An arm of `match self`: the values.
    pub values: TokenStream,
    /// Statements that add to the variable `details`: names and schemas.
    pub documented: TokenStream,
}

impl KindDetails {
    pub fn new(path: &TokenStream, spec: &TokenStream, details: &[Detail], fields: &Fields) -> Result<Self> {
        let (mut bound, mut calls, mut documented) = (Vec::new(), Vec::new(), Vec::new());
        for (index, Detail { is_header, name, field }) in details.iter().enumerate() {
            let (variable, ty) = (format_ident!("field{index}"), type_of(field, fields)?);
            bound.push(quote!(#field: #variable));
            if *is_header {
                calls.push(quote!(.header(#name, #variable)));
                documented.push(quote!(::plugin_api::__private::ErrorDetail::header(#spec, #name)));
            } else {
                calls.push(quote!(.member(#name, #variable)));
                let schema = quote!(schemas.subschema_for::<#ty>().to_value());
                documented.push(quote!(::plugin_api::__private::ErrorDetail::member(#spec, #name, #schema)));
            }
        }
        Ok(Self {
            values: quote!(#path { #(#bound,)* .. } => ::plugin_api::__private::ErrorDetails::default() #(#calls)*),
            documented: quote!(#(details.push(#documented);)*),
        })
    }

    /// Those of the error inside.
    pub fn of_inner(pattern: &TokenStream, inner: &TokenStream) -> Self {
        Self {
            values: quote!(#pattern => ::plugin_api::ApiError::details(inner)),
            documented: quote!(details.extend(<#inner as ::plugin_api::ApiError>::describe_details(schemas));),
        }
    }
}

fn type_of<'f>(member: &Member, fields: &'f Fields) -> Result<&'f Type> {
    let found = fields.members().zip(fields).find(|(own, _)| own == member);
    let missing = || {
        let name = member.to_token_stream();
        Error::new(member.span(), format!("there is no field `{name}`"))
    };
    found.map(|(_, field)| &field.ty).ok_or_else(missing)
}
