//! What random overlays are made of.

/// Objects by the name of their file.
pub const OBJECTS: &[(&str, &str)] = &[
    (
        "deployment",
        "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  labels:
    app: web
spec:
  replicas: 2
  selector:
    matchLabels:
      app: web
  template:
    metadata:
      labels:
        app: web
    spec:
      serviceAccountName: robot
      containers:
      - name: web
        image: example.com/web:1.0
        ports:
        - containerPort: 8080
          name: http
        env:
        - name: SETTING
          valueFrom:
            configMapKeyRef:
              name: settings
              key: a
        - name: PASSWORD
          valueFrom:
            secretKeyRef:
              name: password
              key: a
        volumeMounts:
        - mountPath: /etc/extra
          name: extra
      volumes:
      - name: extra
        configMap:
          name: extra
",
    ),
    (
        "bare",
        "
apiVersion: apps/v1
kind: Deployment
metadata:
  name: bare
spec:
  template:
    spec:
      containers:
      - name: manager
        image: controller:latest
        args:
        - --leader-elect
        envFrom:
        - configMapRef:
            name: settings
        - secretRef:
            name: password
      affinity:
        podAntiAffinity:
          requiredDuringSchedulingIgnoredDuringExecution:
          - topologyKey: zone
            labelSelector:
              matchLabels:
                app: web
",
    ),
    (
        "stateful",
        "
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: store
  annotations:
    note: here
spec:
  serviceName: web
  template:
    spec:
      containers:
      - name: store
        image: store@sha256:aaaa
      initContainers:
      - name: first
        image: busybox
  volumeClaimTemplates:
  - metadata:
      name: data
    spec:
      storageClassName: fast
",
    ),
    (
        "service",
        "
apiVersion: v1
kind: Service
metadata:
  name: web
spec:
  selector:
    app: web
  ports:
  - port: 80
    targetPort: http
",
    ),
    (
        "plain-service",
        "\napiVersion: v1\nkind: Service\nmetadata:\n  name: plain\nspec:\n  ports:\n  - {port: 80, protocol: TCP}\n  - {port: 80, protocol: UDP}\n",
    ),
    (
        "settings",
        "\napiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\ndata:\n  a: one\n  host: web.default.svc\n  port: \"80\"\n  flag: 'no'\n  text: |\n    some text\n",
    ),
    (
        "robot",
        "\napiVersion: v1\nkind: ServiceAccount\nmetadata:\n  name: robot\n  namespace: system\n",
    ),
    (
        "roles",
        "
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: reader
rules:
- apiGroups: ['']
  resources: [configmaps]
  resourceNames: [settings]
  verbs: [get]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: reader
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: reader
subjects:
- kind: ServiceAccount
  name: robot
  namespace: system
- kind: ServiceAccount
  name: default
  namespace: default
",
    ),
    (
        "cluster-roles",
        "
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: admin
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: admin
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: admin
subjects:
- kind: ServiceAccount
  name: robot
  namespace: system
",
    ),
    (
        "crd",
        "
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: v0.14.0
  creationTimestamp: null
  name: memcacheds.cache.example.com
spec:
  group: cache.example.com
  names:
    kind: Memcached
    plural: memcacheds
  scope: Namespaced
  versions:
  - name: v1
    served: true
status:
  conditions:
",
    ),
    (
        "memcached",
        "\napiVersion: cache.example.com/v1\nkind: Memcached\nmetadata:\n  name: sample\n  labels:\nspec:\n  size: 3\n  settings: settings\n  items:\n  - name: a\n    value: 1\n",
    ),
    (
        "namespace",
        "\napiVersion: v1\nkind: Namespace\nmetadata:\n  name: system\n  labels:\n    control-plane: manager\n",
    ),
    (
        "webhook",
        "
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata:
  name: validating
webhooks:
- name: a.example.com
  clientConfig:
    service:
      name: web
      namespace: system
      path: /validate
",
    ),
    (
        "job",
        "
apiVersion: batch/v1
kind: Job
metadata:
  name: once
spec:
  template:
    metadata:
      labels: {}
    spec:
      restartPolicy: Never
      containers:
      - name: once
        image: example.com/web:1.0
        command: [run, $(WEB)]
",
    ),
    (
        "ingress",
        "\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata:\n  name: web\nspec:\n  tls:\n  - secretName: password\n  rules:\n  - http:\n      paths:\n      - backend:\n          service:\n            name: web\n",
    ),
    (
        "scaler",
        "\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata:\n  name: web\nspec:\n  scaleTargetRef:\n    apiVersion: apps/v1\n    kind: Deployment\n    name: web\n",
    ),
    (
        "network",
        "\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\nmetadata:\n  name: web\nspec:\n  podSelector:\n    matchLabels:\n      app: web\n  ingress:\n  - from:\n    - podSelector:\n        matchLabels:\n          app: other\n",
    ),
    (
        "list",
        "\napiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata:\n    name: listed\n  data:\n    a: b\n- apiVersion: v1\n  kind: Secret\n  metadata:\n    name: password\n    annotations:\n  stringData:\n    a: b\n",
    ),
];

/// Headings and items.
pub const TRANSFORMATIONS: &[(&str, &[&str])] = &[
    ("namespace: ns", &[""]),
    ("namespace: system", &[""]),
    ("namePrefix: p-", &[""]),
    ("namePrefix: p-", &[""]),
    ("nameSuffix: -s", &[""]),
    ("commonLabels:", &["  app: common\n", "  app: common\n  tier: back\n", "  team: a\n"]),
    ("commonAnnotations:", &["  note: common\n", "  other: common\n"]),
    (
        "labels:",
        &[
            "- pairs: {app: labelled}\n",
            "- pairs: {tier: front}\n  includeSelectors: true\n",
            "- pairs: {app: labelled, team: b}\n  includeTemplates: true\n",
            "- pairs: {app: field}\n  fields:\n  - {path: spec/labels, kind: Memcached, create: true}\n",
            "- pairs: {app: labelled}\n  includeSelectors: true\n",
        ],
    ),
    (
        "images:",
        &[
            "- {name: controller, newName: example.com/operator, newTag: v1.2.3}\n",
            "- {name: example.com/web, newTag: '2.0'}\n",
            "- {name: busybox, digest: sha256:bbbb}\n",
            "- {name: store, newName: other/store}\n",
        ],
    ),
    (
        "replicas:",
        &["- {name: web, count: 5}\n", "- {name: bare, count: 0}\n", "- {name: store, count: 3}\n"],
    ),
    ("sortOptions: {order: fifo}", &[""]),
    ("sortOptions: {order: legacy}", &[""]),
    (
        "generatorOptions:",
        &[
            "  disableNameSuffixHash: true\n",
            "  labels: {generated: 'true'}\n",
            "  annotations: {note: generated}\n",
        ],
    ),
    (
        "replacements:",
        &[
            "- source: {kind: ConfigMap, name: settings, fieldPath: data.a}\n  targets:\n  - select: {kind: Deployment}\n    fieldPaths: [spec.template.metadata.annotations.hash]\n    options: {create: true}\n",
            "- source: {kind: Service, name: web}\n  targets:\n  - select: {kind: ConfigMap, name: settings}\n    fieldPaths: [data.host]\n    options: {delimiter: ., index: 0}\n",
            "- source: {kind: Service, name: web, fieldPath: metadata.namespace}\n  targets:\n  - select: {kind: ConfigMap}\n    reject: [{name: listed}]\n    fieldPaths: [data.host]\n    options: {delimiter: ., index: 1, create: true}\n",
            "- source: {kind: Deployment, name: web, fieldPath: 'spec.template.spec.containers.[name=web].image'}\n  targets:\n  - select: {kind: Job}\n    fieldPaths: ['spec.template.spec.containers.*.image']\n",
            "- source: {kind: Deployment, name: web, fieldPath: spec.replicas}\n  targets:\n  - select: {kind: Memcached}\n    fieldPaths: [spec.size, spec.copies]\n    options: {create: true}\n",
            "- source: {kind: Deployment, name: web, fieldPath: metadata.labels}\n  targets:\n  - select: {kind: Service}\n    fieldPaths: [spec.selector]\n",
        ],
    ),
    (
        "patchesJson6902:",
        &[
            "- target: {group: apps, version: v1, kind: Deployment, name: web}\n  patch: |-\n    - {op: replace, path: /spec/replicas, value: 9}\n",
            "- target: {version: v1, kind: Service, name: p-web}\n  patch: |-\n    - {op: add, path: /metadata/annotations/late, value: here}\n",
        ],
    ),
];

/// Lines of the metadata begin with `+`.
pub const METADATA: &[&str] = &[
    "\n+labels: {app: patched}",
    "\n+labels: {app: null}",
    "\n+labels: {team: patched}\n+annotations: {note: patched}",
    "\n+annotations: {note: patched}",
    "\n+annotations: {note: null}",
    "\n+annotations: null",
    "\n+labels: null",
    "\n+annotations: {$patch: replace, own: here}",
    "\n+annotations: {$patch: delete}",
    "\n+namespace: system",
];

/// Kind, name, and what a strategic merge says of it.
pub const PATCHES: &[(&str, &str, &[&str])] = &[
    (
        "Deployment",
        "web",
        &[
            "spec: {replicas: 7}",
            "spec: {replicas: null, paused: true}",
            "spec:\n  template:\n    spec:\n      containers:\n      - name: web\n        env:\n        - {name: SETTING, value: here, valueFrom: null}\n        - {name: MORE, value: '1'}",
            "spec:\n  template:\n    spec:\n      containers:\n      - name: side\n        image: side:1\n      - name: web\n        resources: {limits: {cpu: 100m}}",
            "spec:\n  template:\n    spec:\n      volumes:\n      - name: extra\n        $patch: delete",
            "spec:\n  template:\n    spec:\n      containers:\n      - name: web\n        ports:\n        - {containerPort: 8080, protocol: UDP}\n        - {containerPort: 9090}",
            "spec:\n  selector:\n    matchLabels: {app: patched}",
            "spec:\n  template:\n    metadata:\n      labels: {app: patched}\n      annotations: {a: b}",
            "$patch: delete",
            "spec:\n  strategy: {type: Recreate}\n  template:\n    spec:\n      volumes:\n      - name: more\n        emptyDir: {}\n      - $patch: replace",
            "spec:\n  template:\n    spec:\n      containers:\n      - name: web\n        command: [a, b]\n        args: null",
        ],
    ),
    (
        "Deployment",
        "bare",
        &[
            "spec: {replicas: 1}",
            "spec:\n  template:\n    spec:\n      containers:\n      - name: manager\n        args: [--a, --b]",
            "spec:\n  template:\n    metadata:\n      labels: {app: patched}",
        ],
    ),
    (
        "StatefulSet",
        "store",
        &["spec: {replicas: 1}", "spec:\n  volumeClaimTemplates: []", "+finalizers: [a]"],
    ),
    (
        "Service",
        "web",
        &[
            "spec:\n  ports:\n  - {port: 443, name: tls}",
            "spec:\n  selector: {app: patched}",
            "spec:\n  ports:\n  - {port: 80, targetPort: 81, protocol: TCP}",
            "spec:\n  selector: {$patch: replace, a: b}",
        ],
    ),
    (
        "Service",
        "plain",
        &[
            "spec:\n  ports:\n  - {port: 80, name: a, protocol: UDP}",
            "spec:\n  ports:\n  - port: 81\n  - $patch: replace",
            "spec: {type: NodePort}",
        ],
    ),
    (
        "ConfigMap",
        "settings",
        &[
            "data: {a: two, b: three}",
            "data: {a: null}",
            "data: null",
            "immutable: true",
            "data: {port: 8080, a: 1}",
            "data: {flag: true, port: '81', text: 5}",
        ],
    ),
    ("Secret", "password", &["type: Opaque", "stringData: {b: c}"]),
    (
        "CustomResourceDefinition",
        "memcacheds.cache.example.com",
        &[
            "spec:\n  conversion:\n    strategy: Webhook\n    webhook: {clientConfig: {service: {name: web, namespace: system}}}",
            "spec:\n  versions:\n  - name: v2",
        ],
    ),
    (
        "Memcached",
        "sample",
        &["spec: {size: 5}", "spec:\n  items:\n  - {name: b}", "spec: {items: null}"],
    ),
    ("Namespace", "system", &[""]),
    (
        "Job",
        "once",
        &[
            "spec: {backoffLimit: 1}",
            "spec:\n  template:\n    spec:\n      containers:\n      - name: once\n        $patch: delete",
        ],
    ),
];

pub const JSON: &[(&str, &[&str])] = &[
    (
        "{kind: Deployment}",
        &[
            "- {op: replace, path: /spec/replicas, value: 3}",
            "- {op: add, path: /spec/template/spec/containers/0/args/-, value: --more}",
            "- {op: add, path: /metadata/labels/app, value: json}",
            "- {op: add, path: /metadata/annotations/json, value: here}",
            "- {op: remove, path: /spec/replicas}",
            "- {op: test, path: /spec/replicas, value: 2}",
            "- {op: copy, from: /spec/template/spec/containers/0, path: /spec/template/spec/containers/-}",
            "- {op: move, from: /spec/replicas, path: /spec/moved}",
            "- {op: replace, path: /spec/template/spec/containers/0/image, value: 'json:1'}",
        ],
    ),
    (
        "{kind: Service, name: .*web}",
        &[
            "- {op: add, path: /spec/ports/-, value: {port: 443}}",
            "- {op: replace, path: /metadata/name, value: renamed}",
            "- {op: remove, path: /spec/selector}",
            "- {op: add, path: /spec/ports/0/name, value: a}",
        ],
    ),
    (
        "{version: v1, kind: ConfigMap}",
        &[
            "- {op: add, path: /data/json, value: here}",
            "- {op: replace, path: /data, value: {x: '1'}}",
            "- {op: remove, path: /metadata/annotations}",
        ],
    ),
    (
        "{labelSelector: app=web}",
        &[
            "- {op: add, path: /metadata/labels/found, value: 'true'}",
            "- {op: remove, path: /metadata/labels/app}",
        ],
    ),
    (
        "{labelSelector: 'app in (web,common),!found'}",
        &["- {op: add, path: /metadata/annotations/found, value: 'true'}"],
    ),
    (
        "{kind: CustomResourceDefinition}",
        &[
            "- {op: add, path: /spec/preserveUnknownFields, value: false}",
            "- {op: replace, path: /spec/versions/0/served, value: false}",
        ],
    ),
    (
        "{kind: Role.*, name: reader}",
        &[
            "- {op: add, path: /metadata/labels, value: {a: b}}",
            "- {op: replace, path: /metadata/namespace, value: other}",
        ],
    ),
    ("{kind: 'ClusterRole(Binding)?'}", &["- {op: replace, path: /metadata/name, value: renamed}"]),
];
