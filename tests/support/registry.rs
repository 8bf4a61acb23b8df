//! A registry of images on this machine: Debian's docker-registry.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

/// Runs until it is dropped.
pub struct Registry {
    child: Child,
    /// `localhost:PORT`
    pub name: String,
}

impl Registry {
    /// Keeps its images in a new folder; none where it is not installed, which is then said.
    pub fn start(folder: &Path) -> Option<Self> {
        let program = super::installed(&["docker-registry"], "images", "docker-registry")?;
        fs::create_dir_all(folder).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = folder.join("config.yml");
        let text = format!(
            "version: 0.1\nlog: {{level: error, accesslog: {{disabled: true}}}}\n\
             storage: {{filesystem: {{rootdirectory: '{}/data'}}}}\nhttp: {{addr: '127.0.0.1:{port}'}}\n",
            folder.display()
        );
        fs::write(&config, text).unwrap();
        let log = fs::File::create(folder.join("log")).unwrap();
        let mut command = Command::new(program);
        command.arg("serve").arg(&config).current_dir(folder);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        let mut child = command.stderr(log).spawn().unwrap();
        for _ in 0..600 {
            if TcpStream::connect(("127.0.0.1", port)).is_ok() {
                return Some(Self { child, name: format!("localhost:{port}") });
            }
            assert!(
                child.try_wait().unwrap().is_none(),
                "the registry ended: see {}",
                folder.display()
            );
            thread::sleep(Duration::from_millis(100));
        }
        panic!("the registry does not answer: see {}", folder.display());
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
