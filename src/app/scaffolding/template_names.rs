//! The variables that all templates have.

use serde::Serialize;

use crate::project::Project;
use model::ProjectName;

/// The variables of all templates.
#[derive(Clone, Serialize)]
pub struct TemplateNames<'a> {
    pub project_name: &'a ProjectName,
    pub crate_name: String,
    pub display_name: String,
    pub domain: &'a model::Domain,
    pub namespaced: bool,
    pub tool_version: &'static str,
}

impl<'a> TemplateNames<'a> {
    pub fn new(project: &'a Project) -> Self {
        let words = project.name.to_string();
        let capital = |text: &str| {
            let mut letters = text.chars();
            letters
                .next()
                .map(|first| first.to_ascii_uppercase().to_string() + letters.as_str())
                .unwrap_or_default()
        };
        Self {
            project_name: &project.name,
            crate_name: project.name.crate_name(),
            display_name: words.split('-').map(capital).collect::<Vec<_>>().join(" "),
            domain: &project.domain,
            namespaced: project.namespaced,
            tool_version: env!("CARGO_PKG_VERSION"),
        }
    }
}
