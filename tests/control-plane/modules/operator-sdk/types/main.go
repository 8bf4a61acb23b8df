// Command types prints the Go types that `operator-sdk generate bundle`, OLM and API servers decode manifests into: a
// line for each struct, `name field:type …`. Built in this module, it prints the types of operator-sdk and its Kubernetes,
// for `crates/go-data/src/kubernetes/types.txt`; in the module `kubernetes`, those of the API servers of the tests. The lines of these
// that differ are `crates/go-data/src/kubernetes/newer.txt`:
//
//	comm -13 <(go run ./types) <(cd ../kubernetes && go run ./types)
//
//	?  after a field's name: `omitempty`
//	^  before it: the field is one of an embedded struct
package main

import (
	"fmt"
	"path"
	"reflect"
	"sort"
	"strings"

	admission "k8s.io/api/admissionregistration/v1"
	apps "k8s.io/api/apps/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	core "k8s.io/api/core/v1"
	networking "k8s.io/api/networking/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	scheduling "k8s.io/api/scheduling/v1"
	extensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var roots = []any{
	apps.Deployment{}, core.Service{}, core.ServiceAccount{},
	rbac.Role{}, rbac.ClusterRole{}, rbac.RoleBinding{}, rbac.ClusterRoleBinding{},
	extensions.CustomResourceDefinition{},
	admission.ValidatingWebhookConfiguration{}, admission.MutatingWebhookConfiguration{},
	// operator-sdk does not decode these; API servers do.
	meta.PartialObjectMetadata{},
	apps.StatefulSet{}, apps.DaemonSet{}, batch.Job{}, batch.CronJob{}, autoscaling.HorizontalPodAutoscaler{},
	core.ConfigMap{}, core.LimitRange{}, core.Namespace{}, core.PersistentVolumeClaim{}, core.Pod{}, core.ResourceQuota{},
	core.Secret{}, networking.Ingress{}, networking.NetworkPolicy{}, policy.PodDisruptionBudget{},
	scheduling.PriorityClass{},
}

// Types that read and write themselves.
var own = map[string]string{
	"resource.Quantity": "quantity", "intstr.IntOrString": "intOrString", "meta.Time": "time",
	"json.RawMessage": "raw", "apiextensions.JSON": "json", "meta.FieldsV1": "fields", "lib.OperatorVersion": "version",
	"apiextensions.JSONSchemaPropsOrBool":        "schemaOrBool",
	"apiextensions.JSONSchemaPropsOrArray":       "schemaOrArray",
	"apiextensions.JSONSchemaPropsOrStringArray": "schemaOrStrings",
}

var lines = map[string]string{}

func main() {
	for _, root := range roots {
		name(reflect.TypeOf(root))
	}
	names := make([]string, 0, len(lines))
	for name := range lines {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		fmt.Println(name + lines[name])
	}
}

// name is a type as the lines name it; structs get their lines.
func name(t reflect.Type) string {
	folder := path.Dir(t.PkgPath())
	if base := path.Base(t.PkgPath()); base == "resource" || base == "intstr" || base == "json" {
		folder = t.PkgPath()
	}
	short := path.Base(folder) + "." + t.Name()
	if t.Name() == "" {
		short = "anonymous"
	}
	if special, ok := own[short]; ok {
		return special
	}
	pointer := reflect.PointerTo(t)
	if m, ok := pointer.MethodByName("UnmarshalJSON"); ok && t.Name() != "" {
		panic(short + " reads itself by " + m.Name)
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int32, reflect.Int64, reflect.Float64:
		return t.Kind().String()
	case reflect.Pointer:
		return "*" + name(t.Elem())
	case reflect.Map:
		if t.Key().Kind() != reflect.String {
			panic(short)
		}
		return "{}" + name(t.Elem())
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "bytes"
		}
		return "[]" + name(t.Elem())
	case reflect.Struct:
		if _, ok := lines[short]; !ok {
			lines[short] = "" // it may hold itself
			lines[short] = fields(t, "")
		}
		return short
	}
	panic(fmt.Sprint(short, " is a ", t.Kind()))
}

func fields(t reflect.Type, mark string) string {
	res := ""
	for i := range t.NumField() {
		field := t.Field(i)
		tag, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case tag == "-" || !field.IsExported():
			continue
		case tag == "" && field.Anonymous:
			res += fields(field.Type, "^")
			continue
		// `omitzero`, of newer types, is left out: they are read only, and not written.
		case tag == "" || strings.Contains(options, "string"):
			panic(t.Name() + "." + field.Name + " has the tag " + string(field.Tag))
		}
		if strings.Contains(res, " "+tag+":") || strings.Contains(res, " "+tag+"?:") {
			panic(t.Name() + "." + tag + " is there twice")
		}
		if strings.Contains(options, "omitempty") {
			tag += "?"
		}
		res += " " + mark + tag + ":" + name(field.Type)
	}
	return res
}
