//! Reads from a repository.

use super::{
    Registry,
    call::{Call, LONGEST_MESSAGE},
    client::Answer,
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
        let head = self.repeat(|| self.call(call(), &mut |_| {}));
        let is_manifest = |answer: &Answer| media_types.contains(&&*media_type(answer));
        let head = head.ok().filter(is_manifest);
        let digest = head.and_then(|it| it.header("Docker-Content-Digest")?.parse().ok());
        match digest {
            Some(digest) => Ok(digest),
            // Some registries answer to `HEAD` in another way, or do not say the digest.
            None => {
                let manifest = self.manifest(reference, media_types)?;
                if serde_json::from_slice::<serde_json::Map<_, _>>(manifest.bytes()).is_err() {
                    return self.lie("its manifest is not a JSON object".to_owned());
                }
                Ok(manifest.digest().clone())
            }
        }
    }

    /// A manifest or an index, by tag or digest.
    pub fn manifest(&self, reference: &str, media_types: &[&str]) -> anyhow::Result<Blob> {
        let answer = self.ask(reference, media_types)?;
        self.whole(reference, self.explain(answer)?)
    }

    /// A manifest or an index, by tag or digest; `None` if there is none.
    pub fn find(&self, reference: &str, media_types: &[&str]) -> anyhow::Result<Option<Blob>> {
        match self.ask(reference, media_types)? {
            Err(Fault::Status { code: 404, .. }) => Ok(None),
            answer => self.whole(reference, self.explain(answer)?).map(Some),
        }
    }

    fn ask(&self, reference: &str, media_types: &[&str]) -> anyhow::Result<Result<Answer, Fault>> {
        let url = self.url(&format!("manifests/{reference}"))?;
        Ok(self.repeat(|| {
            let call = Call::new("GET", url.clone()).header("Accept", media_types.join(", "));
            self.call(Call { limit: LONGEST_MANIFEST, ..call }, &mut |_| {})
        }))
    }

    fn whole(&self, reference: &str, answer: Answer) -> anyhow::Result<Blob> {
        let media_type = media_type(&answer);
        let expected = match reference.parse::<Digest>() {
            Ok(digest) => Some(digest),
            Err(_) => answer.header("Docker-Content-Digest").and_then(|it| it.parse().ok()),
        };
        let blob = Blob::new(media_type, answer.bytes);
        match expected {
            Some(expected) if expected != *blob.digest() => {
                self.lie(format!("it sent a manifest that does not have the digest {expected}"))
            }
            _ => Ok(blob),
        }
    }

    /// A layer or a configuration. `progress` gets the number of bytes that it has.
    pub fn blob(&self, it: &Descriptor, progress: &mut dyn FnMut(u64)) -> anyhow::Result<Blob> {
        let url = self.url(&format!("blobs/{}", it.digest))?;
        let answer = self.repeat(|| {
            let call = Call::new("GET", url.clone());
            let answer =
                self.call(Call { limit: it.size.max(LONGEST_MESSAGE), ..call }, progress)?;
            // A connection that ends early is not always noticed.
            match (answer.bytes.len() as u64) < it.size {
                true => Err(Fault::Lost("it sent fewer bytes than expected".to_owned())),
                false => Ok(answer),
            }
        });
        let answer = self.explain(answer)?;
        let blob = Blob::new(&it.media_type, answer.bytes);
        if *blob.digest() != it.digest || blob.size() != it.size {
            return self.lie(format!("it sent a blob that does not have the digest {}", it.digest));
        }
        Ok(blob)
    }

    fn lie<T>(&self, what: String) -> anyhow::Result<T> {
        Err(anyhow::format_err!("{}: {what}", self.name))
            .hint("a proxy or a mirror may have changed it: run the command again, or use another registry")
    }
}

/// The media type of the answer, without parameters.
fn media_type(answer: &Answer) -> String {
    let header = answer.header("Content-Type").unwrap_or_default();
    header.split(';').next().unwrap_or_default().trim().to_owned()
}
