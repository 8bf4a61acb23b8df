//! Reads from a repository.

use super::{
    Registry,
    call::{Call, LONGEST_MESSAGE},
    client::HttpResponse,
    fault::Fault,
};
use diagnostics::Hint as _;
use model::{Blob, Descriptor, Digest};

/// The longest manifest, as registries limit it.
const LONGEST_MANIFEST: u64 = 4 << 20;

impl Registry {
    /// The digest that a tag has now, of the index where there is one.
    pub fn resolve(&self, reference: &str, media_types: &[&str]) -> anyhow::Result<Digest> {
        let url = self.url(&format!("manifests/{reference}"))?;
        let call = || Call::new("HEAD", url.clone()).header("Accept", media_types.join(", "));
        let head = self.retry(|| self.send_authorized(call(), &mut |_| {}));
        let is_manifest = |response: &HttpResponse| media_types.contains(&&*media_type(response));
        let head = head.ok().filter(is_manifest);
        let digest =
            head.and_then(|response| response.header("Docker-Content-Digest")?.parse().ok());
        match digest {
            Some(digest) => Ok(digest),
            // Some registries response to `HEAD` in another way, or do not say the digest.
            None => {
                let manifest = self.manifest(reference, media_types)?;
                if serde_json::from_slice::<serde_json::Map<_, _>>(manifest.bytes()).is_err() {
                    return self.digest_error("its manifest is not a JSON object".to_owned());
                }
                Ok(manifest.digest().clone())
            }
        }
    }

    /// A manifest or an index, by tag or digest.
    pub fn manifest(&self, reference: &str, media_types: &[&str]) -> anyhow::Result<Blob> {
        let response = self.request_manifest(reference, media_types)?;
        self.compare_digest(reference, self.explain_fault(response)?)
    }

    /// A manifest or an index, by tag or digest; `None` if there is none.
    pub fn find(&self, reference: &str, media_types: &[&str]) -> anyhow::Result<Option<Blob>> {
        match self.request_manifest(reference, media_types)? {
            Err(Fault::Status { code: 404, .. }) => Ok(None),
            response => self.compare_digest(reference, self.explain_fault(response)?).map(Some),
        }
    }

    fn request_manifest(
        &self,
        reference: &str,
        media_types: &[&str],
    ) -> anyhow::Result<Result<HttpResponse, Fault>> {
        let url = self.url(&format!("manifests/{reference}"))?;
        Ok(self.retry(|| {
            let call = Call::new("GET", url.clone()).header("Accept", media_types.join(", "));
            self.send_authorized(Call { limit: LONGEST_MANIFEST, ..call }, &mut |_| {})
        }))
    }

    fn compare_digest(&self, reference: &str, response: HttpResponse) -> anyhow::Result<Blob> {
        let media_type = media_type(&response);
        let expected = match reference.parse::<Digest>() {
            Ok(digest) => Some(digest),
            Err(_) => {
                response.header("Docker-Content-Digest").and_then(|digest| digest.parse().ok())
            }
        };
        let blob = Blob::new(media_type, response.bytes);
        match expected {
            Some(expected) if expected != *blob.digest() => self.digest_error(format!(
                "it sent a manifest that does not have the digest {expected}"
            )),
            _ => Ok(blob),
        }
    }

    /// A layer or a configuration. `progress` gets the number of bytes that it has.
    pub fn blob(&self, it: &Descriptor, progress: &mut dyn FnMut(u64)) -> anyhow::Result<Blob> {
        let url = self.url(&format!("blobs/{}", it.digest))?;
        let response = self.retry(|| {
            let call = Call::new("GET", url.clone());
            let response = self
                .send_authorized(Call { limit: it.size.max(LONGEST_MESSAGE), ..call }, progress)?;
            // A connection that ends early is not always noticed.
            if (response.bytes.len() as u64) < it.size {
                Err(Fault::Lost("it sent fewer bytes than expected".to_owned()))
            } else {
                Ok(response)
            }
        });
        let response = self.explain_fault(response)?;
        let blob = Blob::new(&it.media_type, response.bytes);
        if *blob.digest() != it.digest || blob.size() != it.size {
            return self.digest_error(format!(
                "it sent a blob that does not have the digest {}",
                it.digest
            ));
        }
        Ok(blob)
    }

    fn digest_error<T>(&self, what: String) -> anyhow::Result<T> {
        Err(anyhow::format_err!("{}: {what}", self.name))
            .hint("a proxy or a mirror may have changed it: run the command again, or use another registry")
    }
}

/// The media type of the response, without parameters.
fn media_type(response: &HttpResponse) -> String {
    let header = response.header("Content-Type").unwrap_or_default();
    header.split(';').next().unwrap_or_default().trim().to_owned()
}
