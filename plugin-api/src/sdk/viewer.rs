//! The query parameter `viewer`: the address whose own actions a record's response includes.

use super::{Address, FromParam as _, FromRequest, Problem, Request, RouteDescription};
use crate::manifest::{Parameter, ParameterIn};

/// The query's `viewer`; `None` when it is not an address. It needs no signature: everything it shows is public.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewer(pub Option<Address>);

impl Viewer {
    fn parse(query: &str) -> Self {
        let member = form_urlencoded::parse(query.as_bytes()).filter(|(member, _)| member == "viewer").last();
        Self(member.and_then(|(_, text)| text.trim().parse().ok()))
    }
}

impl FromRequest for Viewer {
    fn from_request(request: &mut Request) -> Result<Self, Problem> {
        Ok(Self::parse(request.query()))
    }

    fn describe(describe: &mut RouteDescription<'_>) {
        describe.spec.parameters.push(Parameter {
            name: "viewer".into(),
            place: ParameterIn::Query,
            required: false,
            description: "Also tells what this address did; ignored when it is none".into(),
            schema: Address::schema(),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_viewer_is_an_address_or_none() {
        let address = format!("0x{}", "ab".repeat(20));
        assert_eq!(Viewer::parse(&format!("x=1&viewer={address}")), Viewer(Some(Address([0xab; 20]))));
        assert_eq!(
            Viewer::parse(&format!("viewer={}", address.to_uppercase().replace('X', "x"))).0,
            Some(Address([0xab; 20]))
        );
        for query in ["", "viewer=", "viewer=me", "viewer=0x", "Viewer=0x1", "viewer=%00"] {
            assert_eq!(Viewer::parse(query), Viewer(None), "{query}");
        }
    }
}
