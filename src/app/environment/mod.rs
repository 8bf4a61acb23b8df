//! What the user's environment says: the home directory and the proxies.

pub mod home;
pub mod proxies;
