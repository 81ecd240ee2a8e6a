//! `#[derive(Bind)]`: the name of an enum's variant, as serde writes it, and that name as the value of a column.

use crate::attribute::collect;
use proc_macro2::TokenStream;
use quote::quote;
use syn::{Attribute, Data, DeriveInput, Error, Fields, Lit, LitStr, Result, Token, Variant, parenthesized, token};

/// How `#[serde(rename_all = "…")]` writes the name of a variant.
#[derive(Clone, Copy)]
enum Case {
    Pascal,
    Lower,
    Snake,
    Camel,
}

impl Case {
    fn parse(name: &LitStr) -> Result<Self> {
        match name.value().as_str() {
            "PascalCase" => Ok(Self::Pascal),
            "lowercase" => Ok(Self::Lower),
            "snake_case" => Ok(Self::Snake),
            "camelCase" => Ok(Self::Camel),
            _ => Err(Error::new(name.span(), "Bind knows lowercase, snake_case, camelCase and PascalCase")),
        }
    }

    fn of(self, name: &str) -> String {
        match self {
            Self::Pascal => name.to_owned(),
            Self::Lower => name.to_ascii_lowercase(),
            Self::Snake => snake_case(name),
            Self::Camel => {
                name.chars().take(1).map(|first| first.to_ascii_lowercase()).chain(name.chars().skip(1)).collect()
            }
        }
    }
}

fn snake_case(name: &str) -> String {
    let mut snake = String::new();
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

pub fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Data::Enum(data) = &item.data else {
        return Err(Error::new(item.ident.span(), "a column holds the name of a variant: derive Bind for an enum"));
    };
    let case = serde_text(&item.attrs, "rename_all")?.map_or(Ok(Case::Pascal), |name| Case::parse(&name))?;
    let arms = collect(data.variants.iter().map(|variant| arm(variant, case)))?;
    let name = &item.ident;
    Ok(quote! {
        #[automatically_derived]
        impl #name {
            /// As in JSON and in columns.
            pub const fn name(self) -> &'static str {
                match self {
                    #(#arms),*
                }
            }
        }

        #[automatically_derived]
        impl ::plugin_api::handles::Bind for #name {
            fn into_value(self) -> ::plugin_api::handles::Value {
                ::plugin_api::handles::Bind::into_value(self.name())
            }
        }
    })
}

fn arm(variant: &Variant, case: Case) -> Result<TokenStream> {
    if !matches!(variant.fields, Fields::Unit) {
        return Err(Error::new(variant.ident.span(), "a variant with fields has no place in one column"));
    }
    let ident = &variant.ident;
    let name = serde_text(&variant.attrs, "rename")?.map_or_else(|| case.of(&ident.to_string()), |name| name.value());
    Ok(quote!(Self::#ident => #name))
}

/// The text of `#[serde(name = "…")]`, if it is there.
fn serde_text(attributes: &[Attribute], name: &str) -> Result<Option<LitStr>> {
    let mut found = None;
    for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
        attribute.parse_nested_meta(|meta| {
            let is_wanted = meta.path.is_ident(name);
            if meta.input.peek(token::Paren) {
                let inner;
                parenthesized!(inner in meta.input);
                inner.parse::<TokenStream>()?;
                if is_wanted {
                    return Err(meta.error("Bind knows one name for reading and writing"));
                }
            } else if is_wanted {
                found = Some(meta.value()?.parse()?);
            } else if meta.input.peek(Token![=]) {
                meta.value()?.parse::<Lit>()?;
            }
            Ok(())
        })?;
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(item: TokenStream) -> String {
        expand(item).map_or_else(|error| error.to_string(), |code| code.to_string())
    }

    #[test]
    fn a_variant_has_the_name_that_serde_gives_it() {
        for (case, name) in [
            (quote!(), "\"OutOfGas\""),
            (quote!(#[serde(rename_all = "lowercase")]), "\"outofgas\""),
            (
                quote!(#[serde(deny_unknown_fields, bound(serialize = "T: A"), rename_all = "snake_case")]),
                "\"out_of_gas\"",
            ),
            (quote!(#[serde(default = "a", rename_all = "camelCase")]), "\"outOfGas\""),
        ] {
            let code = expanded(quote!(#case enum E { OutOfGas }));
            assert!(code.contains(&format!("Self :: OutOfGas => {name}")), "{code}");
        }
        let code = expanded(quote!(
            #[serde(rename_all = "lowercase")]
            enum E {
                #[serde(rename = "gas")]
                OutOfGas,
                Two,
            }
        ));
        assert!(code.contains("Self :: OutOfGas => \"gas\" , Self :: Two => \"two\""), "{code}");
    }

    #[test]
    fn what_has_no_one_name_is_refused() {
        for (item, message) in [
            (
                quote!(
                    struct S;
                ),
                "derive Bind for an enum",
            ),
            (
                quote!(
                    enum E {
                        One(i64),
                    }
                ),
                "a variant with fields",
            ),
            (
                quote!(
                    #[serde(rename_all = "UPPERCASE")]
                    enum E {
                        One,
                    }
                ),
                "Bind knows lowercase, snake_case",
            ),
            (
                quote!(
                    enum E {
                        #[serde(rename(serialize = "one"))]
                        One,
                    }
                ),
                "one name for reading and writing",
            ),
        ] {
            let refusal = expanded(item);
            assert!(refusal.contains(message), "{refusal} instead of {message}");
        }
    }
}
