//! Rights of comments that OLM gives elsewhere than the comments say.

use super::{MarkerRole, bindings};
use crate::project::{Problem, RbacMarker};
use olm::bundle::{GeneratedBundle, MovedRights};

/// Takes the rights that comments ask for out of those that OLM moves, each at the first comment of its role.
pub fn moved_by_olm(bundle: &mut GeneratedBundle, markers: &[RbacMarker]) -> Vec<Problem> {
    let is_everywhere = bundle.is_for_all_namespaces_only();
    let mut problems = Vec::new();
    bundle.moved.retain(|moved| {
        let marker = markers.iter().find(|marker| is_of(moved, marker));
        problems.extend(marker.map(|marker| moved_rights_problem(moved, marker, is_everywhere)));
        marker.is_none()
    });
    problems
}

/// Returns whether a RoleBinding is the one that is generated for the Role of a comment. Its name may have a prefix.
fn is_of(moved: &MovedRights, marker: &RbacMarker) -> bool {
    let role = MarkerRole::of(marker);
    let name = bindings::unique_name(&role.name, role.namespace.as_ref());
    role.namespace.as_ref() == Some(&moved.namespace) && moved.binding.ends_with(&name)
}

fn moved_rights_problem(moved: &MovedRights, marker: &RbacMarker, is_everywhere: bool) -> Problem {
    let namespace = &moved.namespace;
    let (message, hint) = if is_everywhere {
        (
            format!(
                "OLM gives this right in every namespace, not in `{namespace}` alone: the operator is installed for all namespaces only"
            ),
            "if that is too much, leave out this comment, and have an administrator create the Role and its RoleBinding",
        )
    } else {
        (
            format!(
                "OLM gives this right in the namespace of the operator and in those of its OperatorGroup, so in `{namespace}` only if it is one of them"
            ),
            "leave out `namespace=`: OLM then gives the right in every namespace; or have an administrator create the Role and its RoleBinding",
        )
    };
    Problem::new(marker.place.clone(), message).with_hint(hint).with_rule("olm-namespace")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::config::roles::tests::marker;

    #[test]
    fn a_right_that_olm_moves_is_told_at_its_comment() {
        let moved = |binding: &str, namespace: &str| MovedRights {
            binding: binding.to_owned(),
            namespace: namespace.to_owned(),
            title: String::new(),
        };
        let marker = marker(3, "infra", "");
        let generated = moved("own-manager-role-infra", "infra");
        assert!(is_of(&generated, &marker));
        assert!(!is_of(&moved("own-manager-role-infra", "users"), &marker));
        assert!(!is_of(&moved("own-by-hand", "infra"), &marker));
        let check = |is_everywhere: bool, message: &str, hint: &str| {
            let problem = moved_rights_problem(&generated, &marker, is_everywhere);
            assert_eq!((problem.place.line, &*problem.message), (3, message));
            assert_eq!(problem.hint.as_deref(), Some(hint));
        };
        check(
            true,
            "OLM gives this right in every namespace, not in `infra` alone: the operator is installed for all namespaces only",
            "if that is too much, leave out this comment, and have an administrator create the Role and its RoleBinding",
        );
        check(
            false,
            "OLM gives this right in the namespace of the operator and in those of its OperatorGroup, so in `infra` only if it is one of them",
            "leave out `namespace=`: OLM then gives the right in every namespace; or have an administrator create the Role and its RoleBinding",
        );
    }
}
