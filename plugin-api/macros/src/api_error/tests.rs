//! What `#[derive(ApiError)]` expands to, and what it refuses.

use super::expand;
use proc_macro2::TokenStream;
use quote::quote;

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
    assert!(code.contains(&quote!(Self::A { 0: inner } => ::core::fmt::Display::fmt(inner, f)).to_string()), "{code}");
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
