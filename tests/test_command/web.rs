//! A server on this machine, as envtest's is elsewhere.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Mutex},
    thread,
};

use flate2::{Compression, write::GzEncoder};
use sha2::{Digest as _, Sha512};

/// A server on this machine that knows some paths, and what it was asked for.
pub struct Web {
    pub address: String,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Web {
    pub fn serve(files: BTreeMap<String, Vec<u8>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let notes = asked.clone();
        let own = address.clone();
        thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                answer(stream, &files, &own, &notes);
            }
        });
        Self { address, asked }
    }

    pub fn asked(&self) -> Vec<String> {
        std::mem::take(&mut self.asked.lock().unwrap())
    }
}

fn answer(
    mut stream: TcpStream,
    files: &BTreeMap<String, Vec<u8>>,
    own: &str,
    notes: &Mutex<Vec<String>>,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let first = lines.next().unwrap_or_default();
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    lines.take_while(|it| !it.is_empty()).for_each(drop);
    // Before the answer: whoever has that may ask at once what was asked.
    notes.lock().unwrap().push(path.clone());
    let (status, body) = match files.get(&path) {
        Some(body) => ("200 OK", body.clone()),
        None => ("404 Not Found", Vec::new()),
    };
    // The index names its own server, whose port nobody knew before.
    let body = match String::from_utf8(body) {
        Ok(text) => text.replace("SERVER", own).into_bytes(),
        Err(error) => error.into_bytes(),
    };
    let head =
        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

pub fn platform() -> String {
    let os = if cfg!(target_os = "macos") { "darwin" } else { std::env::consts::OS };
    let arch = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    format!("{os}-{arch}")
}

/// An archive as envtest's are, of these files.
pub fn archive(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut res = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::none()));
    for (name, bytes) in files {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o755);
        let path = format!("controller-tools/envtest/{name}");
        res.append_data(&mut header, path, *bytes).unwrap();
    }
    res.into_inner().unwrap().finish().unwrap()
}

pub fn index(releases: &[(&str, &str, &[u8])]) -> Vec<u8> {
    let mut res = "releases:\n".to_owned();
    for (version, file, bytes) in releases {
        let hash: String = Sha512::digest(bytes).iter().map(|it| format!("{it:02x}")).collect();
        res += &format!(
            "  {version}:\n    envtest-{version}-{}.tar.gz:\n      hash: {hash}\n      selfLink: SERVER/{file}\n",
            platform()
        );
    }
    res.into_bytes()
}
