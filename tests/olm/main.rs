//! `olm`, `run bundle`, `run bundle-upgrade` and `cleanup` against OLM's own operators, as processes beside a real
//! control plane. Pods are simulated, so nothing runs in them: catalogs are served by `opm` on this machine, by way of
//! `--catalog-address`; and what `run bundle` would have the cluster serve is served here as well, to see that it is right.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod broken;
mod bundle;
mod conversion;
mod install;
#[allow(dead_code, reason = "another suite asks for more")]
#[path = "../support/installed.rs"]
mod installed;
mod late;
mod plane;
#[allow(dead_code, reason = "one of its operators is taken")]
#[path = "../cluster/project.rs"]
mod project;
mod releases;
mod run;
#[allow(dead_code, reason = "another suite asks for more")]
#[path = "../cluster/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
mod tutorial;
mod v1;
mod webhooks;
