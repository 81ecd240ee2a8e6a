//! `#[derive(ContractEvent)]`: contract and signature of an event on a chain.
//!
//! A member that the event does not have would make the handler fail when the first event comes, and the index wait for it.
//! So the names that serde reads are compared with those of the signature here.

use crate::attribute::{arguments, collect, missing};
use proc_macro2::TokenStream;
use quote::quote;
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, Ident, Lit, LitStr, Result, Token,
    ext::IdentExt as _,
    meta::ParseNestedMeta,
    parse::{Parse, ParseStream},
    spanned::Spanned as _,
};

const USAGE: &str = "#[contract_event(\"escrow\", \"JobDisputed(uint256 indexed jobId)\")]: the contract's key in \
                     [chains.main.contracts] and the event as in Solidity, each argument with its name";

/// What `#[contract_event(…)]` says.
struct Arguments {
    contract: Expr,
    signature: Expr,
}

impl Parse for Arguments {
    fn parse(input: ParseStream<'_>) -> Result<Self> {
        let contract = input.parse()?;
        input.parse::<Token![,]>()?;
        let signature: Expr = input.parse()?;
        input.parse::<Option<Token![,]>>()?;
        if !input.is_empty() {
            return Err(input.error("too much"));
        }
        if literal(&signature).is_some_and(|text| argument_names(&text).is_none()) {
            return Err(Error::new(signature.span(), "this is not the signature of an event"));
        }
        Ok(Self { contract, signature })
    }
}

pub fn expand(item: TokenStream) -> Result<TokenStream> {
    let item: DeriveInput = syn::parse2(item)?;
    let Data::Struct(data) = &item.data else {
        return Err(Error::new(item.ident.span(), "the arguments of an event are a struct"));
    };
    let arguments: Option<Arguments> = arguments(&item.attrs, "contract_event", USAGE)?;
    let Arguments { contract, signature } = arguments.ok_or_else(|| missing(&item.ident, "contract_event", USAGE))?;
    if let Some(names) = literal(&signature).and_then(|text| argument_names(&text)) {
        let serde = Serde::of(&item.attrs)?;
        let fields = data.fields.iter().filter(|_| !serde.is_unchecked);
        let fields = fields.filter_map(|field| Some((field.ident.as_ref()?, &field.attrs)));
        let checked = fields.map(|(field, attributes)| check_field(field, attributes, serde.is_camel_case, &names));
        collect(checked)?;
    }
    let (name, (impl_generics, type_generics, conditions)) = (&item.ident, item.generics.split_for_impl());
    Ok(quote! {
        #[automatically_derived]
        impl #impl_generics ::plugin_api::contracts::ContractEvent for #name #type_generics #conditions {
            const CONTRACT: &'static str = #contract;
            const SIGNATURE: &'static str = #signature;
        }
    })
}

fn literal(text: &Expr) -> Option<String> {
    match text {
        Expr::Lit(text) => match &text.lit {
            Lit::Str(text) => Some(text.value()),
            _ => None,
        },
        _ => None,
    }
}

/// The names of the arguments: the last word of each. `None` when the text is not the signature of an event.
fn argument_names(signature: &str) -> Option<Vec<String>> {
    let (event, arguments) = signature.trim().split_once('(')?;
    let arguments = arguments.strip_suffix(')')?;
    if !is_name(event) {
        return None;
    }
    let mut depth = 0_i32;
    let is_separator = |character: char| {
        depth += i32::from(character == '(') - i32::from(character == ')');
        character == ',' && depth == 0
    };
    let arguments = arguments.split(is_separator).filter(|argument| !argument.trim().is_empty());
    let names = arguments.map(|argument| {
        let (_, name) = argument.trim().rsplit_once([' ', ')'])?;
        (is_name(name) && name != "indexed").then(|| name.to_owned())
    });
    names.collect()
}

fn is_name(text: &str) -> bool {
    let is_start = |byte: u8| byte.is_ascii_alphabetic() || byte == b'_';
    text.bytes().next().is_some_and(is_start) && text.bytes().all(|byte| is_start(byte) || byte.is_ascii_digit())
}

/// What serde's attributes say of a name.
#[derive(Default)]
struct Serde {
    rename: Option<String>,
    is_camel_case: bool,
    /// The member is not one argument, or its name is written in a form that is not read here.
    is_unchecked: bool,
}

impl Serde {
    fn of(attributes: &[Attribute]) -> Result<Self> {
        let mut serde = Self::default();
        for attribute in attributes.iter().filter(|attribute| attribute.path().is_ident("serde")) {
            attribute.parse_nested_meta(|meta| serde.read(&meta))?;
        }
        Ok(serde)
    }

    fn read(&mut self, meta: &ParseNestedMeta<'_>) -> Result<()> {
        if meta.path.is_ident("rename") && meta.input.peek(Token![=]) {
            self.rename = Some(meta.value()?.parse::<LitStr>()?.value());
        } else if meta.path.is_ident("rename_all") && meta.input.peek(Token![=]) {
            self.is_camel_case = meta.value()?.parse::<LitStr>()?.value() == "camelCase";
        } else {
            let words = ["flatten", "skip", "skip_deserializing", "rename", "rename_all"];
            self.is_unchecked |= words.iter().any(|word| meta.path.is_ident(word));
            skip_value(meta)?;
        }
        Ok(())
    }
}

/// Passes over `= value` and `(…)`.
fn skip_value(meta: &ParseNestedMeta<'_>) -> Result<()> {
    if meta.input.peek(Token![=]) {
        meta.value()?.parse::<Expr>()?;
    } else if meta.input.peek(syn::token::Paren) {
        let content;
        syn::parenthesized!(content in meta.input);
        content.parse::<TokenStream>()?;
    }
    Ok(())
}

fn check_field(field: &Ident, attributes: &[Attribute], is_camel_case: bool, names: &[String]) -> Result<()> {
    let serde = Serde::of(attributes)?;
    let plain = field.unraw().to_string();
    let name = serde.rename.unwrap_or_else(|| if is_camel_case { camel_case(&plain) } else { plain });
    if serde.is_unchecked || names.contains(&name) {
        return Ok(());
    }
    let has = names.join(", ");
    let message = format!(
        "the event has no argument `{name}`, it has {has}: write #[serde(rename_all = \"camelCase\")] above the struct, or \
         #[serde(rename = \"…\")] above the member"
    );
    Err(Error::new(field.span(), message))
}

/// As serde does it: `input_hash` → `inputHash`.
fn camel_case(field: &str) -> String {
    let mut name = String::with_capacity(field.len());
    let mut is_word_start = false;
    for character in field.chars() {
        if character == '_' {
            is_word_start = true;
        } else if std::mem::take(&mut is_word_start) && !name.is_empty() {
            name.push(character.to_ascii_uppercase());
        } else {
            name.push(character);
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(item: TokenStream) -> String {
        expand(item).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn arguments_are_named() {
        let names = |signature: &str| argument_names(signature).map(|names| names.join(" "));
        assert_eq!(names("A(uint256 indexed jobId, bytes32 b_1)").as_deref(), Some("jobId b_1"));
        assert_eq!(names("A((uint256,string)[] list,(bool a, bool b)pair)").as_deref(), Some("list pair"));
        assert_eq!(names("A()").as_deref(), Some(""));
        for wrong in ["A", "A(", "(uint256 a)", "A(uint256)", "A(uint256 indexed)", "A B(uint256 a)", "A(uint256 a) x"]
        {
            assert_eq!(names(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn every_part_of_the_attribute_is_checked() {
        let cases = [
            (quote!(), "there is no #[contract_event(…)]: write #[contract_event(\"escrow\","),
            (quote!(#[contract_event("escrow")]), "expected `,`: write #[contract_event(\"escrow\","),
            (quote!(#[contract_event("escrow", "Paid(uint256)")]), "this is not the signature of an event"),
            (quote!(#[contract_event("escrow", "Paid(uint256 id)", 1)]), "too much"),
        ];
        for (attribute, message) in cases {
            let refusal = refusal(quote!(#attribute struct S { id: i64 }));
            assert!(refusal.contains(message), "{refusal} instead of {message}");
        }
        assert!(
            refusal(quote!(
                enum S {}
            ))
            .contains("the arguments of an event are a struct")
        );
    }

    #[test]
    fn members_are_arguments_by_the_names_that_serde_reads() {
        let attribute = quote!(#[contract_event("escrow", "Paid(uint256 indexed jobId, string inputURI)")]);
        let accepted = [
            quote!(
                #[serde(rename_all = "camelCase")]
                struct S {
                    job_id: i64,
                }
            ),
            quote!(
                struct S {
                    #[serde(rename = "jobId", deserialize_with = "plugin_api::contracts::chain_int")]
                    id: i64,
                }
            ),
            quote!(
                #[serde(rename_all(deserialize = "camelCase"))]
                struct S {
                    job_id: i64,
                }
            ),
            quote!(
                struct S {
                    #[serde(flatten)]
                    job: Job,
                }
            ),
            quote!(
                struct S {}
            ),
        ];
        for item in accepted {
            assert_eq!(refusal(quote!(#attribute #item)), "", "{item}");
        }
        let item = quote!(
            #[serde(rename_all = "camelCase")]
            struct S {
                job_id: i64,
                input_uri: String,
            }
        );
        let message = "the event has no argument `inputUri`, it has jobId, inputURI: write #[serde(rename";
        assert!(refusal(quote!(#attribute #item)).contains(message));
    }

    #[test]
    fn names_are_made_as_serde_makes_them() {
        for (field, name) in [("job_id", "jobId"), ("id", "id"), ("tag1", "tag1"), ("a__b", "aB")] {
            assert_eq!(camel_case(field), name);
        }
    }
}
