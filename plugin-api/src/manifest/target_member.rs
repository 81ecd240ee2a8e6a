//! Members of a signed payload that name the target of the request, as its path does. Rule: a signature over such a member
//! counts for that target only; a payload without one may be sent to any target of its action.

use super::{Auth, RouteSpec};

/// A member of the payload that must equal a parameter of the path when it is present.
#[derive(Debug, PartialEq, Eq)]
pub struct TargetMember {
    pub name: String,
    /// Position of the parameter in the path.
    pub position: usize,
}

impl RouteSpec {
    /// The members that a signed payload may name its target with: each parameter under its own name, and the `id` of a
    /// parent row also with its resource, as `threadId`. Empty for a route that takes no signed payload.
    pub fn target_members(&self) -> Vec<TargetMember> {
        if !matches!(self.auth, Auth::SignedBody { .. } | Auth::SignedHeaders { .. }) {
            return Vec::new();
        }
        let parameters = self.path.split(['{', '}']).skip(1).step_by(2).enumerate();
        let names = parameters.flat_map(|(position, parameter)| {
            let of_parent = self.parent.iter().filter(move |parent| parent.param == parameter && parameter == "id");
            let qualified = of_parent.map(|parent| format!("{}Id", parent.resource));
            std::iter::once(parameter.to_owned()).chain(qualified).map(move |name| TargetMember { name, position })
        });
        names.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::manifest::Parent;

    fn members(path: &str, auth: Auth, parent: Option<Parent>) -> Vec<(String, usize)> {
        let spec = RouteSpec { auth, parent, ..RouteSpec::new("POST", path, "create_post") };
        spec.target_members().into_iter().map(|member| (member.name, member.position)).collect()
    }

    fn signed() -> Auth {
        Auth::SignedBody { action: "post.create".to_owned() }
    }

    fn parent(param: &str) -> Option<Parent> {
        Some(Parent { sql: String::new(), param: param.to_owned(), integer: true, resource: "thread".to_owned() })
    }

    #[test]
    fn each_parameter_is_a_member_and_the_parents_id_one_with_its_resource() {
        let both = [("forum".to_owned(), 0), ("id".to_owned(), 1), ("threadId".to_owned(), 1)];
        assert_eq!(members("/api/{forum}/threads/{id}/posts", signed(), parent("id")), both);
        assert_eq!(members("/api/kb/{slug}", signed(), parent("slug")), [("slug".to_owned(), 0)]);
        assert_eq!(members("/api/kb/{id}", signed(), None), [("id".to_owned(), 0)]);
    }

    #[test]
    fn what_is_not_signed_names_no_target() {
        let query = Auth::SignedQuery { action: "inbox.read".to_owned() };
        assert_eq!(members("/api/forum/threads/{id}", Auth::Public, parent("id")), []);
        assert_eq!(members("/api/messages/{id}", query, parent("id")), []);
        assert_eq!(members("/api/forum/threads", signed(), None), []);
    }
}
