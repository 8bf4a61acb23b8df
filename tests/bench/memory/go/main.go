// load N: one reconcile for each of N objects, with three children, on controller-runtime's fake client.
package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// The primary is a ReplicationController, so that no type has to be generated here.
func reconcile(ctx context.Context, c client.Client, scheme *runtime.Scheme, name types.NamespacedName) error {
	owner := &corev1.ReplicationController{}
	if err := c.Get(ctx, name, owner); err != nil {
		return err
	}
	meta := metav1.ObjectMeta{Name: name.Name, Namespace: name.Namespace}
	app := map[string]string{"app": name.Name}
	config := &corev1.ConfigMap{ObjectMeta: meta}
	if _, err := controllerutil.CreateOrUpdate(ctx, c, config, func() error {
		config.Data = map[string]string{"value": "1"}
		return controllerutil.SetControllerReference(owner, config, scheme)
	}); err != nil {
		return err
	}
	service := &corev1.Service{ObjectMeta: meta}
	if _, err := controllerutil.CreateOrUpdate(ctx, c, service, func() error {
		service.Spec.Selector = app
		service.Spec.Ports = []corev1.ServicePort{{Port: 80}}
		return controllerutil.SetControllerReference(owner, service, scheme)
	}); err != nil {
		return err
	}
	deployment := &appsv1.Deployment{ObjectMeta: meta}
	if _, err := controllerutil.CreateOrUpdate(ctx, c, deployment, func() error {
		one, yes := int32(1), true
		deployment.Spec.Replicas = &one
		deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: app}
		deployment.Spec.Template.Labels = app
		deployment.Spec.Template.Spec.Containers = []corev1.Container{{
			Name: "it", Image: "it:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}},
			Env:             []corev1.EnvVar{{Name: "A", Value: "a"}},
			SecurityContext: &corev1.SecurityContext{ReadOnlyRootFilesystem: &yes},
		}}
		return controllerutil.SetControllerReference(owner, deployment, scheme)
	}); err != nil {
		return err
	}
	owner.Status.ObservedGeneration = 1
	owner.Status.Replicas = 1
	return c.Status().Update(ctx, owner)
}

func main() {
	count, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err)
	}
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		panic(err)
	}
	builder := fake.NewClientBuilder().WithScheme(scheme).WithStatusSubresource(&corev1.ReplicationController{})
	for i := range count {
		meta := metav1.ObjectMeta{Name: fmt.Sprintf("t%d", i), Namespace: "n", UID: types.UID(fmt.Sprintf("uid-%d", i))}
		builder = builder.WithObjects(&corev1.ReplicationController{ObjectMeta: meta})
	}
	c := builder.Build()
	start, used := time.Now(), cpu()
	for i := range count {
		if err := reconcile(context.Background(), c, scheme, types.NamespacedName{Namespace: "n", Name: fmt.Sprintf("t%d", i)}); err != nil {
			panic(err)
		}
	}
	took := time.Since(start).Seconds()
	fmt.Printf("Go, fake client: %d objects with 3 children in %.1f s (%.0f a second), CPU %.1f s, memory %d MiB at most\n",
		count, took, float64(count)/took, cpu()-used, usage().Maxrss/1024)
}

func usage() syscall.Rusage {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return usage
}

func cpu() float64 {
	usage := usage()
	seconds := func(it syscall.Timeval) float64 { return float64(it.Sec) + float64(it.Usec)/1e6 }
	return seconds(usage.Utime) + seconds(usage.Stime)
}
