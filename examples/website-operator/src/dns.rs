//! A stand-in for the client of a DNS provider: a zone is a folder with one file for each website.

use std::{env, fs, io::Result, path::PathBuf};

#[derive(Clone, Debug)]
pub struct Dns {
    zone: PathBuf,
}

impl Dns {
    pub fn new(zone: impl Into<PathBuf>) -> Self {
        Self { zone: zone.into() }
    }

    /// The zone that the variable `DNS_ZONE` names.
    pub fn from_env() -> Result<Self> {
        let zone = env::var_os("DNS_ZONE").map_or_else(|| env::temp_dir().join("dns-zone"), PathBuf::from);
        fs::create_dir_all(&zone)?;
        Ok(Self::new(zone))
    }

    /// Replaces the records of a website. A second call with the same records changes nothing.
    pub async fn publish(&self, id: &str, domains: &[String]) -> Result<()> {
        fs::write(self.zone.join(id), domains.join("\n"))
    }

    /// Removes the records of a website. It succeeds if there are none.
    pub async fn remove(&self, id: &str) -> Result<()> {
        fs::read_dir(&self.zone)?; // fails if the provider cannot be reached
        match fs::remove_file(self.zone.join(id)) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// The domains of a website.
    pub fn records(&self, id: &str) -> Vec<String> {
        let text = fs::read_to_string(self.zone.join(id)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }
}
