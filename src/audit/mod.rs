//! What an account may do beside what it did: the rules of its roles, and an API server's audit log.
//!
//! Values in, a report out: it reads no file and asks no server. The log is audit.k8s.io/v1, one event
//! a line, with metadata at least; with the bodies of writes it also knows who was to own what.

mod call;
mod grant;
mod report;

#[cfg(test)]
mod tests;

pub use self::{
    call::{Call, calls},
    grant::grants,
    report::report,
};

/// One thing that may be asked of an API server, as RBAC sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    pub verb: String,
    /// The API group; empty for the core group, and where a path is asked for.
    pub group: String,
    /// The resource, with its subresource behind a `/`; empty where a path is asked for.
    pub resource: String,
    /// The path, where no resource is asked for.
    pub url: String,
    pub name: String,
    pub namespace: String,
}
