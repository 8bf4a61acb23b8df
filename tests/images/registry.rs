//! Debian's registry on a free port of this machine.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Child, Stdio},
    thread,
    time::Duration,
};

use crate::support;

pub struct Registry {
    /// `localhost:…`
    pub address: String,
    child: Child,
}

/// What the registry demands.
#[derive(Default)]
pub struct Demands {
    /// A file of users, as Apache has it.
    pub users: Option<PathBuf>,
    /// A certificate and its key.
    pub tls: Option<(PathBuf, PathBuf)>,
}

impl Registry {
    /// Starts it; its files are in the folder.
    pub fn start(dir: &Path, demands: &Demands) -> Option<Self> {
        let program = support::installed(&["docker-registry"], "images", "docker-registry")?;
        let mut config = format!(
            "version: 0.1\nstorage: {{filesystem: {{rootdirectory: '{}'}}}}\nhttp:\n  addr: 127.0.0.1:0\n",
            dir.join("registry").display()
        );
        if let Some((certificate, key)) = &demands.tls {
            let (certificate, key) = (certificate.display(), key.display());
            config += &format!("  tls: {{certificate: '{certificate}', key: '{key}'}}\n");
        }
        if let Some(users) = &demands.users {
            config += &format!("auth: {{htpasswd: {{realm: x, path: '{}'}}}}\n", users.display());
        }
        fs::write(dir.join("registry.yaml"), config).expect("it is ours");
        let log = dir.join("registry.log");
        let mut command = support::command(program, dir);
        command.args(["serve", "registry.yaml"]).env("OTEL_TRACES_EXPORTER", "none");
        command.stderr(fs::File::create(&log).expect("it is ours")).stdout(Stdio::null());
        let mut child = command.spawn().expect("the registry starts");
        for _ in 0..600 {
            let text = fs::read_to_string(&log).unwrap_or_default();
            if let Some(at) = text.find("listening on 127.0.0.1:") {
                let port = &text[at + "listening on 127.0.0.1:".len()..];
                let end = port.find(|c: char| !c.is_ascii_digit());
                if let Some(port) = end.map(|it| &port[..it]) {
                    return Some(Self { address: format!("localhost:{port}"), child });
                }
            }
            assert!(child.try_wait().is_ok_and(|it| it.is_none()), "the registry ended: {text}");
            thread::sleep(Duration::from_millis(50));
        }
        panic!("the registry does not listen: {}", fs::read_to_string(&log).unwrap_or_default());
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
