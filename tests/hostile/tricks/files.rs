//! Things that are no plain files in place of those that are: pipes, sockets, folders, files that
//! nobody may read and files without an end.

use super::{
    Trick,
    links::{FILES, FOLDERS},
};
use crate::plant;

pub fn all() -> Vec<Trick> {
    let mut res = Vec::new();
    for path in FILES {
        res.push(Trick::new(format!("{path} is a FIFO"), *path, move |world| {
            plant::fifo(world, path)
        }));
        res.push(Trick::new(format!("{path} is a socket"), *path, move |world| {
            plant::socket(world, path)
        }));
        res.push(Trick::new(format!("{path} is a folder"), *path, move |world| {
            plant::folder(world, path)
        }));
        res.push(Trick::new(format!("{path} is a folder with files"), *path, move |world| {
            plant::folder(world, path)?;
            plant::file(world, &format!("{path}/kept"), b"by hand\n")
        }));
        res.push(Trick::new(format!("{path} has a terabyte"), *path, move |world| {
            plant::sparse(world, path)
        }));
        res.push(Trick::new(format!("{path} is empty"), *path, move |world| {
            plant::file(world, path, b"")
        }));
        res.push(Trick::new(format!("{path} is no text"), *path, move |world| {
            plant::file(world, path, b"\xff\xfe\x00\x1b[2Ja: \xc3\x28\n")
        }));
        let locked = Trick::new(format!("{path} cannot be read"), *path, move |world| {
            if !world.project.join(path).exists() {
                plant::file(world, path, b"")?;
            }
            plant::lock(world, path)
        });
        res.push(locked.by_nobody());
    }
    for (of, to) in [
        ("config/crd/bases/cache.example.com_memcacheds.yaml", "config/crd/bases/backup.yaml"),
        ("config/rbac/role.yaml", "config/rbac/backup.yaml"),
        ("vendor/operator-rs-runtime/src/lib.rs", "vendor/operator-rs-runtime/src/backup.rs"),
        ("bundle/manifests/cache.example.com_memcacheds.yaml", "bundle/manifests/backup.yaml"),
    ] {
        res.push(Trick::new(format!("{to} is a copy of a generated file"), to, move |world| {
            plant::file(world, to, plant::text(world, of).as_bytes())
        }));
        res.push(Trick::new(
            format!("{to} is an edited copy of a generated file"),
            to,
            move |world| {
                plant::file(world, to, (plant::text(world, of) + "\n# by hand\n").as_bytes())
            },
        ));
    }
    for path in FOLDERS {
        res.push(Trick::new(format!("{path}/ is a file"), *path, move |world| {
            plant::file(world, path, b"by hand\n")
        }));
        res.push(Trick::new(format!("{path}/ is a FIFO"), *path, move |world| {
            plant::fifo(world, path)
        }));
        let fifo = format!("{path}/unknown.yaml");
        res.push(Trick::new(format!("{path}/ has a FIFO more"), *path, move |world| {
            plant::fifo(world, &fifo)?;
            plant::fifo(world, &fifo.replace(".yaml", ".rs"))
        }));
        let locked = Trick::new(format!("{path}/ cannot be listed"), *path, move |world| {
            if !world.project.join(path).exists() {
                plant::folder(world, path)?;
            }
            plant::lock(world, path)
        });
        res.push(locked.by_nobody());
        res.push(Trick::new(format!("{path}/ is very deep"), *path, move |world| {
            std::fs::create_dir_all(world.project.join(path).join("d/".repeat(1_000)))
        }));
    }
    res
}
