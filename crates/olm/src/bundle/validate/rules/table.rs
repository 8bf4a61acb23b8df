//! Every rule, one line each: its name here, its id, suite, severity, origin, summary and hint.

use super::{
    About,
    Origin::{Olm, OlmV0, OlmV1, Ours, Sdk},
    Suite,
};
use diagnostics::Severity::{Error, Warning};

macro_rules! rules {
    ($($name:ident $id:literal $suite:ident $severity:ident $origin:ident $summary:literal $hint:literal)*) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Rule { $($name),* }

        impl Rule {
            pub fn all() -> impl Iterator<Item = Self> {
                [$(Self::$name),*].into_iter()
            }

            pub fn about(self) -> &'static About {
                match self {
                    $(Self::$name => &About {
                        id: $id, suite: Suite::$suite, severity: $severity, origin: $origin, summary: $summary, hint: $hint,
                    }),*
                }
            }
        }
    };
}

rules! {
    ManifestsDir "fmt-manifests-dir" Format Error Sdk "The bundle has a directory `manifests`" ""
    MetadataDir "fmt-metadata-dir" Format Error Sdk "The bundle has a directory `metadata`" ""
    NoAnnotations "fmt-no-annotations" Format Error Sdk "metadata/annotations.yaml has annotations" "`operator-rs bundle` generates the file"
    AnnotationsType "fmt-annotations-type" Format Error Sdk "The annotations are a map of strings" "write one `key: value` for each annotation"
    AnnotationMissing "fmt-annotation-missing" Format Error Sdk "The annotations that OLM needs exist" ""
    MediaType "fmt-mediatype" Format Error Sdk "The media type fits the manifests" ""
    ChannelsEmpty "fmt-channels-empty" Format Error Sdk "Channels and default channel are not empty" "name a channel, e.g. `alpha`"
    EmptyFile "fmt-empty-file" Format Error Sdk "No file in metadata/ is empty" "remove the file"
    ManifestsPath "fmt-manifests-path" Format Error Sdk "The manifests are inside the bundle" "write `manifests/`"
    Subdirectory "fmt-subdirectory" Format Error Sdk "The directory of the manifests has no directories" "move its manifests into `manifests/` itself, and remove the directory"
    HiddenFile "fmt-hidden-file" Format Error Sdk "The directory of the manifests has no hidden files" "remove the file"
    MoreDocuments "fmt-more-documents" Format Warning Ours "Every manifest has one document" "write each object into a file of its own"
    Unreadable "fmt-unreadable" Format Error Sdk "Every manifest can be decoded into its Go type" ""
    LabelMismatch "fmt-label-mismatch" Format Warning Ours "The labels of the bundle image are those of annotations.yaml" "build the image again: catalogs read the labels, OLM reads the annotations"
    DependencyGvk "dep-gvk" Format Error Sdk "A dependency on an API has group, version and kind" ""
    DependencyLabel "dep-label" Format Error Sdk "A dependency on a label has the label" ""
    DependencyPackage "dep-package" Format Error Sdk "A dependency on a package has a name and a version range" "write a range such as `>=1.0.0 <2.0.0`"
    DependencyCel "dep-cel" Format Error Sdk "A constraint has a valid CEL expression" ""
    DependencyCelTypes "dep-cel-types" Format Warning Ours "The types of a CEL expression were checked" "`operator-sdk bundle validate` checks the types"
    DependencyType "dep-type" Format Error Sdk "The type of a dependency is known" "use `olm.gvk`, `olm.package`, `olm.label` or `olm.constraint`"

    ObjectUnsupported "obj-unsupported" Bundle Error Sdk "OLM installs objects of this kind from a bundle" "let the operator create the object"
    ObjectMetadata "obj-meta" Bundle Error Sdk "The metadata of an object is valid, without a namespace" ""
    NoCsv "bundle-no-csv" Bundle Error Sdk "The bundle has a ClusterServiceVersion" "`operator-rs bundle` generates it"
    MultipleCsvs "bundle-multiple-csvs" Bundle Error Sdk "The bundle has one ClusterServiceVersion" "leave one of them"
    CrdTwice "bundle-crd-dup" Bundle Error Sdk "Each version of a CRD occurs once" "remove one of the files"
    CrdMissing "bundle-crd-missing" Bundle Error Sdk "The manifests have every CRD that the CSV owns" "add the CRD to manifests/, or remove the entry"
    CrdUnowned "bundle-crd-unowned" Bundle Error Sdk "The CSV owns every CRD of the manifests" "add it to `spec.customresourcedefinitions.owned`"
    ServiceAccountTwice "bundle-sa" Bundle Error Sdk "OLM creates the service accounts of Deployments; the manifests have others" "remove the manifest: OLM creates the accounts of `permissions` and `clusterPermissions`"
    SizeMax "bundle-size-max" Bundle Error Sdk "The compressed manifests fit into one ConfigMap" "shorten descriptions in CRDs, or split the operator"
    SizeNear "bundle-size-near" Bundle Warning Sdk "The compressed manifests are well below the limit" "shorten descriptions in CRDs"
    RelatedImageEmpty "relimg-empty" Bundle Warning Ours "A related image has an image" "newer releases of operator-framework/api refuse it"
    RelatedImageInvalid "relimg-invalid" Bundle Warning Ours "A related image is a valid reference" "newer releases of operator-framework/api refuse it"

    CsvName "csv-name" Csv Error Sdk "The CSV's name is a DNS subdomain and a label value" ""
    CsvReplaces "csv-replaces" Csv Error Sdk "`replaces` is a valid name of a CSV" ""
    CsvApiVersion "csv-version-kind" Csv Error Sdk "The CSV has apiVersion and kind" ""
    CsvField "csv-field" Csv Error Sdk "The CSV has its required fields" ""
    CsvNoAnnotations "csv-no-annotations" Csv Warning Sdk "The CSV has annotations" ""
    CsvNoExamples "csv-no-examples" Csv Warning Sdk "The CSV has examples of its kinds" "put samples into config/samples, or write the annotation `alm-examples`"
    CsvBothExamples "csv-both-examples" Csv Warning Sdk "The CSV has one annotation of examples" "remove `olm.examples`"
    CsvExamplesJson "csv-examples-json" Csv Error Sdk "The examples are a JSON array of objects" ""
    CsvCrdName "csv-crd-name" Csv Error Sdk "The name of an owned CRD is PLURAL.GROUP" ""
    CsvExampleApi "csv-example-api" Csv Error Sdk "Every example is of a kind that the CSV owns" "remove the example, or correct its apiVersion and kind"
    CsvApiExample "csv-api-example" Csv Warning Sdk "Every owned kind has an example" "add an example to `alm-examples`"
    CsvInstallModes "csv-installmodes" Csv Error Sdk "The CSV has install modes" "write `spec.installModes`"
    CsvInstallModesNone "csv-installmodes-none" Csv Error Sdk "The CSV supports an install mode" "set `supported: true` for one of them"
    CsvConversionModes "csv-conversion-modes" Csv Error Sdk "With conversion webhooks, only AllNamespaces is supported" "set `supported: false` for the other install modes"
    CsvMinKube "csv-minkube" Csv Warning Sdk "The CSV specifies the oldest Kubernetes version that it supports" "write `spec.minKubeVersion`"
    CsvMinKubeBad "csv-minkube-bad" Csv Error Sdk "minKubeVersion is a semantic version" "write all three numbers, e.g. `1.33.0`"
    CsvAnnotationCase "csv-annotation-case" Csv Error Sdk "Annotations of OLM are spelled as OLM reads them" ""
    CsvOlmProperties "csv-olm-properties" Csv Warning Sdk "Properties are in metadata/properties.yaml" ""

    CrdConvert "crd-convert" Crd Error Sdk "A CRD of v1beta1 can be converted to v1" ""
    CrdVersion "crd-version" Crd Error Sdk "The apiVersion of a CRD is known" "use `apiextensions.k8s.io/v1`"
    CrdInvalid "crd-invalid" Crd Error Sdk "An API server accepts the CRD, apart from its schemas" ""
    CrdRefused "olm-crd-refused" Olmv0 Error Olm "An API server accepts the schemas of the CRD" ""

    WebhookTwice "olm-webhook-dup" Olmv0 Error Olm "Webhooks of one type have different names" "change `generateName`"
    WebhookTwiceV0 "olmv0-webhook-dup" Olmv0 Error OlmV0 "Webhooks have different names, also those of different types" "change `generateName`"
    WebhookLabel "olmv0-webhook-label" Olmv0 Error OlmV0 "The name of a webhook is a label value" "shorten `generateName` to 63 characters"
    WebhookDeployment "olm-webhook-deployment" Olmv0 Error Olm "The Deployment of a webhook is in the CSV" "correct `deploymentName`"
    WebhookDots "olmv0-webhook-dots" Olmv0 Error OlmV0 "The name of a Deployment with webhooks has no dots" "rename the Deployment: OLM writes `-` for dots in the webhook configuration, but not in the name of the Service"
    WebhookService "olmv0-webhook-service" Olmv0 Error OlmV0 "The name of a Deployment with webhooks leaves room for `-service`" "shorten the Deployment's name to 55 characters"
    WebhookAllGroups "olm-webhook-groups" Olmv0 Error Olm "Webhook rules name their API groups" "list the groups instead of `*`"
    WebhookOlmGroup "olmv0-webhook-group" Olmv0 Error OlmV0 "Webhook rules leave out OLM's own API group" "remove `operators.coreos.com` from the rules"
    WebhookWebhooks "olm-webhook-admission" Olmv0 Error Olm "Webhook rules leave out webhook configurations" "remove the resource from the rules"
    ConversionModes "olm-conversion-modes" Olmv0 Error Olm "A bundle with conversion webhooks supports AllNamespaces only" "set `supported: false` for the other install modes"
    ConversionOwned "olm-conversion-owned" Olmv0 Error Olm "A conversion webhook converts CRDs that the CSV owns" "correct `conversionCRDs`"
    ConversionNone "olmv0-conversion-none" Olmv0 Error OlmV0 "A conversion webhook names the CRDs that it converts" "write `conversionCRDs`"
    InstallModeTwice "olmv0-installmode-dup" Olmv0 Error OlmV0 "Each install mode occurs once" "remove one of the entries"
    OwnedName "olm-owned-name" Olmv0 Error Olm "The CRD that the CSV owns is in the manifests under that name" "correct the name of the owned CRD"
    PodMonitor "olmv0-podmonitor" Olmv0 Error OlmV0 "OLM v0 can install the object" "use a ServiceMonitor: OLM v0 fails the InstallPlan"
    Selector "olm-selector" Olmv0 Error Olm "The selector of a Deployment selects its own pods" "write the selector's labels in `template.metadata.labels`"
    DeploymentName "olm-deployment-name" Olmv0 Error Olm "The name of a Deployment is a DNS subdomain" ""
    RoleRefused "olm-policy-rule" Olmv0 Error Olm "An API server accepts the rules of every role" ""
    Limits "olm-limits" Olmv0 Error Olm "Containers request no more than their limits" "raise the limit, or request less"
    Strategy "olmv0-strategy" Olmv0 Error OlmV0 "The install strategy is `deployment`" "write `strategy: deployment`"
    NoVersion "olm-no-version" Olmv0 Error Olm "The CSV has a version" "write `spec.version`"
    DeploymentTwice "olmv1-deployment-dup" Olmv1 Error OlmV1 "Deployments have different names" "rename one of them: OLM v0 installs only the last one"
    PackageEmpty "olm-package-empty" Olmv0 Error Olm "The package has a name" "write the annotation `operators.operatorframework.io.bundle.package.v1`"
    Undecodable "olm-undecodable" Olmv0 Error Olm "OLM and the API server can decode every object" "put strings that look like numbers or booleans in quotes, and write numbers and booleans without quotes"
    UnknownField "olm-unknown-field" Olmv0 Warning Olm "The type of an object has each of its fields" "correct the name, or remove the field: it is lost when OLM installs the object"
    ManifestSize "olm-manifest-size" Olmv0 Error Olm "Every object fits into one request to etcd" "shorten descriptions in the CRD"
    AnnotationsSize "olm-annotations-size" Olmv0 Error Olm "All annotations of the CSV together have at most 256 KiB" "shorten `alm-examples`"
    CertManagerVolume "olmv0-cert-volume" Olmv0 Warning Ours "Pods mount no certificates that cert-manager would make" "remove the volume and its mounts: OLM mounts its own certificate"
    CertManagerAnnotation "olmv0-cert-annotation" Olmv0 Warning Ours "No CRD with a conversion webhook asks cert-manager for its certificate" "remove the annotation: OLM provides the certificate"
    AccountMissing "olm-account-missing" Olmv0 Warning Ours "OLM or a manifest creates the service account of a Deployment" "OLM creates the accounts of `permissions` and `clusterPermissions` only: give the account a permission there; `operator-rs bundle` writes it from a Role and its binding"
    NoPermissions "olmv0-no-permissions" Olmv0 Warning Ours "The service account of a Deployment has permissions" "add it to `permissions` or `clusterPermissions`"
    RelatedImageMissing "olmv0-relimg-missing" Olmv0 Warning Ours "`relatedImages` lists the images in RELATED_IMAGE variables" "mirrors for disconnected clusters copy the images in `relatedImages` only"
    ReplacesSelf "olmv0-replaces-self" Olmv0 Warning Ours "A CSV replaces or skips other CSVs, not itself" ""
    ReplacesNewer "olmv0-replaces-newer" Olmv0 Warning Ours "The version is greater than the one that it replaces" ""
    SkipRangeBad "olmv0-skiprange-bad" Olmv0 Warning Ours "The annotation olm.skipRange is a range of versions" "write a range such as `>=1.0.0 <1.1.0`"
    SkipRangeSelf "olmv0-skiprange-self" Olmv0 Warning Ours "olm.skipRange does not contain the bundle's own version" "end the range with `<` and this version"

    Dependencies "olmv1-dependencies" Olmv1 Error OlmV1 "The bundle has no dependencies: OLM v1 resolves none" "install what it depends on separately"
    ApiServices "olmv1-apiservices" Olmv1 Error OlmV1 "The CSV defines no API services" ""
    AllNamespaces "olmv1-all-namespaces" Olmv1 Error OlmV1 "The CSV supports the install mode AllNamespaces" "let the operator watch all namespaces"
    WebhookName "olmv1-webhook-name" Olmv1 Error OlmV1 "The name of a webhook is a DNS subdomain" ""
    WebhookV1Group "olmv1-webhook-group" Olmv1 Error OlmV1 "Webhook rules leave out the API group of OLM v1" "remove `olm.operatorframework.io` from the rules"
    WebhookV1Webhooks "olmv1-webhook-admission" Olmv1 Error OlmV1 "Webhook rules leave out webhook configurations, in any spelling" "remove the resource from the rules"
    ConversionTwice "olmv1-conversion-dup" Olmv1 Error OlmV1 "A CRD is converted by one webhook" ""
    CrdNameTwice "olmv1-crd-dup" Olmv1 Error OlmV1 "No CRD is in two files" "put all versions of a CRD into one manifest"
    OperatorConditions "olmv1-operator-conditions" Olmv1 Warning Ours "The operator does without OperatorConditions, which OLM v1 does not have" "the operator must work without the variable OPERATOR_CONDITION_NAME"

    HubProvider "hub-provider" Operatorhub Error Sdk "The CSV names a provider" "write `spec.provider.name`"
    HubMaintainers "hub-maintainers" Operatorhub Error Sdk "A maintainer has name and email" ""
    HubEmail "hub-maintainers-email" Operatorhub Error Sdk "The email of a maintainer is an address" ""
    HubEmailUnchecked "hub-email-unchecked" Operatorhub Warning Ours "The email of a maintainer was checked" "`operator-sdk bundle validate` checks it"
    HubLinks "hub-links" Operatorhub Error Sdk "A link has name and url" ""
    HubUrl "hub-links-url" Operatorhub Error Sdk "The url of a link is valid" ""
    HubVersion "hub-version" Operatorhub Error Sdk "The CSV has a version" "write `spec.version`"
    HubIcon "hub-icon" Operatorhub Warning Sdk "The CSV has an icon" "add it to `spec.icon`"
    HubIconOne "hub-icon-one" Operatorhub Error Sdk "The CSV has one icon" ""
    HubIconData "hub-icon-data" Operatorhub Error Sdk "The icon has data and a media type" ""
    HubIconType "hub-icon-type" Operatorhub Error Sdk "The media type of the icon is one that OperatorHub.io shows" "use image/svg+xml, image/png, image/jpeg or image/gif"
    HubDeprecated "hub-deprecated" Operatorhub Warning Sdk "The validator `operatorhub` of operator-sdk is deprecated" ""
    Capabilities "cap-level" Capabilities Error Sdk "`capabilities` is one of OperatorHub.io's levels" "use Basic Install, Seamless Upgrades, Full Lifecycle, Deep Insights or Auto Pilot"
    Categories "cat-standard" Categories Error Sdk "`categories` names known categories" ""
    CategoriesFile "cat-file" Categories Error Sdk "The file that OPERATOR_BUNDLE_CATEGORIES names can be read" ""

    NoDeployment "gp-no-deployment" GoodPractices Error Sdk "The CSV has a Deployment" ""
    Requests "gp-requests" GoodPractices Warning Sdk "Every container requests resources" "write `resources.requests` for cpu and memory"
    CrdDescription "gp-crd-desc" GoodPractices Warning Sdk "Every CRD in the CSV has a description" ""
    CrdPermission "gp-crd-rbac" GoodPractices Warning Sdk "The operator creates no CRDs" ""
    NameVersion "gp-name-semver" GoodPractices Warning Sdk "The CSV's name ends in a version" ""
    NameForm "gp-name" GoodPractices Warning Sdk "The CSV's name is NAME.vVERSION" ""

    ApiRemoved "api-removed" DeprecatedApis Error Sdk "Kubernetes serves the APIs of the manifests" "use the version of the API that replaces it"
    ApiRemovedLater "api-removed-later" DeprecatedApis Error Ours "Kubernetes serves the APIs that it has removed and operator-sdk does not check" "use the version of the API that replaces it"
    ApiNotYet "api-not-yet" DeprecatedApis Error Ours "The version of Kubernetes to check for serves the APIs of the manifests already" "check for a newer version, or use an older version of the API"
    ApiVersionBad "api-version-bad" DeprecatedApis Error Sdk "The version of Kubernetes to check for is a version" "write a version such as `1.33`"
    ApiMinKubeBad "api-minkube-bad" DeprecatedApis Error Sdk "minKubeVersion can be compared" ""


    ImageUnknown "ma-inspect" Multiarch Warning Sdk "The platforms of an image can be read" ""
    PlatformPromised "ma-label-unsupported" Multiarch Error Sdk "Every image runs on the platforms that the labels name" ""
    PlatformLabel "ma-missing-label" Multiarch Warning Sdk "The labels name every platform of the manager's image" ""
    PlatformImage "ma-image-platform" Multiarch Warning Sdk "Other images run where the manager runs" ""
    AffinityMissing "ma-affinity-missing" Multiarch Warning Sdk "The pod's node affinity names the platforms of its images" ""
    AffinityExtra "ma-affinity-extra" Multiarch Warning Sdk "Node affinity names only platforms of the image" ""
    AffinityLacking "ma-affinity-lacking" Multiarch Warning Sdk "Node affinity names every platform of the image" ""
}
