//! The annotation that pauses an object. kube and controller-runtime have no such annotation; Cluster API has
//! `cluster.x-k8s.io/paused`.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use std::sync::OnceLock;

/// The annotation that pauses objects of one kind. Unless the controller sets another, it is `<domain>/paused`, where
/// the domain is the API group or a parent domain of it.
pub(super) struct PauseAnnotation {
    /// The API group. It is empty for built-in kinds, because only Kubernetes may define annotations in their groups.
    group: String,
    chosen: OnceLock<String>,
}

impl PauseAnnotation {
    pub fn for_kind<K: Resource<DynamicType = ()>>() -> Self {
        let group = Some(K::group(&()).into_owned()).filter(|group| !group.ends_with(".k8s.io"));
        Self { group: group.unwrap_or_default(), chosen: OnceLock::new() }
    }

    /// Sets the only annotation that pauses objects. Later calls have no effect.
    pub fn set_annotation(&self, annotation: &str) {
        let _ = self.chosen.set(annotation.into());
    }

    /// Returns the annotation that pauses an object, if it has one.
    pub fn find_annotation<'a>(&self, meta: &'a ObjectMeta) -> Option<&'a str> {
        let mut all = meta.annotations.iter().flatten();
        all.find(|(name, value)| *value == "true" && self.is_pause_annotation(name)).map(|(name, _)| name.as_str())
    }

    fn is_pause_annotation(&self, name: &str) -> bool {
        let Some((domain, "paused")) = name.split_once('/') else {
            return self.chosen.get().is_some_and(|chosen| chosen == name);
        };
        match self.chosen.get() {
            Some(chosen) => chosen == name,
            None => {
                let prefix = self.group.strip_suffix(domain);
                domain.contains('.') && prefix.is_some_and(|prefix| prefix.is_empty() || prefix.ends_with('.'))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::{apps::v1::Deployment, networking::v1::Ingress};

    fn paused(pause: &PauseAnnotation, name: &str, value: &str) -> bool {
        let annotations = [(name.to_owned(), value.to_owned())].into();
        pause.find_annotation(&ObjectMeta { annotations: Some(annotations), ..ObjectMeta::default() }) == Some(name)
    }

    #[test]
    fn the_annotation_has_the_domain_of_the_group() {
        let pause = PauseAnnotation { group: "cache.example.com".into(), chosen: OnceLock::new() };
        let is = |name: &str| paused(&pause, name, "true");
        assert!(is("cache.example.com/paused") && is("example.com/paused"));
        for other in ["com/paused", "he.example.com/paused", "xample.com/paused", "example.com/stopped", "paused", ""] {
            assert!(!is(other), "{other}");
        }
        assert!(!paused(&pause, "example.com/paused", "false") && !paused(&pause, "example.com/paused", ""));
        assert!(!paused(&PauseAnnotation::for_kind::<Ingress>(), "networking.k8s.io/paused", "true"));
    }

    #[test]
    fn a_controller_can_choose_another() {
        let pause = PauseAnnotation::for_kind::<Deployment>();
        assert!(!paused(&pause, "example.com/paused", "true"));
        pause.set_annotation("example.com/paused");
        assert!(paused(&pause, "example.com/paused", "true") && !paused(&pause, "apps/paused", "true"));
    }
}
