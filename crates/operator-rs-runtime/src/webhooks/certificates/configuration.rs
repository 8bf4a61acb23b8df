//! Reads and writes the authorities that API servers trust, in webhook configurations and in CRDs. No other fields of a
//! CRD, which may be large, are parsed.

use http::{Request, header};
use k8s_openapi::{ByteString, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::Client;
use serde::Deserialize;
use serde_json::{Value, json};

/// The Service of the operator's webhooks.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Service {
    pub name: String,
    pub namespace: String,
}

/// An object by which API servers call webhooks of the operator.
pub struct Configuration {
    /// The path of the object's URL.
    path: String,
    resource_version: String,
    /// The JSON pointer to each bundle of authorities, and the bundle.
    bundles: Vec<(String, String)>,
}

impl Configuration {
    /// Reads the object at a path, if it exists.
    pub async fn read(client: &Client, path: &str, service: &Service) -> kube::Result<Option<Self>> {
        let request = Request::get(path).body(vec![]).map_err(kube::Error::HttpError)?;
        let object: ConfigurationObject = match client.request(request).await {
            Ok(object) => object,
            Err(kube::Error::Api(status)) if status.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let conversion = object.spec.and_then(|spec| spec.conversion?.webhook?.client_config);
        let conversion = conversion.map(|config| ("/spec/conversion/webhook/clientConfig".to_owned(), config));
        let webhooks = object.webhooks.into_iter().enumerate();
        let webhooks = webhooks.map(|(i, webhook)| (format!("/webhooks/{i}/clientConfig"), webhook.client_config));
        let configs = conversion.into_iter().chain(webhooks);
        let own_configs = configs.filter(|(_, config)| config.service.as_ref() == Some(service));
        let bundles = own_configs.map(|(pointer, config)| {
            let bundle = config.ca_bundle.unwrap_or_default();
            (format!("{pointer}/caBundle"), String::from_utf8_lossy(&bundle.0).into_owned())
        });
        let resource_version = object.metadata.resource_version.unwrap_or_default();
        Ok(Some(Self { path: path.to_owned(), resource_version, bundles: bundles.collect() }))
    }

    /// Returns the authorities of each webhook.
    pub fn ca_bundles(&self) -> impl Iterator<Item = &String> {
        self.bundles.iter().map(|(_, bundle)| bundle)
    }

    /// Writes these authorities where others are. It fails if the object has changed since it was read.
    pub async fn write_authorities(&self, client: &Client, authorities: &str, manager: &str) -> kube::Result<()> {
        let others = self.bundles.iter().filter(|(_, bundle)| bundle != authorities);
        let value = ByteString(authorities.as_bytes().to_vec());
        let add = |(pointer, _): &(String, String)| json!({ "op": "add", "path": pointer, "value": value });
        let mut patch: Vec<Value> = others.map(add).collect();
        if patch.is_empty() {
            return Ok(());
        }
        patch.push(json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": self.resource_version }));
        let request = Request::patch(format!("{}?fieldManager={manager}", self.path));
        let request = request.header(header::CONTENT_TYPE, "application/json-patch+json");
        let request = request.body(Value::from(patch).to_string().into_bytes()).map_err(kube::Error::HttpError)?;
        client.request::<ConfigurationObject>(request).await?;
        tracing::info!(path = self.path, "wrote the authorities of the webhooks' certificate");
        Ok(())
    }
}

#[derive(Deserialize)]
struct ConfigurationObject {
    metadata: ObjectMeta,
    #[serde(default)]
    webhooks: Vec<WebhookEntry>,
    spec: Option<Spec>,
}

#[derive(Deserialize)]
struct Spec {
    conversion: Option<Conversion>,
}

#[derive(Deserialize)]
struct Conversion {
    webhook: Option<ConversionWebhook>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConversionWebhook {
    client_config: Option<ClientConfig>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct WebhookEntry {
    client_config: ClientConfig,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientConfig {
    service: Option<Service>,
    ca_bundle: Option<ByteString>,
}
