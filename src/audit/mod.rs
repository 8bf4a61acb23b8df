//! Compares what an account may do with what it did: the rules of its roles, and an API server's audit log.
//!
//! Values in, a report out: it reads no files and sends no requests. The log is audit.k8s.io/v1 with one event per line, at
//! level Metadata or above; with the bodies of writes, the owners of objects are known too.

mod call;
mod escalation;
mod grant;
mod report;

#[cfg(test)]
mod tests;

pub use self::{
    call::{Call, calls, users},
    grant::{accesses, allows, collect_rules, parts},
    report::{Known, Report, RolesFrom, of_target, report, target},
};

/// One kind of request to an API server, as RBAC sees it.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Access {
    pub verb: String,
    /// The API group; empty for the core group and for requests to a path.
    pub group: String,
    /// The resource, with its subresource after a `/`; empty for requests to a path.
    pub resource: String,
    /// The path of a request that has no resource.
    pub url: String,
    pub name: String,
    pub namespace: String,
}
