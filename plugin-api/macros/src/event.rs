//! `#[derive(Event)]`: type, subject, actor and unique key of an event of the activity log.

use crate::attribute::{Field, arguments, checked, missing, set};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Data, DeriveInput, Error, Ident, LitStr, Result, Token, parenthesized,
    parse::{Parse, ParseStream},
    punctuated::Punctuated,
};

const USAGE: &str = "#[event(\"thread.create\", subject = \"thread\", id = thread_id)]; `actor = author` and \
                     `unique_key(thread_id)`, each with fields of the struct, may follow";

/// The gateway refuses longer types.
const TYPE_BYTES_MAX: usize = 64;

/// What `#[event(…)]` says.
struct Arguments {
    event_type: LitStr,
    subject: Option<(LitStr, Field)>,
    actor: Option<Field>,
    unique_key: Option<Punctuated<Field, Token![,]>>,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let event_type = checked(input.parse()?, is_type, "the type of an event consists of a-z, 0-9, _, - and dots")?;
        let (mut kind, mut id, mut actor, mut unique_key) = (None, None, None, None);
        while !input.is_empty() {
            input.parse::<Token![,]>()?;
            if input.is_empty() {
                break;
            }
            let name: Ident = input.parse()?;
            match name.to_string().as_str() {
                "subject" => set(&mut kind, &name, (name.clone(), value::<LitStr>(input)?))?,
                "id" => set(&mut id, &name, (name.clone(), value(input)?))?,
                "actor" => set(&mut actor, &name, value(input)?)?,
                "unique_key" => {
                    let fields;
                    parenthesized!(fields in input);
                    set(&mut unique_key, &name, Punctuated::parse_separated_nonempty(&fields)?)?;
                }
                _ => return Err(Error::new(name.span(), format!("`{name}` is unknown"))),
            }
        }
        let subject = match (kind, id) {
            (Some((_, kind)), Some((_, id))) => Some((kind, id)),
            (Some((name, _)), None) => return Err(Error::new(name.span(), "a subject without `id`")),
            (None, Some((name, _))) => return Err(Error::new(name.span(), "an id without `subject`")),
            (None, None) => None,
        };
        Ok(Self { event_type, subject, actor, unique_key })
    }
}

fn value<T: Parse>(input: ParseStream<'_>) -> Result<T> {
    input.parse::<Token![=]>()?;
    input.parse()
}

fn is_type(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'.' | b'_' | b'-');
    (1..=TYPE_BYTES_MAX).contains(&text.len()) && text.bytes().all(is_plain)
}

pub fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    if !matches!(item.data, Data::Struct(_)) {
        return Err(Error::new(item.ident.span(), "an event is a struct: write one for each type of event"));
    }
    let arguments: Option<Arguments> = arguments(&item.attrs, "event", USAGE)?;
    let arguments = arguments.ok_or_else(|| missing(&item.ident, "event", USAGE))?;
    let event_type = &arguments.event_type;
    let methods = methods(&arguments);
    let (name, (impl_generics, type_generics, conditions)) = (&item.ident, item.generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::plugin_api::Event for #name #type_generics #conditions {
            const TYPE: &'static str = #event_type;

            #methods
        }
    })
}

/// The methods whose default is not right.
fn methods(arguments: &Arguments) -> TokenStream {
    let subject = arguments.subject.as_ref().map(|(kind, id)| {
        let id = id.of_self();
        quote! {
            fn subject(&self) -> ::std::option::Option<::plugin_api::manifest::EventRef> {
                ::std::option::Option::Some(::plugin_api::manifest::EventRef::new(#kind, &#id))
            }
        }
    });
    let actor = arguments.actor.as_ref().map(|actor| {
        let actor = actor.of_self();
        quote! {
            fn actor(&self) -> ::std::option::Option<::plugin_api::Address> {
                ::std::convert::Into::into(#actor)
            }
        }
    });
    let unique_key = arguments.unique_key.as_ref().map(|fields| {
        let parts = fields.iter().map(Field::of_self);
        quote! {
            fn unique_key(&self) -> ::std::option::Option<::std::string::String> {
                let parts: &[&dyn ::std::fmt::Display] = &[#(&#parts),*];
                ::std::option::Option::Some(::plugin_api::__private::unique_key(Self::TYPE, parts))
            }
        }
    });
    quote!(#subject #actor #unique_key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(item: TokenStream) -> String {
        expand(item).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn every_part_of_the_attribute_is_checked() {
        let cases = [
            (quote!(), "there is no #[event(…)]: write #[event(\"thread.create\", subject"),
            (quote!(#[event(thread)]), "expected string literal: write #[event(\"thread.create\""),
            (quote!(#[event("Thread")]), "the type of an event consists of a-z, 0-9, _, - and dots"),
            (quote!(#[event("")]), "the type of an event consists of"),
            (quote!(#[event("a.b", subject = "thread")]), "a subject without `id`"),
            (quote!(#[event("a.b", id = thread_id)]), "an id without `subject`"),
            (quote!(#[event("a.b", about = "thread")]), "`about` is unknown"),
            (quote!(#[event("a.b", actor = a, actor = b)]), "a second `actor`"),
            (quote!(#[event("a.b", actor = "a")]), "expected identifier"),
            (quote!(#[event("a.b", unique_key())]), "expected identifier"),
        ];
        for (attribute, message) in cases {
            let refusal = refusal(quote!(#attribute struct S { thread_id: i64 }));
            assert!(refusal.contains(message), "{refusal} instead of {message}");
        }
        assert!(
            refusal(quote!(
                #[event("a.b")]
                enum S {}
            ))
            .contains("an event is a struct")
        );
    }

    #[test]
    fn fields_may_be_inside_of_others() {
        let item = quote!(
            #[event("a.b", subject = "job", id = job.id, actor = job.client,)]
            struct S<'a> {
                job: &'a Job,
            }
        );
        assert_eq!(refusal(item), "");
    }
}
