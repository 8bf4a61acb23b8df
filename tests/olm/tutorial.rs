//! The page that takes an operator from its source to OLM, word for word, with its images in a registry on this machine.

use std::{
    env,
    ffi::OsString,
    fs,
    net::TcpListener,
    path::{Path, PathBuf},
    process::Command,
};

use crate::{
    plane::{Plane, without_packageserver},
    support::{self, page::Player, registry::Registry},
};

/// That of images for this machine.
const TARGET: &str = if cfg!(target_arch = "aarch64") {
    "aarch64-unknown-linux-musl"
} else {
    "x86_64-unknown-linux-musl"
};

#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn the_tutorial_is_played_from_source_to_cleanup() {
    if !support::has_target(TARGET) {
        return;
    }
    let Some(plane) = Plane::start("tutorial") else { return };
    let Some(registry) = Registry::start(&plane.dir.join("registry")) else { return };
    let page = support::home().join("docs/recorded/olm.md");
    let was = fs::read_to_string(&page).unwrap();
    let dir = plane.dir.join("page");
    fs::create_dir(&dir).unwrap();
    let _servers = Servers(&plane);
    let is = player(&plane, &registry, dir).play(&was);
    if env::var_os("UPDATE").is_some() {
        fs::write(&page, &is).unwrap();
    }
    let was = fs::read_to_string(&page).unwrap();
    if was != is {
        let diff = similar::TextDiff::from_lines(&was, &is);
        panic!("olm.md goes otherwise now:\n{}", diff.unified_diff());
    }
}

/// The catalogs' servers that the page starts end with it.
struct Servers<'a>(&'a Plane);

impl Drop for Servers<'_> {
    fn drop(&mut self) {
        for name in ["opm1.pid", "opm2.pid"] {
            if let Ok(pid) = fs::read_to_string(self.0.dir.join(name)) {
                let _ = Command::new("kill").arg(pid.trim()).status();
            }
        }
    }
}

fn player(plane: &Plane, registry: &Registry, dir: PathBuf) -> Player {
    let olm = without_packageserver(plane);
    // Kept from run to run, and compiled for a test: dependencies once, and nothing optimized.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("tutorial-target");
    let variables: [(&str, OsString); 11] = [
        ("KUBECONFIG", plane.dir.join("kubeconfig").into()),
        ("PLANE", plane.dir.clone().into()),
        ("OLM", olm.into()),
        ("OLM_UP", support::home().join("tests/control-plane/olm-up").into()),
        ("OPM", support::tool("opm").unwrap().into()),
        ("CARGO_TARGET_DIR", target.into()),
        ("CARGO_PROFILE_RELEASE_LTO", "false".into()),
        ("CARGO_PROFILE_RELEASE_OPT_LEVEL", "0".into()),
        ("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16".into()),
        ("CARGO_INCREMENTAL", "0".into()),
        ("MAKEFLAGS", "".into()),
    ];
    let mut shown = vec![(registry.name.clone(), "localhost:5000".to_owned())];
    let listeners = [(); 4].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
    let free = listeners.each_ref().map(|it| it.local_addr().unwrap().port());
    let names = ["50051", "50052", "50061", "50062"];
    shown.extend(free.iter().zip(names).map(|(port, name)| (port.to_string(), name.to_owned())));
    Player { dir, variables: variables.into(), shown }
}
