// PORT DIR: the webhooks of a kind with two versions, as kubebuilder scaffolds them, with the certificate in DIR.
package main

import (
	"context"
	"os"
	"slices"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/conversion"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/webhook"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

type common struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Status            struct {
		ObservedGeneration int64              `json:"observedGeneration,omitempty"`
		ReadyReplicas      int32              `json:"readyReplicas"`
		Selector           string             `json:"selector"`
		Nodes              []string           `json:"nodes,omitempty"`
		Conditions         []metav1.Condition `json:"conditions,omitempty"`
	} `json:"status,omitempty"`
}

func (it common) copy() common {
	it.ObjectMeta = *it.ObjectMeta.DeepCopy()
	it.Status.Nodes = slices.Clone(it.Status.Nodes)
	it.Status.Conditions = slices.Clone(it.Status.Conditions)
	return it
}

// Alpha is v1alpha1, the hub.
type Alpha struct {
	common `json:",inline"`
	Spec   struct {
		Size          int32 `json:"size"`
		ContainerPort int32 `json:"containerPort"`
	} `json:"spec"`
}

func (*Alpha) Hub()                              {}
func (it *Alpha) DeepCopyObject() runtime.Object { return &Alpha{it.common.copy(), it.Spec} }

// Beta is v1beta1, in which the port has another name.
type Beta struct {
	common `json:",inline"`
	Spec   struct {
		Size int32 `json:"size"`
		Port int32 `json:"port"`
	} `json:"spec"`
}

func (it *Beta) DeepCopyObject() runtime.Object { return &Beta{it.common.copy(), it.Spec} }

func (it *Beta) ConvertTo(hub conversion.Hub) error {
	to := hub.(*Alpha)
	to.ObjectMeta, to.Status = it.ObjectMeta, it.Status
	to.Spec.Size, to.Spec.ContainerPort = it.Spec.Size, it.Spec.Port
	return nil
}

func (it *Beta) ConvertFrom(hub conversion.Hub) error {
	from := hub.(*Alpha)
	it.ObjectMeta, it.Status = from.ObjectMeta, from.Status
	it.Spec.Size, it.Spec.Port = from.Spec.Size, from.Spec.ContainerPort
	return nil
}

type hooks struct{}

func (hooks) Default(_ context.Context, it *Alpha) error {
	if it.Spec.Size == 0 {
		it.Spec.Size = 3
	}
	return nil
}

func rules(it *Alpha) (admission.Warnings, error) {
	if it.Spec.Size != 4 {
		return nil, nil
	}
	fault := field.Invalid(field.NewPath("spec").Child("size"), it.Spec.Size, "must not be 4")
	return nil, apierrors.NewInvalid(schema.GroupKind{Group: group, Kind: "Memcached"}, it.Name, field.ErrorList{fault})
}

func (hooks) ValidateCreate(_ context.Context, it *Alpha) (admission.Warnings, error) {
	return rules(it)
}
func (hooks) ValidateUpdate(_ context.Context, _, it *Alpha) (admission.Warnings, error) {
	return rules(it)
}
func (hooks) ValidateDelete(context.Context, *Alpha) (admission.Warnings, error) { return nil, nil }

const group = "peer.example.com"

func must[T any](it T, err error) T {
	if err != nil {
		panic(err)
	}
	return it
}

func main() {
	scheme := runtime.NewScheme()
	kind := schema.GroupVersionKind{Group: group, Version: "v1alpha1", Kind: "Memcached"}
	scheme.AddKnownTypeWithName(kind, &Alpha{})
	scheme.AddKnownTypeWithName(kind.GroupKind().WithVersion("v1beta1"), &Beta{})
	manager := must(ctrl.NewManager(ctrl.GetConfigOrDie(), ctrl.Options{
		Scheme:        scheme,
		Metrics:       server.Options{BindAddress: "0"},
		WebhookServer: webhook.NewServer(webhook.Options{Port: must(strconv.Atoi(os.Args[1])), CertDir: os.Args[2]}),
	}))
	must(0, ctrl.NewWebhookManagedBy(manager, &Alpha{}).WithDefaulter(hooks{}).WithValidator(hooks{}).Complete())
	must(0, manager.Start(ctrl.SetupSignalHandler()))
}
