//! A real project, made once by the program itself and kept in memory: two kinds, a bundle, and edits
//! after which every command has something to write.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    sync::OnceLock,
};

use crate::support;

pub const NAME: &str = "memcached-operator";

pub type Files = BTreeMap<String, Vec<u8>>;

/// The project as the commands have left it: nothing is stale.
pub fn fresh() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let dir = scratch().join("template").join(NAME);
        fs::create_dir_all(&dir).expect("the scratch folder can be written");
        for words in [
            "init --domain example.com",
            "create api --group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211",
            "create api --group cache --kind Second --controller=false",
            "create api --group cache --kind Other --controller=false",
            "create api --group cache --version v1 --kind Other --controller=false",
            "create webhook --group cache --kind Memcached --defaulting --programmatic-validation",
            "bundle --image quay.io/example/memcached-operator:v0.0.1",
            "generate installer --output-file deploy/install.yaml",
        ] {
            support::done(&dir, words);
        }
        support::tree(&dir)
    })
}

/// The project after an edit of a type, an RBAC comment and a lost support file.
pub fn stale() -> &'static Files {
    static FILES: OnceLock<Files> = OnceLock::new();
    FILES.get_or_init(|| {
        let mut res = fresh().clone();
        edit(&mut res, "api/src/cache/v1alpha1/memcached.rs", "    /// ", "    /// Edited. ");
        edit(
            &mut res,
            "src/controller/memcached.rs",
            "// +kubebuilder:rbac",
            "// +kubebuilder:rbac:groups=\"\",resources=secrets,verbs=get\n// +kubebuilder:rbac",
        );
        let chart = b"apiVersion: v2\nname: memcached\nversion: 0.1.0\n".to_vec();
        res.insert("chart/Chart.yaml".to_owned(), chart);
        res.remove("vendor/operator-rs-runtime/src/queue.rs")
            .expect("the project has this support file");
        res
    })
}

fn edit(files: &mut Files, path: &str, from: &str, to: &str) {
    let bytes = files.get_mut(path).expect("the project has this file");
    let text = String::from_utf8(bytes.clone()).expect("it is text");
    assert!(text.contains(from), "{path} has no `{from}`");
    *bytes = text.replacen(from, to, 1).into_bytes();
}

/// Where the suite works: in memory where there is room, for its many small files. Every run has its
/// own folder, and removes the ones of runs that are over.
pub fn scratch() -> &'static Path {
    static DIR: OnceLock<PathBuf> = OnceLock::new();
    DIR.get_or_init(|| {
        let memory = Path::new("/dev/shm");
        let base = if is_writable(memory) { memory.to_owned() } else { std::env::temp_dir() };
        let prefix = "operator-rs-hostile-";
        for entry in fs::read_dir(&base).expect("the base can be listed").filter_map(Result::ok) {
            let name = entry.file_name().to_string_lossy().into_owned();
            let process = name.strip_prefix(prefix).and_then(|it| it.parse::<u32>().ok());
            if process.is_some_and(|it| !Path::new(&format!("/proc/{it}")).exists()) {
                let _ = fs::remove_dir_all(entry.path());
            }
        }
        let dir = base.join(format!("{prefix}{}", std::process::id()));
        fs::create_dir_all(&dir).expect("the scratch folder can be made");
        fs::set_permissions(&dir, fs::Permissions::from_mode(0o755)).expect("it is ours");
        dir
    })
}

fn is_writable(dir: &Path) -> bool {
    let probe = dir.join(format!("operator-rs-probe-{}", std::process::id()));
    fs::create_dir(&probe).and_then(|()| fs::remove_dir(&probe)).is_ok()
}
