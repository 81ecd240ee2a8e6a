//! The text of an error, `unknown note {0}`: arguments as in `format!`, where a field of the variant is one.

use proc_macro2::TokenStream;
use quote::{ToTokens as _, quote};
use std::collections::BTreeMap;
use syn::{Error, Fields, Ident, LitStr, Member, Result};

/// An arm of `match self` that writes the text to `f`. What names no field is left to `write!`, which finds constants.
pub fn arm(path: &TokenStream, text: &LitStr, fields: &Fields) -> Result<TokenStream> {
    let said = text.value();
    let (mut written, mut rest, mut bound) = (String::new(), said.as_str(), BTreeMap::new());
    while let Some((before, after)) = rest.split_once('{') {
        written.push_str(before);
        written.push('{');
        if let Some(after) = after.strip_prefix('{') {
            written.push('{');
            rest = after;
            continue;
        }
        let (name, after) = after.split_at(after.find([':', '}']).unwrap_or(after.len()));
        match place_of(name.trim(), fields) {
            Some((index, member)) => {
                // With the place of the text, where `write!` looks for the variable.
                let variable = Ident::new(&format!("field{index}"), text.span());
                written.push_str(&variable.to_string());
                bound.insert(index, quote!(#member: #variable));
            }
            None if name.bytes().all(|byte| byte.is_ascii_digit()) => {
                return Err(Error::new(text.span(), format!("`{{{name}}}` names no field")));
            }
            None => written.push_str(name),
        }
        rest = after;
    }
    written.push_str(rest);
    let (text, bound) = (LitStr::new(&written, text.span()), bound.values());
    Ok(quote!(#path { #(#bound,)* .. } => ::core::write!(f, #text)))
}

/// The field with this name, or this number.
fn place_of(name: &str, fields: &Fields) -> Option<(usize, Member)> {
    let is_meant = |member: &Member| member.to_token_stream().to_string().trim_start_matches("r#") == name;
    fields.members().enumerate().find(|(_, member)| is_meant(member))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proc_macro2::Span;
    use syn::Variant;

    fn arm_of(variant: TokenStream, text: &str) -> String {
        let text = LitStr::new(text, Span::call_site());
        let arm = syn::parse2::<Variant>(variant).and_then(|variant| arm(&quote!(V), &text, &variant.fields));
        arm.map_or_else(|error| format!("refused: {error}"), |code| code.to_string())
    }

    fn assert_written(variant: TokenStream, text: &str, pattern: TokenStream, written: &str) {
        let expected = quote!(V { #pattern .. } => ::core::write!(f, #written)).to_string();
        assert_eq!(arm_of(variant, text), expected, "{text}");
    }

    #[test]
    fn fields_are_arguments_by_name_or_number() {
        assert_written(quote!(V(i64)), "unknown note {0}", quote!(0: field0,), "unknown note {field0}");
        let named = quote!(V { first: i64, r#type: String });
        assert_written(named, "{type}: {first}", quote!(first: field0, r#type: field1,), "{field1}: {field0}");
    }

    #[test]
    fn a_field_may_be_there_twice_formatted_or_not_at_all() {
        assert_written(
            quote!(V(i64, i64)),
            "{1:?} {1:>5} { 1 }",
            quote!(1: field1,),
            "{field1:?} {field1:>5} {field1}",
        );
        assert_written(quote!(V(i64)), "too late", quote!(), "too late");
        assert_written(quote!(V), "too late", quote!(), "too late");
    }

    #[test]
    fn constants_and_braces_stay_as_they_are() {
        let text = "{{0}} at most {CHARS_MAX:?} }}";
        assert_written(quote!(V(i64)), text, quote!(), text);
    }

    #[test]
    fn a_number_without_its_field_is_refused() {
        for (text, said) in [("{1}", "`{1}` names no field"), ("a {} b", "`{}` names no field")] {
            assert_eq!(arm_of(quote!(V(i64)), text), format!("refused: {said}"));
        }
    }
}
