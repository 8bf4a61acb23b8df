//! The only module that downloads from the web and unpacks downloads.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    time::Duration,
};

use anyhow::Context as _;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha512};

use diagnostics::Hint as _;
use model::Deadline;

/// The time limit for the connection, and between two parts of the response.
const IDLE: Duration = Duration::from_secs(30);

/// The number of bytes that are read between two reports of progress.
const PIECE: u64 = 1 << 16;

/// Downloads a URL, up to `limit` bytes. Proxies are taken from the environment (`HTTPS_PROXY`, `NO_PROXY`).
pub fn get(url: &str, limit: u64, deadline: Deadline) -> anyhow::Result<Vec<u8>> {
    get_with(url, limit, deadline, |_, _| {})
}

/// Downloads a URL; `progress` gets the number of bytes received so far, and the total if the server sends it.
pub fn get_with(
    url: &str,
    limit: u64,
    deadline: Deadline,
    progress: impl FnMut(u64, Option<u64>),
) -> anyhow::Result<Vec<u8>> {
    download(url, limit, (IDLE, deadline), progress)
}

fn download(
    url: &str,
    limit: u64,
    (idle, deadline): (Duration, Deadline),
    mut progress: impl FnMut(u64, Option<u64>),
) -> anyhow::Result<Vec<u8>> {
    let request = ureq::get(url)
        .config()
        .timeout_connect(Some(idle))
        .timeout_per_read(Some(idle))
        .timeout_per_write(Some(idle))
        .timeout_global(Some(deadline.time_left()))
        .build();
    let agent = concat!("operator-rs/", env!("CARGO_PKG_VERSION"));
    let answer = request.header("User-Agent", agent).call();
    let body = answer
        .and_then(|mut answer| {
            let body = answer.body_mut();
            let all = body.content_length();
            let mut reader = body.with_config().limit(limit).reader();
            let mut bytes = Vec::new();
            // A server may announce any length, so no memory is reserved for it.
            while reader.by_ref().take(PIECE).read_to_end(&mut bytes)? > 0 {
                progress(bytes.len() as u64, all);
            }
            Ok(bytes)
        })
        .map_err(|error| match error {
            _ if deadline.is_over() => deadline.timed_out_waiting_for("the download").into(),
            // The message of ureq only says that there was an error.
            ureq::Error::Io(error) => error.into(),
            ureq::Error::Timeout(ureq::Timeout::PerRead | ureq::Timeout::PerWrite) => {
                anyhow::format_err!("the server sent nothing for {} seconds", idle.as_secs_f32())
            }
            other => anyhow::Error::from(other),
        });
    body.with_context(|| format!("cannot fetch {url}"))
        .hint("check that the URL is reachable from here; set HTTPS_PROXY to use a proxy")
}

/// The SHA-512 in hexadecimal digits.
pub fn sha512(bytes: &[u8]) -> String {
    Sha512::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Files of a `.tar.gz` by their names, in whatever folder they are. Each may have `limit` bytes, and the whole archive
/// four times as many, since an archive may unpack to a thousand times its size.
pub fn unpack(
    bytes: &[u8],
    names: &[&str],
    limit: u64,
) -> anyhow::Result<BTreeMap<String, Vec<u8>>> {
    let whole = DownloadLimited { inner: GzDecoder::new(bytes), left: limit.saturating_mul(4) };
    let mut archive = tar::Archive::new(whole);
    let mut files = BTreeMap::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?;
        let name = path.file_name().and_then(|name| name.to_str()).map(str::to_owned);
        let Some(name) = name.filter(|name| names.contains(&name.as_str())) else { continue };
        if !entry.header().entry_type().is_file() {
            continue;
        }
        let mut bytes = Vec::new();
        DownloadLimited { inner: &mut entry, left: limit }
            .read_to_end(&mut bytes)
            .with_context(|| format!("cannot unpack `{name}`"))?;
        anyhow::ensure!(files.insert(name.clone(), bytes).is_none(), "it contains `{name}` twice");
    }
    Ok(files)
}

/// Reads up to a number of bytes, and fails if there are more.
struct DownloadLimited<R> {
    inner: R,
    left: u64,
}

impl<R: Read> Read for DownloadLimited<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let found = self.inner.read(buffer)?;
        let Some(left) = self.left.checked_sub(found as u64) else {
            return Err(io::Error::other("it is larger than any release"));
        };
        self.left = left;
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::{
        io::Write as _,
        net::{TcpListener, TcpStream},
        thread,
    };

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    /// The result of a download from a server that answers like this.
    fn fetched(answer: impl Fn(&mut TcpStream) -> io::Result<()> + Send + 'static) -> String {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let address = listener.local_addr().expect("it has an address");
        thread::spawn(move || {
            let (mut stream, _) = listener.accept()?;
            let asked = stream.read(&mut [0; 1024])?;
            assert_ne!(asked, 0);
            answer(&mut stream)?;
            // The connection stays open, as with a server that hangs.
            stream.read(&mut [0]).map(drop)
        });
        let times = (Duration::from_secs(1), Deadline::after(Duration::from_secs(3)));
        match download(&format!("http://{address}/"), 1 << 20, times, |_, _| {}) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) => error.root_cause().to_string(),
        }
    }

    /// Sends a byte now and then.
    fn slow(bytes: usize) -> impl Fn(&mut TcpStream) -> io::Result<()> {
        move |it| {
            write!(it, "HTTP/1.1 200 OK\r\nContent-Length: {bytes}\r\n\r\n")?;
            (0..bytes).try_for_each(|_| {
                thread::sleep(Duration::from_millis(200));
                it.write_all(b"x")
            })
        }
    }

    #[test]
    fn a_download_from_a_silent_server_times_out() {
        let silent = "the server sent nothing for 1 seconds";
        assert_eq!(fetched(|_| Ok(())), silent);
        let head = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nx";
        assert_eq!(fetched(|it| it.write_all(head)), silent);
    }

    #[test]
    fn a_slow_server_is_waited_for_up_to_a_limit() {
        // Longer than the idle limit, shorter than the whole.
        assert_eq!(fetched(slow(7)), "xxxxxxx");
        assert_eq!(fetched(slow(500)), "timed out after 3s while waiting for the download");
    }

    fn archive(files: &[(&str, usize)]) -> Vec<u8> {
        let mut res = tar::Builder::new(GzEncoder::new(Vec::new(), Compression::fast()));
        for (name, size) in files {
            let mut header = tar::Header::new_gnu();
            header.set_size(*size as u64);
            res.append_data(&mut header, name, io::repeat(b'x').take(*size as u64))
                .expect("it is written to memory");
        }
        res.into_inner().and_then(GzEncoder::finish).expect("it is written to memory")
    }

    #[test]
    fn an_archive_is_unpacked_up_to_a_limit_and_without_duplicates() {
        let check = |files: &[(&str, usize)]| match unpack(&archive(files), &["a", "b"], 10_000) {
            Ok(found) => {
                found.iter().map(|(name, bytes)| format!("{name} {} ", bytes.len())).collect()
            }
            Err(error) => format!("{error:#}"),
        };
        let more = "it is larger than any release";
        assert_eq!(check(&[("x/a", 9_000), ("b", 10_000), ("c", 11_000)]), "a 9000 b 10000 ");
        assert_eq!(check(&[("a", 10_001)]), format!("cannot unpack `a`: {more}"));
        // Also if it is in a file that is not unpacked.
        assert!(check(&[("c", 50_000), ("a", 1)]).ends_with(more));
        assert_eq!(check(&[("a", 1), ("x/a", 1)]), "it contains `a` twice");
        assert!(check(&[("a", 1); 100]).contains("twice"));
    }
}
