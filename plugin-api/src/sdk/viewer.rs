//! Who looks at a record, where its answer tells what that address did with it.

use super::{Address, Describe, Extract, FromParam as _, Problem, Request};
use crate::manifest::{Parameter, ParameterIn};

/// The query's `viewer`. Anyone may name any address: what it shows is public. What is no address is nobody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Viewer(pub Option<Address>);

impl Viewer {
    fn parse(query: &str) -> Self {
        let member = form_urlencoded::parse(query.as_bytes()).filter(|(member, _)| member == "viewer").last();
        Self(member.and_then(|(_, text)| text.trim().parse().ok()))
    }
}

impl Extract for Viewer {
    fn extract(request: &mut Request) -> Result<Self, Problem> {
        Ok(Self::parse(request.query()))
    }

    fn describe(describe: &mut Describe<'_>) {
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
    fn a_viewer_is_an_address_or_nobody() {
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
