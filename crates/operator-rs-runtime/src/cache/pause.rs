//! The annotation that pauses an object. kube and controller-runtime have none; Cluster API has one of its own.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use std::sync::OnceLock;

/// The annotation that pauses objects of one kind: `<domain>/paused`, with the API group or a domain above it,
/// unless the controller names another.
pub(super) struct Pause {
    /// Empty for the kinds of Kubernetes itself: nobody else has annotations in their groups.
    group: String,
    chosen: OnceLock<String>,
}

impl Pause {
    pub fn for_kind<K: Resource<DynamicType = ()>>() -> Self {
        let group = Some(K::group(&()).into_owned()).filter(|it| !it.ends_with(".k8s.io"));
        Self { group: group.unwrap_or_default(), chosen: OnceLock::new() }
    }

    /// Only this annotation pauses. The first call decides.
    pub fn set_annotation(&self, annotation: &str) {
        let _ = self.chosen.set(annotation.into());
    }

    /// The annotation that pauses an object, if it has one.
    pub fn find_annotation<'a>(&self, meta: &'a ObjectMeta) -> Option<&'a str> {
        let mut all = meta.annotations.iter().flatten();
        all.find(|(name, value)| *value == "true" && self.is_pause_annotation(name)).map(|(name, _)| name.as_str())
    }

    fn is_pause_annotation(&self, name: &str) -> bool {
        let Some((domain, "paused")) = name.split_once('/') else {
            return self.chosen.get().is_some_and(|it| it == name);
        };
        match self.chosen.get() {
            Some(chosen) => chosen == name,
            None => {
                let below = self.group.strip_suffix(domain);
                domain.contains('.') && below.is_some_and(|it| it.is_empty() || it.ends_with('.'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::{apps::v1::Deployment, networking::v1::Ingress};

    fn paused(pause: &Pause, name: &str, value: &str) -> bool {
        let annotations = [(name.to_owned(), value.to_owned())].into();
        pause.find_annotation(&ObjectMeta { annotations: Some(annotations), ..ObjectMeta::default() }) == Some(name)
    }

    #[test]
    fn the_annotation_has_the_domain_of_the_group() {
        let pause = Pause { group: "cache.example.com".into(), chosen: OnceLock::new() };
        let is = |name: &str| paused(&pause, name, "true");
        assert!(is("cache.example.com/paused") && is("example.com/paused"));
        for other in ["com/paused", "he.example.com/paused", "xample.com/paused", "example.com/stopped", "paused", ""] {
            assert!(!is(other), "{other}");
        }
        assert!(!paused(&pause, "example.com/paused", "false") && !paused(&pause, "example.com/paused", ""));
        assert!(!paused(&Pause::for_kind::<Ingress>(), "networking.k8s.io/paused", "true"));
    }

    #[test]
    fn a_controller_can_choose_another() {
        let pause = Pause::for_kind::<Deployment>();
        assert!(!paused(&pause, "example.com/paused", "true"));
        pause.set_annotation("example.com/paused");
        assert!(paused(&pause, "example.com/paused", "true") && !paused(&pause, "apps/paused", "true"));
    }
}
