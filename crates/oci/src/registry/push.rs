//! Writes to a repository: blobs first, then what names them, the tag last.

use std::{
    sync::{
        Mutex,
        atomic::Ordering,
        mpsc::{self, Sender},
    },
    thread,
};

use anyhow::Context as _;

use super::{
    Registry,
    call::{Call, resolve_location},
    client::{AT_ONCE, HttpResponse},
    fault::Fault,
    lock,
};
use model::{Blob, Digest};

/// An image as a registry stores it.
pub struct Parts<'a> {
    pub blobs: Vec<&'a Blob>,
    /// The manifests that `top` names.
    pub children: Vec<&'a Blob>,
    /// The content that the tag names.
    pub top: &'a Blob,
}

impl Registry {
    /// Pushes an image. `progress` gets how many bytes are sent, of how many. Only the last request changes the tag.
    pub fn push(
        &self,
        tag: &str,
        parts: &Parts<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> anyhow::Result<()> {
        self.push_parts(parts, progress)
            .with_context(|| format!("the tag `{tag}` was not changed"))?;
        self.explain_fault(self.retry(|| self.put_manifest(tag, parts.top)))
            .with_context(|| format!("cannot set the tag `{tag}`"))
    }

    fn push_parts(
        &self,
        parts: &Parts<'_>,
        progress: &mut dyn FnMut(u64, u64),
    ) -> anyhow::Result<()> {
        // The first request may find out how the registry is reached.
        self.origin_url()?;
        let blobs = self.send_each(&parts.blobs, progress, |blob, progress| {
            if self.retry(|| self.has_blob(blob))? {
                Ok(())
            } else {
                self.retry(|| self.put_blob(blob, progress))
            }
        });
        self.explain_fault(blobs)?;
        // A registry refuses a manifest that names what it does not have.
        let children = self.send_each(&parts.children, &mut |_, _| {}, |child, _| {
            self.retry(|| self.put_manifest(child.digest().as_str(), child))
        });
        self.explain_fault(children)
    }

    /// Sends all of these, a few at a time. Returns the first fault, after which nothing more is sent.
    fn send_each(
        &self,
        list: &[&Blob],
        progress: &mut dyn FnMut(u64, u64),
        send: impl Fn(&Blob, &mut dyn FnMut(u64)) -> Result<(), Fault> + Sync,
    ) -> Result<(), Fault> {
        let is_stopped = &self.client.is_stopped;
        is_stopped.store(false, Ordering::Relaxed);
        let queue = Mutex::new(list.iter().enumerate());
        let (reports, inbox) = mpsc::channel();
        let work = |reports: Sender<(usize, Result<u64, Fault>)>| {
            loop {
                let next = lock(&queue).next();
                let Some((at, blob)) = next.filter(|_| !is_stopped.load(Ordering::Relaxed)) else {
                    return;
                };
                let report = |progress| drop(reports.send((at, progress)));
                let done = send(blob, &mut |sent| report(Ok(sent)));
                let is_fault = done.is_err();
                report(done.map(|()| blob.size()));
                // Only now: what is given up because of it reports later.
                if is_fault {
                    is_stopped.store(true, Ordering::Relaxed);
                }
            }
        };
        let all = list.iter().map(|blob| blob.size()).sum();
        let mut sent = vec![0; list.len()];
        let mut first = None;
        thread::scope(|scope| {
            for _ in 0..AT_ONCE.min(list.len()) {
                let reports = reports.clone();
                scope.spawn(|| work(reports));
            }
            drop(reports);
            for (at, report) in inbox {
                match report {
                    Ok(bytes) => {
                        sent[at] = bytes;
                        progress(sent.iter().sum(), all);
                    }
                    Err(fault) => drop(first.get_or_insert(fault)),
                }
            }
        });
        is_stopped.store(false, Ordering::Relaxed);
        first.map_or(Ok(()), Err)
    }

    /// Returns whether the registry has a blob: a response counts only if it is about these bytes, since any proxy can say
    /// 200.
    fn has_blob(&self, blob: &Blob) -> Result<bool, Fault> {
        let url =
            format!("{}/v2/{}/blobs/{}", self.origin_if_known(), self.repository, blob.digest());
        match self.send_authorized(Call::new("HEAD", url), &mut |_| {}) {
            Ok(response) => {
                let is_size = |length: &str| length.trim().parse() == Ok(blob.size());
                let size = response.header("Content-Length").map(is_size);
                let is_digest = |digest: &str| digest.trim() == blob.digest().as_str();
                let digest = response.header("Docker-Content-Digest").map(is_digest);
                let is_about = [size, digest].contains(&Some(true));
                Ok(response.status == 200 && is_about && ![size, digest].contains(&Some(false)))
            }
            // An response to `HEAD` has no message, so the upload is what fails with one.
            Err(Fault::Status { code, .. }) if code < 500 && code != 429 => Ok(false),
            Err(other) => Err(other),
        }
    }

    fn put_blob(&self, blob: &Blob, progress: &mut dyn FnMut(u64)) -> Result<(), Fault> {
        let url = format!("{}/v2/{}/blobs/uploads/", self.origin_if_known(), self.repository);
        let response =
            self.send_authorized(Call::new("POST", url.clone()).body(&[]), &mut |_| {})?;
        let location = response.header("Location").filter(|_| response.status == 202);
        let location = location.ok_or_else(|| Fault::other("it sent no upload location"))?;
        let location = resolve_location(&url, location)?;
        let mark = if location.contains('?') { '&' } else { '?' };
        let call = Call::new("PUT", format!("{location}{mark}digest={}", blob.digest()))
            .header("Content-Type", "application/octet-stream")
            .body(blob.bytes());
        self.ensure_stored(&self.send_authorized(call, progress)?, blob)
    }

    fn put_manifest(&self, reference: &str, blob: &Blob) -> Result<(), Fault> {
        let url =
            format!("{}/v2/{}/manifests/{reference}", self.origin_if_known(), self.repository);
        let call =
            Call::new("PUT", url).header("Content-Type", blob.media_type()).body(blob.bytes());
        self.ensure_stored(&self.send_authorized(call, &mut |_| {})?, blob)
    }

    fn ensure_stored(&self, response: &HttpResponse, blob: &Blob) -> Result<(), Fault> {
        if response.status != 201 {
            return Err(Fault::Fatal(format!(
                "unexpected status {}; a registry that has stored something answers with 201 Created",
                response.status.as_u16()
            )));
        }
        match response
            .header("Docker-Content-Digest")
            .and_then(|digest| digest.parse::<Digest>().ok())
        {
            Some(digest) if digest != *blob.digest() => {
                Err(Fault::Fatal(format!("it stored {} as {digest}", blob.digest())))
            }
            _ => Ok(()),
        }
    }
}
