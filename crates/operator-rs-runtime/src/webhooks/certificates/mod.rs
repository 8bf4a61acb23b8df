//! The certificate that the operator makes for itself: a Secret has it, with the authority that signs it, and each
//! replica reads the Secret, renews what is in it, and writes the authority into the configurations of the webhooks.
//! No replica leads: a write of what has changed since it was read fails, and is thought over.

mod configuration;
mod issue;
mod rotation;

use super::{Webhook, WebhookFlags};
use crate::{
    Manager, client, explain,
    tls::{self, Current},
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

/// How often the Secret and the configurations are looked at.
const PERIOD: Duration = Duration::from_secs(10);
/// How soon after a conflict, or after a failure while nothing is served.
const SOON: Duration = Duration::from_millis(500);
/// So many writes in a row are more than a rotation needs.
const WRITES: usize = 10;

/// Keeps the certificate of one operator.
pub(crate) struct Keeper {
    client: Client,
    secrets: Api<Secret>,
    secret: String,
    service: Service,
    /// The DNS names of the certificate.
    names: Vec<String>,
    /// The paths of the objects that may name the Service.
    configurations: Vec<String>,
    manager: &'static str,
    current: Arc<Current>,
    /// What is served.
    served: Option<Pair>,
    /// The authorities in the configurations, and since when they are.
    published: (Vec<String>, Instant),
}

impl Keeper {
    /// Of the Secret that the flags name. `None` if they name none: then the certificate is in files.
    pub fn new<'a>(
        flags: &WebhookFlags,
        webhooks: impl Iterator<Item = &'a Webhook>,
        manager: &Manager,
    ) -> Option<Self> {
        let (secret, name) = flags.secret()?;
        let namespace = client::own_namespace(&manager.client);
        let services = [Some(name), flags.metrics_service()];
        let names = services.into_iter().flatten().flat_map(|it| {
            let name = format!("{it}.{namespace}.svc");
            [format!("{name}.cluster.local"), name]
        });
        let mut configurations: Vec<String> = flags.configurations().collect();
        let path = |crd| format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}");
        configurations.extend(webhooks.filter_map(Webhook::crd).map(path));
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
            current: Arc::default(),
            served: None,
            published: (vec![], Instant::now()),
        })
    }

    /// What is served, now and later.
    pub fn current(&self) -> Arc<Current> {
        self.current.clone()
    }

    /// Keeps the certificate until the process ends.
    pub async fn run(mut self) {
        loop {
            let pause = match self.settle().await {
                Ok(()) => PERIOD,
                Err(error) if is_conflict(&error) => SOON.mul_f64(1.0 + crate::backoff::random_fraction()),
                Err(error) => {
                    warn!(error = explain(error.as_ref()), "cannot keep the webhooks' certificate");
                    if self.served.is_some() { PERIOD } else { SOON }
                }
            };
            sleep(pause).await;
        }
    }

    /// Goes on until everything is in order, or there is something to wait for.
    async fn settle(&mut self) -> anyhow::Result<()> {
        for _ in 0..WRITES {
            if matches!(self.go_on(SystemTime::now()).await?, Step::Done | Step::Wait) {
                return Ok(());
            }
        }
        Ok(())
    }

    /// Takes one step. The configurations are read before the Secret: so what is in them came from a Secret that is no
    /// newer, and a write that would take back what another replica has written is a conflict.
    async fn go_on(&mut self, now: SystemTime) -> anyhow::Result<Step> {
        let mut configurations = vec![];
        for path in &self.configurations {
            configurations.extend(Configuration::read(&self.client, path, &self.service).await?);
        }
        let bundles: Vec<String> = configurations.iter().flat_map(Configuration::bundles).cloned().collect();
        let secret = self.secrets.get(&self.secret).await;
        let secret = secret.with_context(|| format!("cannot read the Secret `{}`", self.secret))?;
        let contents = Contents::of(&secret);
        if self.published.0 != bundles {
            self.published = (bundles.clone(), Instant::now());
        }
        let step = rotation::next(&contents, &bundles, self.published.1.elapsed(), &self.names, now)?;
        if self.serve(&contents, &step, now)? {
            info!(secret = self.secret, configurations = bundles.len(), "serving the webhooks' certificate");
        }
        match &step {
            Step::Done | Step::Wait => {}
            Step::Publish(authorities) => {
                let mut result = Ok(());
                for it in &configurations {
                    result = result.and(it.publish(&self.client, authorities, self.manager).await);
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

    /// Serves the certificate of the Secret: when all configurations trust it, or if there is nothing better. Returns
    /// whether it is another one.
    fn serve(&mut self, contents: &Contents, step: &Step, now: SystemTime) -> anyhow::Result<bool> {
        let is_served = self.served.as_ref().is_some_and(|it| it.is_current(now));
        let Some(pair) = contents.valid_pair(&self.names, now) else { return Ok(false) };
        if self.served.as_ref() == Some(pair) || (*step != Step::Done && is_served) {
            return Ok(false);
        }
        self.current.set(tls::certified(pair.certificate.as_bytes(), pair.key.as_bytes())?);
        self.served = Some(pair.clone());
        Ok(true)
    }
}

fn is_conflict(error: &anyhow::Error) -> bool {
    matches!(error.downcast_ref::<kube::Error>(), Some(kube::Error::Api(it)) if it.is_conflict())
}

impl Contents {
    fn of(secret: &Secret) -> Self {
        let text = |key: &str| {
            let bytes = secret.data.as_ref().and_then(|it| it.get(key)).map(|it| it.0.as_slice());
            String::from_utf8_lossy(bytes.unwrap_or_default()).into_owned()
        };
        let pair = Pair { certificate: text("tls.crt"), key: text("tls.key") };
        Self { authorities: text("ca.crt"), authority_key: text("ca.key"), pair }
    }

    /// The Secret with this, and with whatever else it has.
    fn into_secret(self, mut secret: Secret) -> Secret {
        let Self { authorities, authority_key, pair } = self;
        let data = secret.data.get_or_insert_default();
        for (key, text) in
            [("ca.crt", authorities), ("ca.key", authority_key), ("tls.crt", pair.certificate), ("tls.key", pair.key)]
        {
            if !text.is_empty() {
                data.insert(key.to_owned(), ByteString(text.into_bytes()));
            }
        }
        secret
    }
}

#[cfg(test)]
mod tests;
