//! The arguments of markers, such as `+kubebuilder:rbac`. Each is one field of a struct: its type says how the value is
//! written, its comment is the row of docs/reference/markers.md, and the rest says what is known about it. The parser, its
//! refusals and the reference page follow from these structs.

/// What is known about an argument besides its value.
#[derive(Clone, Copy, Debug)]
pub struct Argument {
    pub name: &'static str,
    /// Its words are separated by `;`.
    pub is_list: bool,
    pub is_required: bool,
    /// The values that Kubernetes has, in its spelling; in a marker, capitals make no difference.
    pub words: &'static [&'static str],
    /// How messages of API servers about its value begin: with the field of the object.
    pub api_field: Option<&'static str>,
}

const fn argument(name: &'static str) -> Argument {
    Argument { name, is_list: false, is_required: false, words: &[], api_field: None }
}

impl Argument {
    const fn required(self) -> Self {
        Self { is_required: true, ..self }
    }

    const fn words(self, words: &'static [&'static str]) -> Self {
        Self { words, ..self }
    }

    const fn sets(self, api_field: &'static str) -> Self {
        Self { api_field: Some(api_field), ..self }
    }

    /// Returns a word in the spelling of Kubernetes; none if Kubernetes does not have it.
    pub fn canonical_spelling(&self, word: &str) -> Option<&'static str> {
        self.words.iter().copied().find(|known| known.to_lowercase() == word.to_lowercase())
    }
}

/// Reads values in the grammar of markers.
pub trait ReadValue {
    type Error;

    fn read_boolean(&mut self) -> Result<bool, Self::Error>;
    fn read_text(&mut self) -> Result<String, Self::Error>;
    fn read_integer(&mut self) -> Result<i32, Self::Error>;
    fn read_list(&mut self) -> Result<Vec<String>, Self::Error>;
}

/// The type of an argument.
trait Value: Sized {
    const IS_LIST: bool = false;

    fn read<R: ReadValue>(reader: &mut R) -> Result<Self, R::Error>;
}

impl Value for bool {
    fn read<R: ReadValue>(reader: &mut R) -> Result<Self, R::Error> {
        reader.read_boolean()
    }
}

impl Value for String {
    fn read<R: ReadValue>(reader: &mut R) -> Result<Self, R::Error> {
        reader.read_text()
    }
}

impl Value for i32 {
    fn read<R: ReadValue>(reader: &mut R) -> Result<Self, R::Error> {
        reader.read_integer()
    }
}

impl Value for Vec<String> {
    const IS_LIST: bool = true;

    fn read<R: ReadValue>(reader: &mut R) -> Result<Self, R::Error> {
        reader.read_list()
    }
}

impl<T: Value> Value for Option<T> {
    fn read<R: ReadValue>(reader: &mut R) -> Result<Self, R::Error> {
        T::read(reader).map(Some)
    }
}

/// The arguments of a marker, as written: nothing is checked or defaulted yet.
pub trait MarkerArguments: Default {
    /// What follows the `+`.
    const NAME: &'static str;
    /// The hint for writing the marker.
    const USAGE: &'static str;
    const ARGUMENTS: &'static [Argument];

    /// Reads the value of an argument; false if the marker has none of this name.
    fn read<R: ReadValue>(&mut self, name: &str, reader: &mut R) -> Result<bool, R::Error>;

    /// Returns what is known about an argument of this marker.
    fn argument(name: &str) -> &'static Argument {
        let known = Self::ARGUMENTS.iter().find(|argument| argument.name == name);
        known.expect("the name is that of an argument")
    }
}

macro_rules! marker_arguments {
    ($(
        $(#[$attribute:meta])*
        pub struct $marker:ident ($name:literal, $usage:literal) {
            $($(#[doc = $help:literal])+ pub $field:ident: $type:ty = $argument:expr;)+
        }
    )+) => {$(
        $(#[$attribute])*
        #[derive(Clone, Debug, Default, PartialEq, Eq)]
        pub struct $marker {
            $($(#[doc = $help])+ pub $field: $type,)+
        }

        impl MarkerArguments for $marker {
            const NAME: &'static str = $name;
            const USAGE: &'static str = $usage;
            const ARGUMENTS: &'static [Argument] =
                &[$(Argument { is_list: <$type as Value>::IS_LIST, ..$argument }),+];

            fn read<R: ReadValue>(&mut self, name: &str, reader: &mut R) -> Result<bool, R::Error> {
                match name {
                    $(name if name == const { $argument }.name => self.$field = Value::read(reader)?,)+
                    _ => return Ok(false),
                }
                Ok(true)
            }
        }
    )+};
}

marker_arguments! {
    /// The rule of a role, and the arguments of `+kubebuilder:rbac`.
    pub struct Rule (
        "kubebuilder:rbac",
        "write e.g. `// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch`"
    ) {
        /// API groups; `""` or `core` is the group without a name
        pub groups: Vec<String> = argument("groups");
        /// plurals, or subresources such as `deployments/status`
        pub resources: Vec<String> = argument("resources");
        /// names of objects that the rule is limited to
        pub resource_names: Vec<String> = argument("resourceNames");
        /// paths that are not resources
        pub urls: Vec<String> = argument("urls");
        /// `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, …
        pub verbs: Vec<String> = argument("verbs").required();
        /// a namespace: the rule goes into a Role there instead of a ClusterRole. `operator-rs manifests` also [binds
        /// it there](../how-to/rbac.md#permissions-in-another-namespace)
        pub namespace: Option<String> = argument("namespace");
        /// the name of another role that the rule goes into. A ClusterRole with such a name is for you to bind
        pub role_name: Option<String> = argument("roleName");
    }

    /// The arguments of `+kubebuilder:webhook`.
    pub struct WebhookArguments (
        "kubebuilder:webhook",
        "write e.g. `// +kubebuilder:webhook:path=/validate-cache-example-com-v1-memcached,mutating=false,failurePolicy=fail,sideEffects=None,groups=cache.example.com,resources=memcacheds,verbs=create;update,versions=v1,name=vmemcached-v1.kb.io,admissionReviewVersions=v1`"
    ) {
        /// `true` for a webhook that may change objects, `false` for one that only validates them
        pub mutating: bool = argument("mutating").required();
        /// `fail` refuses requests while the webhook does not answer, `ignore` admits them
        pub failure_policy: String = argument("failurePolicy")
            .required()
            .words(&["Fail", "Ignore"])
            .sets("failurePolicy");
        /// the API groups of the objects; `core` is the group without a name, and `*` is all
        pub groups: Vec<String> = argument("groups").required().sets("rules[0].apiGroups");
        /// the plurals of the objects; `*` is all
        pub resources: Vec<String> = argument("resources").required().sets("rules[0].resources");
        /// `create`, `update`, `delete`, `connect` or `*`
        pub verbs: Vec<String> = argument("verbs")
            .required()
            .words(&["CREATE", "UPDATE", "DELETE", "CONNECT", "*"])
            .sets("rules[0].operations");
        /// the versions of the objects; `*` is all
        pub versions: Vec<String> = argument("versions").required().sets("rules[0].apiVersions");
        /// a domain of at least three labels, such as `vmemcached-v1.kb.io`; no other webhook may have it
        pub name: String = argument("name").required().sets("name:");
        /// `v1`
        pub admission_review_versions: Vec<String> = argument("admissionReviewVersions")
            .required()
            .sets("admissionReviewVersions");
        /// the path at which the manager serves the webhook; or `url` for one that is elsewhere
        pub path: String = argument("path").sets("clientConfig.service.path");
        /// the address of a webhook that the manager does not serve
        pub url: String = argument("url").sets("clientConfig.url");
        /// `None` or `NoneOnDryRun`, which API servers demand
        pub side_effects: String = argument("sideEffects")
            .words(&["None", "NoneOnDryRun", "Some", "Unknown"])
            .sets("sideEffects");
        /// `Exact` or `Equivalent`
        pub match_policy: String = argument("matchPolicy")
            .words(&["Exact", "Equivalent"])
            .sets("matchPolicy");
        /// 1 to 30; without it, API servers take 10
        pub timeout_seconds: i32 = argument("timeoutSeconds").sets("timeoutSeconds");
        /// `Never` or `IfNeeded`, of a mutating webhook
        pub reinvocation_policy: String = argument("reinvocationPolicy")
            .words(&["Never", "IfNeeded"]);
        /// the Service in front of the manager: `webhook-service` by default
        pub service_name: String = argument("serviceName").sets("clientConfig.service.name:");
        /// the namespace of that Service: `system` by default
        pub service_namespace: String = argument("serviceNamespace")
            .sets("clientConfig.service.namespace");
        /// the port of that Service: 443 by default
        pub service_port: Option<i32> = argument("servicePort").sets("clientConfig.service.port");
        /// `v1`, the only version of the configurations
        pub webhook_versions: Vec<String> = argument("webhookVersions");
        /// a strategic merge patch of the webhook, in JSON between backticks, such as ``
        /// patch=`{"objectSelector":{"matchLabels":{"tier":"web"}}}` ``; directives such as `$patch` are not supported
        pub patch: String = argument("patch");
    }

    /// The arguments of `+kubebuilder:webhookconfiguration`.
    pub struct ConfigurationArguments (
        "kubebuilder:webhookconfiguration",
        "write e.g. `// +kubebuilder:webhookconfiguration:mutating=false,name=validating-webhook-configuration`"
    ) {
        /// `true` for the object that has all mutating webhooks, `false` for that of the validating ones
        pub mutating: bool = argument("mutating").required();
        /// the name of the object
        pub name: String = argument("name");
    }
}
