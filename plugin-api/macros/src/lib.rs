//! The derives of `plugin-api`: errors, events of the activity log, events of contracts, enums in columns.
//!
//! Plugins use them through `plugin-api`, where each trait of the same name has the documentation and an example. The rule:
//! a refused attribute is an error at that attribute that says what to write.

mod api_attribute;
mod api_error;
mod attribute;
mod bind;
mod contract_event;
mod error_detail;
mod error_text;
mod event;

use proc_macro::TokenStream;

/// Implements the trait `ApiError`, `Display` and `Error`: status, code, text and hint of each kind of error, from
/// `#[api(404, "not_found", "unknown note {0}", hint = "…")]`; and `From` for a field with `#[from]`.
#[proc_macro_derive(ApiError, attributes(api, from))]
pub fn derive_api_error(item: TokenStream) -> TokenStream {
    expand(item, api_error::expand)
}

/// Implements the trait `Event`: type, subject and actor of an event of the activity log, from
/// `#[event("thread.create", subject = "thread", id = thread_id)]`.
#[proc_macro_derive(Event, attributes(event))]
pub fn derive_event(item: TokenStream) -> TokenStream {
    expand(item, event::expand)
}

/// Implements the trait `ContractEvent`: contract and signature of an event on a chain, from
/// `#[contract_event("escrow", "JobDisputed(uint256 indexed jobId)")]`.
#[proc_macro_derive(ContractEvent, attributes(contract_event))]
pub fn derive_contract_event(item: TokenStream) -> TokenStream {
    expand(item, contract_event::expand)
}

/// Implements the trait `Bind` for an enum without fields, and its method `name`: the name of the variant, as serde writes it.
#[proc_macro_derive(Bind, attributes(serde))]
pub fn derive_bind(item: TokenStream) -> TokenStream {
    expand(item, bind::expand)
}

fn expand(
    item: TokenStream,
    derive: fn(proc_macro2::TokenStream) -> syn::Result<proc_macro2::TokenStream>,
) -> TokenStream {
    derive(item.into()).unwrap_or_else(syn::Error::into_compile_error).into()
}
