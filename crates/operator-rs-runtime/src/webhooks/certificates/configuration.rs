//! What API servers trust: the authorities in webhook configurations and in CRDs. Of a CRD, which may be large, nothing
//! else is read.

use http::{Request, header};
use k8s_openapi::{ByteString, apimachinery::pkg::apis::meta::v1::ObjectMeta};
use kube::Client;
use serde::Deserialize;
use serde_json::{Value, json};

/// The Service whose webhooks are the operator's own.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Service {
    pub name: String,
    pub namespace: String,
}

/// An object that has API servers call webhooks of the operator.
pub struct Configuration {
    /// The path of its URL.
    path: String,
    version: String,
    /// Where the authorities are in the object, as a JSON pointer, and what they are.
    bundles: Vec<(String, String)>,
}

impl Configuration {
    /// The object at a path, if it exists.
    pub async fn read(client: &Client, path: &str, service: &Service) -> kube::Result<Option<Self>> {
        let request = Request::get(path).body(vec![]).map_err(kube::Error::HttpError)?;
        let object: Object = match client.request(request).await {
            Ok(it) => it,
            Err(kube::Error::Api(it)) if it.is_not_found() => return Ok(None),
            Err(error) => return Err(error),
        };
        let conversion = object.spec.and_then(|it| it.conversion?.webhook?.client_config);
        let conversion = conversion.map(|it| ("/spec/conversion/webhook/clientConfig".to_owned(), it));
        let webhooks = object.webhooks.into_iter().enumerate();
        let webhooks = webhooks.map(|(at, it)| (format!("/webhooks/{at}/clientConfig"), it.client_config));
        let own = conversion.into_iter().chain(webhooks).filter(|it| it.1.service.as_ref() == Some(service));
        let bundles = own.map(|(at, it)| {
            let bundle = it.ca_bundle.unwrap_or_default();
            (format!("{at}/caBundle"), String::from_utf8_lossy(&bundle.0).into_owned())
        });
        let version = object.metadata.resource_version.unwrap_or_default();
        Ok(Some(Self { path: path.to_owned(), version, bundles: bundles.collect() }))
    }

    /// The authorities of each webhook.
    pub fn bundles(&self) -> impl Iterator<Item = &String> {
        self.bundles.iter().map(|it| &it.1)
    }

    /// Writes these authorities, unless it has them or has changed since it was read.
    pub async fn publish(&self, client: &Client, authorities: &str, manager: &str) -> kube::Result<()> {
        let others = self.bundles.iter().filter(|it| it.1 != authorities);
        let value = ByteString(authorities.as_bytes().to_vec());
        let mut patch: Vec<Value> = others.map(|it| json!({ "op": "add", "path": it.0, "value": value })).collect();
        if patch.is_empty() {
            return Ok(());
        }
        patch.push(json!({ "op": "replace", "path": "/metadata/resourceVersion", "value": self.version }));
        let request = Request::patch(format!("{}?fieldManager={manager}", self.path));
        let request = request.header(header::CONTENT_TYPE, "application/json-patch+json");
        let request = request.body(Value::from(patch).to_string().into_bytes()).map_err(kube::Error::HttpError)?;
        client.request::<Object>(request).await?;
        tracing::info!(path = self.path, "wrote the authorities of the webhooks' certificate");
        Ok(())
    }
}

#[derive(Deserialize)]
struct Object {
    metadata: ObjectMeta,
    #[serde(default)]
    webhooks: Vec<Webhook>,
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
struct Webhook {
    client_config: ClientConfig,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ClientConfig {
    service: Option<Service>,
    ca_bundle: Option<ByteString>,
}
