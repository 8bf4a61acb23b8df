//! The hash that is kept between processes: of an object that was applied, and of a name that is too long for a label.

/// The annotation with the hash of the object that was applied last.
pub(crate) const DESIRED_HASH: &str = "runtime.operator-rs.io/desired-hash";

/// Returns a hash that is the same in every process and version: the first 64 bits of SHA-256 in hexadecimal digits.
pub(crate) fn stable_hash(bytes: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, bytes);
    digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect()
}
