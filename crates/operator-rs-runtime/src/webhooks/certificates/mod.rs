//! Keeps the certificate that the operator makes for its webhooks. A Secret contains the certificate and the authority
//! that signed it. Each replica reads the Secret, renews its content, and writes the authority into the configurations
//! of the webhooks. The replicas need no leader: a write to an object that has changed since it was read fails, and the
//! replica reads again.

mod configuration;
mod issue;
mod rotation;

use super::{Webhook, WebhookFlags};
use crate::{
    Manager, client, explain,
    tls::{self, ServingCertificate},
};
use anyhow::Context;
use configuration::{Configuration, Service};
use issue::Pair;
use k8s_openapi::{ByteString, api::core::v1::Secret};
use kube::{Api, Client, api::PostParams};
use rotation::{Contents, Step};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};
use tokio::time::{Instant, sleep};
use tracing::{info, warn};

/// The time between checks of the Secret and the configurations.
const CHECK_PERIOD: Duration = Duration::from_secs(10);
/// The pause after a conflict, or after a failure while no certificate is served.
const RETRY_PAUSE: Duration = Duration::from_millis(500);
/// The maximum number of steps in a row, which is more than a rotation needs.
const MAX_STEPS: usize = 10;

/// Keeps the certificate of one operator.
pub(crate) struct CertificateKeeper {
    client: Client,
    secrets: Api<Secret>,
    secret: String,
    service: Service,
    /// The DNS names of the certificate.
    names: Vec<String>,
    /// The paths of the objects that may name the Service.
    configurations: Vec<String>,
    manager: &'static str,
    certificate: Arc<ServingCertificate>,
    /// The pair that is served.
    served: Option<Pair>,
    /// The authorities in the configurations, and since when they are unchanged.
    published: (Vec<String>, Instant),
}

impl CertificateKeeper {
    /// Returns a keeper for the Secret that the flags name, or `None` if they name none and the certificate is in
    /// files.
    pub fn new<'a>(
        flags: &WebhookFlags,
        webhooks: impl Iterator<Item = &'a Webhook>,
        manager: &Manager,
    ) -> Option<Self> {
        let (secret, name) = flags.secret_and_service()?;
        let namespace = client::own_namespace(&manager.client);
        let services = [Some(name), flags.metrics_service()];
        let names = services.into_iter().flatten().flat_map(|service| {
            let name = format!("{service}.{namespace}.svc");
            [format!("{name}.cluster.local"), name]
        });
        let mut configurations: Vec<String> = flags.configuration_paths().collect();
        let path = |crd| format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}");
        configurations.extend(webhooks.filter_map(Webhook::crd_name).map(path));
        configurations.sort();
        configurations.dedup();
        Some(Self {
            client: manager.client.clone(),
            secrets: Api::namespaced(manager.client.clone(), &namespace),
            secret: secret.to_owned(),
            names: names.collect(),
            service: Service { name: name.to_owned(), namespace },
            configurations,
            manager: manager.identity.name,
            certificate: Arc::default(),
            served: None,
            published: (vec![], Instant::now()),
        })
    }

    /// Returns the serving certificate, which the keeper sets and replaces.
    pub fn serving_certificate(&self) -> Arc<ServingCertificate> {
        self.certificate.clone()
    }

    /// Keeps the certificate until the process ends.
    pub async fn run(mut self) {
        loop {
            let pause = match self.take_steps().await {
                Ok(()) => CHECK_PERIOD,
                Err(error) if is_conflict(&error) => RETRY_PAUSE.mul_f64(1.0 + crate::backoff::random_fraction()),
                Err(error) => {
                    warn!(error = explain(error.as_ref()), "cannot keep the webhooks' certificate");
                    if self.served.is_some() { CHECK_PERIOD } else { RETRY_PAUSE }
                }
            };
            sleep(pause).await;
        }
    }

    /// Takes steps until everything is in order, or the next step has to wait.
    async fn take_steps(&mut self) -> anyhow::Result<()> {
        for _ in 0..MAX_STEPS {
            if matches!(self.take_step(SystemTime::now()).await?, Step::Done | Step::Wait) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes one step. The configurations are read before the Secret, so their authorities came from a version of the
    /// Secret that is not newer, and a write that would undo a write of another replica is a conflict.
    async fn take_step(&mut self, now: SystemTime) -> anyhow::Result<Step> {
        let mut configurations = vec![];
        for path in &self.configurations {
            configurations.extend(Configuration::read(&self.client, path, &self.service).await?);
        }
        let bundles: Vec<String> = configurations.iter().flat_map(Configuration::ca_bundles).cloned().collect();
        let secret = self.secrets.get(&self.secret).await;
        let secret = secret.with_context(|| format!("cannot read the Secret `{}`", self.secret))?;
        let contents = Contents::from_secret(&secret);
        if self.published.0 != bundles {
            self.published = (bundles.clone(), Instant::now());
        }
        let step = rotation::next_step(&contents, &bundles, self.published.1.elapsed(), &self.names, now)?;
        if self.update_served(&contents, &step, now)? {
            info!(secret = self.secret, configurations = bundles.len(), "serving the webhooks' certificate");
        }
        match &step {
            Step::Done | Step::Wait => {}
            Step::Publish(authorities) => {
                let mut result = Ok(());
                for configuration in &configurations {
                    let written = configuration.write_authorities(&self.client, authorities, self.manager).await;
                    result = result.and(written);
                }
                result?;
            }
            Step::Store(new, why) => {
                let params = PostParams { field_manager: Some(self.manager.into()), ..PostParams::default() };
                self.secrets.replace(&self.secret, &params, &new.clone().into_secret(secret)).await?;
                let what = match (new.authority_key == contents.authority_key, new.pair == contents.pair) {
                    (false, _) => "made a new authority for the webhooks' certificate",
                    (true, false) => "made a new certificate for the webhooks",
                    (true, true) => "removed old authorities of the webhooks' certificate",
                };
                info!(secret = self.secret, why, "{what}");
            }
        }
        Ok(step)
    }

    /// Serves the certificate of the Secret if all configurations trust it, or if no current certificate is served.
    /// Returns true if this replaces the certificate.
    fn update_served(&mut self, contents: &Contents, step: &Step, now: SystemTime) -> anyhow::Result<bool> {
        let serves_current = self.served.as_ref().is_some_and(|pair| pair.is_current(now));
        let Some(pair) = contents.valid_pair(&self.names, now) else { return Ok(false) };
        if self.served.as_ref() == Some(pair) || (*step != Step::Done && serves_current) {
            return Ok(false);
        }
        self.certificate.set_key(tls::parse_pair(pair.certificate.as_bytes(), pair.key.as_bytes())?);
        self.served = Some(pair.clone());
        Ok(true)
    }
}

fn is_conflict(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<kube::Error>(), Some(kube::Error::Api(status)) if status.is_conflict())
}

impl Contents {
    fn from_secret(secret: &Secret) -> Self {
        let pem = |key: &str| {
            let bytes = secret.data.as_ref().and_then(|data| data.get(key)).map(|bytes| bytes.0.as_slice());
            String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
        };
        let pair = Pair { certificate: pem("tls.crt"), key: pem("tls.key") };
        Self { authorities: pem("ca.crt"), authority_key: pem("ca.key"), pair }
    }

    /// Returns the Secret with these contents. Other keys of its data stay.
    fn into_secret(self, mut secret: Secret) -> Secret {
        let Self { authorities, authority_key, pair } = self;
        let data = secret.data.get_or_insert_default();
        for (key, pem) in
            [("ca.crt", authorities), ("ca.key", authority_key), ("tls.crt", pair.certificate), ("tls.key", pair.key)]
        {
            if !pem.is_empty() {
                data.insert(key.to_owned(), ByteString(pem.into_bytes()));
            }
        }
        secret
    }
}

#[cfg(test)]
mod tests;
