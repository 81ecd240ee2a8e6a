//! `#[derive(ApiError)]`: text, status, code and hint of each kind of error.

#[cfg(test)]
mod tests;

use crate::{
    api_attribute::{Api, USAGE},
    attribute::{arguments, collect, missing},
    error_detail::KindDetails,
    error_text,
};
use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use syn::{Data, DeriveInput, Error, Fields, Ident, Member, Result, Type, Variant, spanned::Spanned as _};

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
