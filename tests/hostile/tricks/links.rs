//! Links in place of each file and folder that is read or written, and second names of other files.

use super::Trick;
use crate::plant;

/// Files that a command reads or writes; some are yet to be made.
pub const FILES: &[&str] = &[
    "PROJECT",
    "Cargo.toml",
    "Cargo.lock",
    ".cargo/config.toml",
    "api/Cargo.toml",
    "api/src/lib.rs",
    "api/src/crds.rs",
    "api/src/cache/v1alpha1/mod.rs",
    "api/src/cache/v1alpha1/memcached.rs",
    "api/src/cache/v1alpha1/third.rs",
    "src/lib.rs",
    "src/main.rs",
    "src/controller/mod.rs",
    "src/controller/memcached.rs",
    "src/controller/third.rs",
    "vendor/operator-rs-runtime/src/lib.rs",
    "vendor/operator-rs-runtime/src/queue.rs",
    "tests/reconcile_third.rs",
    "config/crd/bases/cache.example.com_memcacheds.yaml",
    "config/crd/bases/cache.example.com_thirds.yaml",
    "config/crd/bases/old.example.com_olds.yaml",
    "config/crd/kustomization.yaml",
    "config/rbac/role.yaml",
    "config/rbac/third_admin_role.yaml",
    "config/rbac/kustomization.yaml",
    "config/samples/kustomization.yaml",
    "config/manager/manager.yaml",
    "config/default/kustomization.yaml",
    "config/manifests/bases/memcached-operator.clusterserviceversion.yaml",
    "bundle.Dockerfile",
    "bundle/manifests/memcached-operator.clusterserviceversion.yaml",
    "bundle/manifests/cache.example.com_memcacheds.yaml",
    "bundle/manifests/old.yaml",
    "bundle/metadata/annotations.yaml",
    "bundle/tests/scorecard/config.yaml",
    "deploy/install.yaml",
    "deploy/crds/cache.example.com_memcacheds.yaml",
    "Makefile",
    "README.md",
    ".gitignore",
    ".operator-rs.journal",
    ".operator-rs.lock",
];

pub const FOLDERS: &[&str] = &[
    "config",
    "config/crd",
    "config/crd/bases",
    "config/rbac",
    "config/samples",
    "config/manager",
    "config/manifests",
    "config/manifests/bases",
    "api",
    "api/src",
    "api/src/cache",
    "api/src/cache/v1alpha1",
    "api/src/shop",
    "src",
    "vendor/operator-rs-runtime/src",
    "src/controller",
    "tests",
    ".cargo",
    ".github",
    "bundle",
    "bundle/manifests",
    "bundle/metadata",
    "bundle/tests",
    "target",
    "target/operator-rs",
    "deploy",
    "deploy/crds",
];

pub fn of_files() -> Vec<Trick> {
    FILES.iter().flat_map(|path| of_file(path)).collect()
}

fn of_file(path: &'static str) -> Vec<Trick> {
    let new = |name: &str, plant: fn(&crate::world::World, &str) -> std::io::Result<()>| {
        Trick::new(format!("{path} is {name}"), path, move |world| plant(world, path))
    };
    let mut res = vec![
        new("a link to a key", |world, path| {
            plant::link(world, path, world.dir.join("victim/id_ed25519"))
        }),
        new("a link to a kubeconfig", |world, path| {
            plant::link_up(world, path, "home/.kube/config")
        }),
        new("a link to the credentials of cargo", |world, path| {
            plant::link(world, path, world.dir.join("home/.cargo/credentials.toml"))
        }),
        new("a link upwards to a file", |world, path| plant::link_up(world, path, "victim/bashrc")),
        new("a link to the same file of another project", |world, path| {
            plant::link(world, path, world.dir.join("victim/mirror").join(path))
        }),
        new("a link upwards to a file that is not there", |world, path| {
            plant::link_up(world, path, "victim/made")
        }),
        new("a link to nothing in the project", |world, path| plant::link(world, path, "nothing")),
        new("a link to itself", |world, path| {
            plant::link(world, path, path.rsplit('/').next().unwrap_or(path))
        }),
        new("a link to /dev/zero", |world, path| plant::link(world, path, "/dev/zero")),
        new("a link to a hand-written file", |world, path| {
            plant::link(world, path, world.project.join("NOTES.md"))
        }),
        new("a link to a git hook", |world, path| {
            plant::link(world, path, world.project.join(".git/hooks/post-checkout"))
        }),
        new("a link to a folder", |world, path| plant::link_up(world, path, "victim/empty")),
        new("the end of a chain of links", |world, path| {
            plant::link_chain(world, path, "victim/bashrc")
        }),
        new("a second name of a file outside", |world, path| {
            // The user may see what it says: a clone cannot make such a name.
            plant::hard_link(world, path, "victim/repo/.git/hooks/post-checkout")
        }),
        new("a link to a FIFO", |world, path| {
            plant::fifo(world, "hand-written/fifo")?;
            plant::link(world, path, world.project.join("hand-written/fifo"))
        }),
        new("followed by a temporary file that is a link", |world, path| {
            let (folder, name) = path.rsplit_once('/').map_or(("", path), |it| it);
            for temporary in [".{}.operator-rs-new", ".{}.tmp", "{}.new", "{}~"] {
                let temporary = temporary.replace("{}", name);
                plant::link_up(world, &join(folder, &temporary), "victim/bashrc")?;
            }
            Ok(())
        }),
    ];
    if crate::template::stale().contains_key(path) {
        res.push(new("a second name of another project's file", |world, path| {
            plant::hard_link(world, path, &format!("victim/mirror/{path}"))
        }));
    }
    res
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

pub fn of_folders() -> Vec<Trick> {
    let mut res: Vec<Trick> = FOLDERS.iter().flat_map(|path| of_folder(path)).collect();
    res.push(Trick::new("a CRD is a link to the role", "config", |world| {
        plant::link(world, "config/crd/bases/role.yaml", "../../rbac/role.yaml")
    }));
    res.push(Trick::new("two files are links to each other's place", "config", |world| {
        plant::link(world, "config/rbac/role.yaml", "role_binding.yaml")?;
        plant::link(world, "config/rbac/role_binding.yaml", "service_account.yaml")
    }));
    res
}

fn of_folder(path: &'static str) -> Vec<Trick> {
    let new = |name: &str, plant: fn(&crate::world::World, &str) -> std::io::Result<()>| {
        Trick::new(format!("{path}/ is {name}"), path, move |world| plant(world, path))
    };
    vec![
        new("a link to the same folder of another project", |world, path| {
            let to = world.dir.join("victim/mirror").join(path);
            std::fs::create_dir_all(&to)?;
            plant::link(world, path, to)
        }),
        new("a link upwards to another project", |world, path| {
            plant::link_up(world, path, &format!("victim/mirror/{path}"))
        }),
        new("a link to an empty folder outside", |world, path| {
            plant::link(world, path, world.dir.join("victim/empty"))
        }),
        new("a link upwards to a folder that is not there", |world, path| {
            plant::link_up(world, path, "victim/made")
        }),
        new("a link to itself", |world, path| {
            plant::link(world, path, path.rsplit('/').next().unwrap_or(path))
        }),
        new("a link to the folder that it is in", |world, path| plant::link(world, path, ".")),
        new("a link to the folder above the project", |world, path| {
            plant::link_up(world, path, "")
        }),
        new("a link to the root of the disk", |world, path| plant::link(world, path, "/")),
        new("a link to the home", |world, path| plant::link_up(world, path, "home")),
        new("a link to a hand-written folder", |world, path| {
            plant::link(world, path, world.project.join("hand-written"))
        }),
        new("a link to .git", |world, path| plant::link(world, path, world.project.join(".git"))),
        new("the end of a chain of links", |world, path| {
            plant::link_chain(world, path, &format!("victim/mirror/{path}"))
        }),
    ]
}
