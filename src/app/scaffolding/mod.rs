//! New APIs and webhooks, and the support code of a project.

pub mod api;
pub mod license;
pub mod support;
pub mod template_names;
