//! `#[derive(ApiError)]`: text, status, code and hint of each kind of error.

use crate::{
    attribute::{arguments, checked, collect, missing},
    error_detail::{Detail, KindDetails},
    error_text,
};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{
    Data, DeriveInput, Error, Expr, Fields, Ident, LitInt, LitStr, Member, Result, Token, Type, Variant,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
};

const USAGE: &str = "#[api(404, \"not_found\", \"unknown note {0}\", hint = \"what the caller can do next\")], \
                     #[api(NAME, \"the text\")] with a constant of the type ErrorSpec, #[api(\"the text\")] where the \
                     attribute above the enum has the rest, or #[api(transparent)] for all of the error inside; after a \
                     hint, a name or a text, header(\"retry-after\" = FIELD) and member(\"nextAt\" = FIELD)";

/// What `#[api(…)]` says.
enum Api {
    Own(OwnApi),
    /// The one field has all of it.
    Transparent(Ident),
}

struct OwnApi {
    /// A constant expression of the type `ErrorSpec`.
    spec: Option<TokenStream>,
    text: Option<LitStr>,
    /// What its response has beside the one body.
    details: Vec<Detail>,
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

/// A variant, or the struct.
struct Kind {
    pattern: TokenStream,
    spec: Spec,
    /// An arm of `match self` that writes the text to `f`.
    display: TokenStream,
    details: Option<KindDetails>,
    conversion: Option<Conversion>,
}

enum Spec {
    Own(TokenStream),
    /// The type of the one field.
    Inner(TokenStream),
}

/// `From` for the field with `#[from]`.
struct Conversion {
    from: Type,
    /// Made of the variable `inner`.
    value: TokenStream,
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
            vec![Kind::new(&quote!(Self), &item.ident, api, None, &data.fields)?]
        }
        Data::Union(_) => return Err(Error::new(item.ident.span(), "an error is an enum or a struct")),
    };
    let (name, (impl_generics, type_generics, conditions)) = (&item.ident, item.generics.split_for_impl());
    let (specs, spec, details) = (all_specs(&kinds), spec_of_self(&kinds), detail_methods(&kinds));
    let display = text_of_self(&kinds);
    let conversions = kinds.iter().filter_map(|kind| kind.conversion.as_ref()).map(|Conversion { from, value }| {
        quote! {
            #[automatically_derived]
            impl #impl_generics ::core::convert::From<#from> for #name #type_generics #conditions {
                fn from(inner: #from) -> Self {
                    #value
                }
            }
        }
    });
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::core::fmt::Display for #name #type_generics #conditions {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                #display
            }
        }

        #[automatically_derived]
        impl #impl_generics ::core::error::Error for #name #type_generics #conditions {}

        #(#conversions)*

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

/// The attribute of an enum, for variants that say none of it.
fn default_spec(api: Option<Api>) -> Result<Option<TokenStream>> {
    let own = match api {
        Some(Api::Own(own)) => own,
        Some(Api::Transparent(word)) => {
            return Err(Error::new(word.span(), "write #[api(transparent)] above the variants that it is for"));
        }
        None => return Ok(None),
    };
    if let Some(text) = own.text {
        return Err(Error::new(text.span(), "write the text above the variant that it is for"));
    }
    match own.details.first() {
        Some(detail) => Err(Error::new(detail.name.span(), "write it above the variant that has the field")),
        None => Ok(own.spec),
    }
}

impl Kind {
    fn of_variant(variant: &Variant, default: Option<&TokenStream>) -> Result<Self> {
        let name = &variant.ident;
        let api = arguments(&variant.attrs, "api", USAGE)?.ok_or_else(|| missing(name, "api", USAGE))?;
        Self::new(&quote!(Self::#name), name, api, default, &variant.fields)
    }

    fn new(path: &TokenStream, name: &Ident, api: Api, default: Option<&TokenStream>, fields: &Fields) -> Result<Self> {
        let conversion = Conversion::find(path, fields)?;
        let own = match api {
            Api::Own(own) => own,
            Api::Transparent(word) => return Self::transparent(path, &word, fields, conversion),
        };
        let lacks = |part: &str| Error::new(name.span(), format!("it has no {part}: write {USAGE} above it"));
        let spec = own.spec.or_else(|| default.cloned()).ok_or_else(|| lacks("status"))?;
        let text = own.text.ok_or_else(|| lacks("text"))?;
        let details = match own.details.as_slice() {
            [] => None,
            details => Some(KindDetails::new(path, &spec, details, fields)?),
        };
        let display = error_text::arm(path, &text, fields)?;
        Ok(Self { pattern: quote!(#path { .. }), spec: Spec::Own(spec), display, details, conversion })
    }

    fn transparent(path: &TokenStream, word: &Ident, fields: &Fields, conversion: Option<Conversion>) -> Result<Self> {
        let mut members = fields.members().zip(fields);
        let (Some((member, field)), None) = (members.next(), members.next()) else {
            return Err(Error::new(word.span(), "this needs one field: the error whose status it has"));
        };
        let (pattern, inner) = (with_inner(path, &member), field.ty.to_token_stream());
        let display = quote!(#pattern => ::core::fmt::Display::fmt(inner, f));
        let details = Some(KindDetails::of_inner(&pattern, &inner));
        Ok(Self { pattern, spec: Spec::Inner(inner), display, details, conversion })
    }
}

impl Conversion {
    fn find(path: &TokenStream, fields: &Fields) -> Result<Option<Self>> {
        let has_from = |field: &syn::Field| field.attrs.iter().any(|attribute| attribute.path().is_ident("from"));
        let Some((member, field)) = fields.members().zip(fields).find(|(_, field)| has_from(field)) else {
            return Ok(None);
        };
        if fields.len() > 1 {
            return Err(Error::new(field.span(), "#[from] is for the only field"));
        }
        Ok(Some(Self { from: field.ty.clone(), value: with_inner(path, &member) }))
    }
}

/// With the variable `inner` for the one field: a pattern, or a value.
fn with_inner(path: &TokenStream, member: &Member) -> TokenStream {
    quote!(#path { #member: inner })
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

fn text_of_self(kinds: &[Kind]) -> TokenStream {
    if kinds.is_empty() {
        return quote!(match *self {});
    }
    let arms = kinds.iter().map(|kind| &kind.display);
    quote!(match self { #(#arms),* })
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
    fn a_variant_without_status_or_text_is_refused() {
        assert_refused(variant(quote!()), "there is no #[api(…)]: write #[api(404, \"not_found\", \"unknown");
        let default = quote!(#[api(400, "bad_request", hint = "h")]);
        assert_refused(quote!(#default enum E { A }), "there is no #[api(…)]");
        assert_refused(
            quote!(
                struct E;
            ),
            "there is no #[api(…)]",
        );
        assert_refused(variant(quote!(#[api("text")])), "it has no status: write #[api(404, \"not_found\", \"unknown");
        assert_refused(variant(quote!(#[api(404, "not_found", hint = "h")])), "it has no text: write #[api(404");
        assert_refused(variant(quote!(#[api(NAME)])), "it has no text: write #[api(404");
        assert_refused(quote!(union E { a: u8 }), "an error is an enum or a struct");
    }

    #[test]
    fn every_part_of_the_attribute_is_checked() {
        let cases = [
            (quote!(#[api]), "expected attribute arguments in parentheses: #[api(...)]"),
            (quote!(#[api(200, "ok", "t", hint = "h")]), "the status of an error is 400 to 599: write #[api(404"),
            (quote!(#[api(4040, "c", "t", hint = "h")]), "the status of an error is 400 to 599"),
            (quote!(#[api(404)]), "expected `,`"),
            (quote!(#[api(404, "Not found", hint = "h")]), "a code is for programs and consists of a-z, 0-9 and _"),
            (quote!(#[api(404, NOT_FOUND, hint = "h")]), "expected string literal"),
            (quote!(#[api(404, "not_found")]), "a hint is missing after code and text: write #[api(404"),
            (quote!(#[api(404, "not_found", "t")]), "a hint is missing after code and text: write #[api(404"),
            (quote!(#[api(404, "not_found", "t", "h")]), "expected identifier"),
            (quote!(#[api(404, "not_found", remedy = "h")]), "`remedy` is unknown: write #[api(404"),
            (quote!(#[api(404, "not_found", "t", hint = " ")]), "an empty hint"),
            (quote!(#[api(404, "not_found", "t", hint = "h" more)]), "too much"),
            (quote!(#[api(404, "not_found", "t", hint = "h", more)]), "`more` is unknown: write #[api(404"),
            (quote!(#[api(404, "not_found", "{2}", hint = "h")]), "`{2}` names no field"),
            (quote!(#[api(A, "t", header("a" = 0, "b" = 1))]), "one name and one field"),
            (quote!(#[api(A, "t", header("Retry-After" = 0))]), "a header's name consists of"),
            (quote!(#[api(A, "t", header("content-length" = 0))]), "the gateway writes this header"),
            (quote!(#[api(A, "t", member("code" = 0))]), "every error has this member"),
            (quote!(#[api(A, "t", member("a" = 0), member("a" = 1))]), "it is there twice"),
            (quote!(#[api(A, "t", member("a" = 2))]), "there is no field `2`"),
            (quote!(#[api(A, "t", member("a" = name))]), "there is no field `name`"),
            (quote!(#[api("t" "u")]), "too much"),
            (quote!(#[api(A + 1)]), "neither a status nor the name of a constant"),
            (quote!(#[api(A, "t")] #[api(B, "t")]), "a second #[api(…)]: write one"),
            (quote!(#[api(transparent)]), "this needs one field: the error whose status it has"),
        ];
        for (attribute, message) in cases {
            assert_refused(variant(attribute), message);
        }
    }

    #[test]
    fn what_is_for_variants_does_not_stand_above_the_enum() {
        for (attribute, message) in [
            (quote!(#[api(transparent)]), "above the variants that it is for"),
            (quote!(#[api(400, "bad_request", "t", hint = "h")]), "write the text above the variant"),
            (quote!(#[api("t")]), "write the text above the variant"),
        ] {
            assert_refused(quote!(#attribute enum E { #[api(transparent)] A(Inner) }), message);
        }
    }

    #[test]
    fn a_variant_takes_from_the_enum_what_it_does_not_say() {
        let code = expanded(quote!(
            #[api(400, "bad_request", hint = "h")]
            enum E {
                #[api("t")]
                A,
                #[api(NAME, "u")]
                B,
            }
        ));
        assert!(
            code.contains(&quote!(Self::A { .. } => ::plugin_api::ErrorSpec::new(400, "bad_request", "h")).to_string())
        );
        assert!(code.contains(&quote!(Self::B { .. } => NAME).to_string()), "{code}");
        assert!(code.contains(&quote!(Self::B { .. } => ::core::write!(f, "u")).to_string()), "{code}");
    }

    #[test]
    fn an_error_inside_is_converted_where_that_is_said() {
        let conversion = quote!(::core::convert::From<Inner> for E).to_string();
        let code = expanded(quote!(
            enum E {
                #[api(transparent)]
                A(#[from] Inner),
            }
        ));
        assert!(code.contains(&conversion), "{code}");
        assert!(
            code.contains(&quote!(Self::A { 0: inner } => ::core::fmt::Display::fmt(inner, f)).to_string()),
            "{code}"
        );
        assert!(
            expanded(quote!(
                enum E {
                    #[api(A, "t: {0}")]
                    A(#[from] Inner),
                }
            ))
            .contains(&conversion)
        );
        assert!(
            !expanded(quote!(
                enum E {
                    #[api(transparent)]
                    A(Inner),
                }
            ))
            .contains("From")
        );
        assert_refused(
            quote!(
                enum E {
                    #[api(A, "t")]
                    A(#[from] Inner, i64),
                }
            ),
            "#[from] is for the only field",
        );
    }

    #[test]
    fn headers_and_members_stand_above_the_variant_with_the_field() {
        let spec = quote!(429, "too_soon");
        let details = quote!(hint = "h", header("retry-after" = 0));
        assert_refused(
            quote!(
                #[api(#spec, #details)]
                enum E {
                    #[api("t")]
                    A(i64),
                }
            ),
            "write it above the variant that has the field",
        );
        let own = quote!(#[api(#spec, "t", #details)]);
        for item in [quote!(enum E { #own A(i64) }), quote!(#own struct E(i64);)] {
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
