//! A folder with a project and everything around it that must stay as it is: a home with keys, a
//! cargo home, another repository, a copy of the project that links can point at.

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::{
    snapshot::{self, Snapshot},
    template::{self, Files},
};

/// Stands in every file that is nobody's business, and must be in no output.
pub const SECRET: &str = "c4naryS3cretT0ken";

/// The directory of the project with programs that nothing may run; the project itself has them, too.
pub const OWN_PROGRAMS: &str = "hand-written/bin";

/// What no command may change in a project, whatever its mode.
pub const PINNED: &[&str] = &[
    ".git",
    "NOTES.md",
    "hand-written",
    "config/crd/bases/backup.yaml",
    "config/rbac/backup.yaml",
    "vendor/operator-rs-runtime/src/backup.rs",
    "bundle/manifests/backup.yaml",
];

/// What a command may replace, but not remove.
pub const LASTING: &[&str] = &[
    "PROJECT",
    "Cargo.toml",
    "README.md",
    "src/main.rs",
    "src/lib.rs",
    "config/rbac/role.yaml",
    "config/rbac/role_binding.yaml",
    "config/manager/manager.yaml",
    "config/default/kustomization.yaml",
];

/// What there is in the project before a trick is planted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Project,
    /// The project without its PROJECT file.
    Unknown,
    Empty,
}

pub struct World {
    pub dir: PathBuf,
    pub project: PathBuf,
}

impl World {
    pub fn new(base: Base) -> Self {
        let res = match base {
            Base::Project => Self::around(template::stale()),
            Base::Unknown => {
                let mut files = template::stale().clone();
                files.remove("PROJECT");
                Self::around(&files)
            }
            Base::Empty => Self::around(&Files::new()),
        };
        put_all(template::stale(), &res.dir.join("victim/mirror"));
        res
    }

    /// A world with this project, and without another one.
    pub fn around(project: &Files) -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let dir = template::scratch().join(number.to_string());
        let res = Self { project: dir.join(template::NAME), dir };
        let kubeconfig = format!(
            "apiVersion: v1\nkind: Config\ncurrent-context: a\nclusters:\n- name: a\n  cluster: {{server: 'https://127.0.0.1:1'}}\ncontexts:\n- name: a\n  context: {{cluster: a, user: a}}\nusers:\n- name: a\n  user: {{token: {SECRET}}}\n"
        );
        let secret = format!("key: {SECRET}\n");
        for (path, text) in [
            ("victim/bashrc", secret.as_str()),
            ("victim/id_ed25519", &secret),
            ("victim/repo/.git/HEAD", "ref: refs/heads/main\n"),
            ("victim/repo/.git/hooks/post-checkout", "#!/bin/sh\nexit 0\n"),
            ("victim/repo/src/main.rs", "fn main() {}\n"),
            ("home/.bashrc", &secret),
            ("home/.ssh/id_ed25519", &secret),
            ("home/.gitconfig", "[user]\nname = A\nemail = a@example.com\n"),
            ("home/.cargo/config.toml", "[net]\nretry = 1\n"),
            ("home/.cargo/credentials.toml", &format!("[registry]\ntoken = \"{SECRET}\"\n")),
            ("home/.config/operator-rs/config", &secret),
            ("home/.cache/operator-rs/tools/kept", "kept\n"),
            ("home/.kube/config", &kubeconfig),
        ] {
            put(&res.dir.join(path), text.as_bytes());
        }
        for folder in ["victim/empty", "tmp", "home/.local/share", "home/.local/state"] {
            fs::create_dir_all(res.dir.join(folder)).expect("the world is ours");
        }
        for name in ["cargo", "rustc", "git", "etcd", "kube-apiserver", "kubectl", "docker", "helm"]
        {
            put_program(&res.dir.join("bin").join(name), "echo this is no program >&2\nexit 1");
        }
        put_all(project, &res.project);
        for folder in ["", OWN_PROGRAMS] {
            for name in ["git", "sh", "cargo", "helm", "docker", "docker-credential-a", "aws"] {
                put_program(
                    &res.project.join(folder).join(name),
                    "touch \"$HOME/ran-a-program-of-the-clone\"",
                );
            }
        }
        let url = format!("[remote \"origin\"]\nurl = https://a:{SECRET}@example.com/a.git\n");
        for (path, text) in [
            (".git/HEAD", "ref: refs/heads/main\n"),
            (".git/config", url.as_str()),
            (".git/hooks/post-checkout.sample", "#!/bin/sh\nexit 0\n"),
            ("NOTES.md", "Written by hand.\n"),
            ("hand-written/notes.txt", "Written by hand.\n"),
        ] {
            put(&res.project.join(path), text.as_bytes());
        }
        res
    }

    /// Everything but the project. Programs may use the folder for temporary files.
    pub fn outside(&self) -> Snapshot {
        let mut res = snapshot::take(&self.dir, Some(&self.project));
        if let Some(temporary) = res.get_mut(Path::new("tmp")) {
            temporary.stamps = [0; 6];
        }
        res
    }

    pub fn inside(&self) -> Snapshot {
        snapshot::take(&self.project, None)
    }

    /// Makes the whole world belong to this user.
    pub fn give_to(&self, user: u32) {
        for entry in walkdir::WalkDir::new(&self.dir) {
            let entry = entry.expect("the world can be listed");
            std::os::unix::fs::lchown(entry.path(), Some(user), Some(user)).expect("root may");
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if fs::remove_dir_all(&self.dir).is_err() {
            let path = self.dir.as_os_str();
            let _ = std::process::Command::new("chmod").args(["-R", "u+rwx"]).arg(path).status();
            let _ = fs::remove_dir_all(&self.dir);
        }
    }
}

fn put_program(path: &Path, script: &str) {
    put(path, format!("#!/bin/sh\n{script}\n").as_bytes());
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
}

/// Writes a file and the folders that it is in.
pub fn put(path: &Path, bytes: &[u8]) {
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("it is ours");
    fs::write(path, bytes).expect("it is ours");
}

/// Writes files and empty folders as `support::tree` lists them.
pub fn put_all(files: &Files, to: &Path) {
    let mut made = std::collections::BTreeSet::new();
    for (path, bytes) in files {
        let path = to.join(path);
        let folder = path.parent().expect("a file is in a folder").to_owned();
        if !made.contains(&folder) {
            fs::create_dir_all(&folder).expect("it is ours");
            made.insert(folder);
        }
        fs::write(path, bytes).expect("it is ours");
    }
}
