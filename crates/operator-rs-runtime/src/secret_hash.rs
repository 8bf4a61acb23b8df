//! A hash of a Secret's data, with the uid of the Secret as its key.

use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use ring::hmac;

/// Returns a hash that changes if and only if the data of a Secret changes. In an annotation of a pod template, it
/// makes a Deployment replace its pods.
///
/// Every account that may read the Deployment sees the hash, and must not find a weak password by trying. The uid of
/// the Secret is therefore the key (HMAC-SHA256). Events about the Secret, and objects that it owns, name that uid: if
/// such events or objects exist and the data could be guessed, use the resource version instead. A Secret that is
/// deleted and created again has another hash. A Secret without a uid, which no API server has created, has no hash.
pub fn secret_hash(secret: &Secret) -> Option<String> {
    let key = hmac::Key::new(hmac::HMAC_SHA256, secret.uid()?.as_bytes());
    let mut context = hmac::Context::with_key(&key);
    for (name, value) in secret.data.iter().flatten() {
        for part in [name.as_bytes(), &value.0] {
            // The length before each part keeps different lists of parts different.
            context.update(&(part.len() as u64).to_be_bytes());
            context.update(part);
        }
    }
    Some(context.sign().as_ref()[..16].iter().map(|byte| format!("{byte:02x}")).collect())
}
