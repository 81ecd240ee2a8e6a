//! `#[derive(ApiError)]`: status, code and hint of each kind of error.

use crate::{
    attribute::{arguments, checked, collect, missing},
    error_detail::{Detail, KindDetails},
};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Fields, Ident, LitInt, LitStr, Member, Result, Token, Variant,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
};

const USAGE: &str = "#[api(404, \"not_found\", hint = \"what the caller can do next\")], #[api(NAME)] with a constant of the \
                     type ErrorSpec, or #[api(transparent)] for the status of the error inside; after a hint or a name, \
                     header(\"retry-after\" = FIELD) and member(\"nextAt\" = FIELD)";

/// What `#[api(…)]` says.
#[derive(Clone)]
enum Api {
    /// A constant expression of the type `ErrorSpec`, and what its response has beside the one body.
    Spec(TokenStream, Vec<Detail>),
    /// The one field has the status.
    Transparent(Ident),
}

impl Parse for Api {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let mut api = if input.peek(LitInt) { parse_spec(input)? } else { parse_name(input)? };
        if let Api::Spec(_, details) = &mut api {
            *details = parse_details(input)?;
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
    if input.is_empty() {
        return Err(Error::new(code.span(), "a hint is missing after the code"));
    }
    input.parse::<Token![,]>()?;
    let name: Ident = input.parse()?;
    if name != "hint" {
        return Err(Error::new(name.span(), format!("`{name}` is unknown")));
    }
    input.parse::<Token![=]>()?;
    let hint = parse_hint(input)?;
    Ok(Api::Spec(quote!(::plugin_api::ErrorSpec::new(#status, #code, #hint)), Vec::new()))
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
    Ok(match path.path.get_ident() {
        Some(ident) if ident == "transparent" => Api::Transparent(ident.clone()),
        _ => Api::Spec(path.to_token_stream(), Vec::new()),
    })
}

fn is_code(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_plain)
}

/// A variant, or the struct.
struct Kind {
    pattern: TokenStream,
    spec: Spec,
    details: Option<KindDetails>,
}

enum Spec {
    Own(TokenStream),
    /// The type of the one field.
    Inner(TokenStream),
}

pub fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let own: Option<Api> = arguments(&item.attrs, "api", USAGE)?;
    let kinds = match &item.data {
        Data::Enum(data) => {
            let default = default_spec(own)?;
            collect(data.variants.iter().map(|variant| Kind::of_variant(variant, default.as_ref())))?
        }
        Data::Struct(data) => {
            let api = own.ok_or_else(|| missing(&item.ident, "api", USAGE))?;
            vec![Kind::new(&quote!(Self), api, &data.fields)?]
        }
        Data::Union(_) => return Err(Error::new(item.ident.span(), "an error is an enum or a struct")),
    };
    let (name, (impl_generics, type_generics, conditions)) = (&item.ident, item.generics.split_for_impl());
    let (specs, spec, details) = (all_specs(&kinds), spec_of_self(&kinds), detail_methods(&kinds));
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::plugin_api::ApiError for #name #type_generics #conditions {
            const SPECS: &'static [::plugin_api::ErrorSpec] = #specs;

            fn spec(&self) -> ::plugin_api::ErrorSpec {
                #spec
            }

            #details
        }
    })
}

/// What the trait's default methods do not say.
fn detail_methods(kinds: &[Kind]) -> TokenStream {
    let with: Vec<&KindDetails> = kinds.iter().filter_map(|kind| kind.details.as_ref()).collect();
    if with.is_empty() {
        return TokenStream::new();
    }
    let (values, documented) =
        (with.iter().map(|details| &details.values), with.iter().map(|details| &details.documented));
    let rest = (with.len() < kinds.len()).then(|| quote!(_ => ::core::default::Default::default(),));
    quote! {
        fn details(&self) -> ::plugin_api::__private::ErrorDetails {
            match self { #(#values,)* #rest }
        }

        fn describe_details(
            schemas: &mut ::plugin_api::__private::schemars::SchemaGenerator,
        ) -> ::std::vec::Vec<::plugin_api::__private::ErrorDetail> {
            let _ = &schemas;
            let mut details = ::std::vec::Vec::new();
            #(#documented)*
            details
        }
    }
}

/// The attribute of an enum, for variants that have none.
fn default_spec(api: Option<Api>) -> Result<Option<TokenStream>> {
    match api {
        Some(Api::Transparent(word)) => {
            Err(Error::new(word.span(), "write #[api(transparent)] above the variants that it is for"))
        }
        Some(Api::Spec(_, details)) if !details.is_empty() => {
            Err(Error::new(details[0].name.span(), "write it above the variant that has the field"))
        }
        Some(Api::Spec(spec, _)) => Ok(Some(spec)),
        None => Ok(None),
    }
}

impl Kind {
    fn of_variant(variant: &Variant, default: Option<&TokenStream>) -> Result<Self> {
        let name = &variant.ident;
        let api = match (arguments(&variant.attrs, "api", USAGE)?, default) {
            (Some(api), _) => api,
            (None, Some(_)) if has_transparent_message(&variant.attrs) => {
                return Err(Error::new(name.span(), format!("whose status has this error: write {USAGE} above it")));
            }
            (None, Some(default)) => Api::Spec(default.clone(), Vec::new()),
            (None, None) => return Err(missing(name, "api", USAGE)),
        };
        Self::new(&quote!(Self::#name), api, &variant.fields)
    }

    fn new(path: &TokenStream, api: Api, fields: &Fields) -> Result<Self> {
        match api {
            Api::Spec(spec, details) => {
                let details =
                    if details.is_empty() { None } else { Some(KindDetails::new(path, &spec, &details, fields)?) };
                Ok(Self { pattern: quote!(#path { .. }), spec: Spec::Own(spec), details })
            }
            Api::Transparent(word) => {
                let mut members = fields.members().zip(fields);
                let (Some((member, field)), None) = (members.next(), members.next()) else {
                    return Err(Error::new(word.span(), "this needs one field: the error whose status it has"));
                };
                let (pattern, inner) = (transparent(path, &member), field.ty.to_token_stream());
                let details = Some(KindDetails::of_inner(&pattern, &inner));
                Ok(Self { pattern, spec: Spec::Inner(inner), details })
            }
        }
    }
}

fn transparent(path: &TokenStream, member: &Member) -> TokenStream {
    quote!(#path { #member: inner })
}

/// thiserror's `#[error(transparent)]`.
fn has_transparent_message(attributes: &[Attribute]) -> bool {
    let is_transparent =
        |attribute: &Attribute| attribute.parse_args::<Ident>().is_ok_and(|word| word == "transparent");
    attributes.iter().any(|attribute| attribute.path().is_ident("error") && is_transparent(attribute))
}

/// The slice of all specs, each of this type's own once.
fn all_specs(kinds: &[Kind]) -> TokenStream {
    let (mut own, mut parts) = (Vec::new(), Vec::new());
    for kind in kinds {
        let part = match &kind.spec {
            Spec::Own(spec) => quote!(&[#spec]),
            Spec::Inner(inner) => quote!(<#inner as ::plugin_api::ApiError>::SPECS),
        };
        let text = part.to_string();
        if !own.contains(&text) {
            own.push(text);
            parts.push(part);
        }
    }
    quote! {{
        const PARTS: &[&[::plugin_api::ErrorSpec]] = &[#(#parts),*];
        const ALL: [::plugin_api::ErrorSpec; ::plugin_api::__private::count_specs(PARTS)] =
            ::plugin_api::__private::join_specs(PARTS);
        &ALL
    }}
}

fn spec_of_self(kinds: &[Kind]) -> TokenStream {
    if kinds.is_empty() {
        return quote!(match *self {});
    }
    let arms = kinds.iter().map(|Kind { pattern, spec, .. }| match spec {
        Spec::Own(spec) => quote!(#pattern => #spec),
        Spec::Inner(_) => quote!(#pattern => ::plugin_api::ApiError::spec(inner)),
    });
    quote!(match self { #(#arms),* })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(item: TokenStream) -> String {
        expand(item).map_or_else(|error| format!("refused: {error}"), |code| code.to_string())
    }

    fn assert_refused(item: TokenStream, message: &str) {
        let answer = expanded(item);
        assert!(answer.starts_with("refused: ") && answer.contains(message), "{answer}");
    }

    /// An enum with one variant below the attribute.
    fn variant(attribute: TokenStream) -> TokenStream {
        quote!(enum E { #attribute Variant(Inner, i64) })
    }

    #[test]
    fn a_variant_without_status_is_refused() {
        assert_refused(variant(quote!()), "there is no #[api(…)]: write #[api(404, \"not_found\", hint = \"what");
        assert_refused(
            quote!(
                struct E;
            ),
            "there is no #[api(…)]",
        );
        assert_refused(quote!(union E { a: u8 }), "an error is an enum or a struct");
    }

    #[test]
    fn every_part_of_the_attribute_is_checked() {
        let cases = [
            (quote!(#[api]), "expected attribute arguments in parentheses: #[api(...)]"),
            (quote!(#[api(200, "ok", hint = "h")]), "the status of an error is 400 to 599: write #[api(404"),
            (quote!(#[api(4040, "c", hint = "h")]), "the status of an error is 400 to 599"),
            (quote!(#[api(404)]), "expected `,`"),
            (quote!(#[api(404, "Not found", hint = "h")]), "a code is for programs and consists of a-z, 0-9 and _"),
            (quote!(#[api(404, NOT_FOUND, hint = "h")]), "expected string literal"),
            (quote!(#[api(404, "not_found")]), "a hint is missing after the code: write #[api(404"),
            (quote!(#[api(404, "not_found", "h")]), "expected identifier"),
            (quote!(#[api(404, "not_found", remedy = "h")]), "`remedy` is unknown: write #[api(404"),
            (quote!(#[api(404, "not_found", hint = " ")]), "an empty hint"),
            (quote!(#[api(404, "not_found", hint = "h" more)]), "too much"),
            (quote!(#[api(404, "not_found", hint = "h", more)]), "`more` is unknown: write #[api(404"),
            (quote!(#[api(404, "not_found", hint = "h", header("a" = 0, "b" = 1))]), "one name and one field"),
            (quote!(#[api(404, "not_found", hint = "h", header("Retry-After" = 0))]), "a header's name consists of"),
            (
                quote!(#[api(404, "not_found", hint = "h", header("content-length" = 0))]),
                "the gateway writes this header",
            ),
            (quote!(#[api(404, "not_found", hint = "h", member("code" = 0))]), "every error has this member"),
            (quote!(#[api(404, "not_found", hint = "h", member("a" = 0), member("a" = 1))]), "it is there twice"),
            (quote!(#[api(404, "not_found", hint = "h", member("a" = 2))]), "there is no field `2`"),
            (quote!(#[api(A, member("a" = name))]), "there is no field `name`"),
            (quote!(#[api("not_found")]), "neither a status nor the name of a constant"),
            (quote!(#[api(A)] #[api(B)]), "a second #[api(…)]: write one"),
            (quote!(#[api(transparent)]), "this needs one field: the error whose status it has"),
        ];
        for (attribute, message) in cases {
            assert_refused(variant(attribute), message);
        }
    }

    #[test]
    fn a_wrapped_error_says_whose_status_it_has() {
        let default = quote!(#[api(400, "bad_request", hint = "h")]);
        assert_refused(quote!(#default enum E { #[error(transparent)] A(Inner) }), "whose status has this error");
        assert_refused(
            quote!(
                #[api(transparent)]
                enum E {
                    A(Inner),
                }
            ),
            "above the variants that it is for",
        );
        for attribute in [quote!(#[api(transparent)]), quote!(#[api(NAME)])] {
            let code = expanded(quote!(#default enum E { #[error(transparent)] #attribute A(Inner) }));
            assert!(!code.starts_with("refused"), "{code}");
        }
    }

    #[test]
    fn headers_and_members_stand_above_the_variant_with_the_field() {
        let default = quote!(#[api(429, "too_soon", hint = "h", header("retry-after" = 0))]);
        assert_refused(quote!(#default enum E { A(i64) }), "write it above the variant that has the field");
        for item in [quote!(enum E { #default A(i64) }), quote!(#default struct E(i64);)] {
            let code = expanded(item);
            assert!(code.contains("header (\"retry-after\" , field0)") && !code.starts_with("refused"), "{code}");
        }
    }

    #[test]
    fn all_mistakes_are_reported_at_once() {
        let errors = expand(quote!(
            enum E {
                A,
                #[api(1)]
                B,
            }
        ))
        .err()
        .map(|error| error.into_iter().count());
        assert_eq!(errors, Some(2));
    }
}
