//! `generate chart`: Helm renders the chart as what `generate installer` prints, each value does what it says, and
//! releases of it can be installed, upgraded and removed on a real API server. And charts that somebody wrote, in place of
//! manifests.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(dead_code, reason = "the control plane is shared with other suites")]

mod cluster;
#[path = "../cluster/control_plane.rs"]
mod control_plane;
mod given;
mod helm;
mod refusals;
mod releases;
mod rendered;
#[path = "../cluster/server.rs"]
mod server;
#[path = "../support/mod.rs"]
mod support;
mod switches;
mod values;
