// Simulates a node, in place of a scheduler, a kubelet and containers: it keeps the node Ready, binds pods to it, reports
// their containers as running (those of a Job as completed), and removes pods that are being deleted. A pod whose
// nodeSelector the node does not have stays Pending, and so does one with scheduling gates. It knows no resources, taints
// or affinities.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"sync/atomic"
	"time"

	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/workqueue"
)

const (
	nodeName  = "node-0"
	heartbeat = 10 * time.Second
	workers   = 8
)

var nodeLabels = labels.Set{
	"kubernetes.io/hostname": nodeName, "kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
}

type simulator struct {
	client *kubernetes.Clientset
	// The address of every pod; empty if each gets its own.
	podIP string
	pods  atomic.Uint32
}

func main() {
	kubeconfig := flag.String("kubeconfig", "kubeconfig", "the file with the address and the credentials of the API server")
	podIP := flag.String("pod-ip", "", "the address of every pod, one of this machine [default: each pod has its own]")
	flag.Parse()
	config, err := clientcmd.BuildConfigFromFlags("", *kubeconfig)
	if err != nil {
		log.Fatal(err)
	}
	config.QPS, config.Burst = 2000, 4000
	s := &simulator{client: kubernetes.NewForConfigOrDie(config), podIP: *podIP}
	ctx := context.Background()
	if err := s.createNode(ctx); err != nil {
		log.Fatalf("cannot create the node: %v", err)
	}
	go func() {
		for ; ; time.Sleep(heartbeat) {
			if err := s.renewLease(ctx); err != nil {
				log.Printf("cannot renew the node's Lease: %v", err)
			}
		}
	}()
	s.watchPods(ctx)
}

func (s *simulator) createNode(ctx context.Context) error {
	var room core.ResourceList
	if err := json.Unmarshal([]byte(`{"cpu":"640","memory":"5120Gi","pods":"20000"}`), &room); err != nil {
		return err
	}
	now := meta.Now()
	node := &core.Node{
		ObjectMeta: meta.ObjectMeta{Name: nodeName, Labels: nodeLabels},
		Status: core.NodeStatus{
			Allocatable: room, Capacity: room,
			Addresses: []core.NodeAddress{{Type: core.NodeInternalIP, Address: s.nodeIP()}},
			Conditions: []core.NodeCondition{{
				Type: core.NodeReady, Status: core.ConditionTrue, Reason: "Simulated",
				LastHeartbeatTime: now, LastTransitionTime: now,
			}},
		},
	}
	_, err := s.client.CoreV1().Nodes().Create(ctx, node, meta.CreateOptions{})
	if errors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// renewLease says that the node is alive: Kubernetes deletes the pods of a node that says nothing.
func (s *simulator) renewLease(ctx context.Context) error {
	leases := s.client.CoordinationV1().Leases(core.NamespaceNodeLease)
	now, holder, seconds := meta.NowMicro(), nodeName, int32(40)
	lease, err := leases.Get(ctx, nodeName, meta.GetOptions{})
	if errors.IsNotFound(err) {
		lease = &coordination.Lease{
			ObjectMeta: meta.ObjectMeta{Name: nodeName, Namespace: core.NamespaceNodeLease},
			Spec:       coordination.LeaseSpec{HolderIdentity: &holder, LeaseDurationSeconds: &seconds, RenewTime: &now},
		}
		_, err = leases.Create(ctx, lease, meta.CreateOptions{})
		return err
	}
	if err != nil {
		return err
	}
	lease.Spec.RenewTime = &now
	_, err = leases.Update(ctx, lease, meta.UpdateOptions{})
	return err
}

func (s *simulator) watchPods(ctx context.Context) {
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[types.NamespacedName]())
	factory := informers.NewSharedInformerFactory(s.client, 0)
	pods := factory.Core().V1().Pods()
	add := func(object any) {
		if pod, ok := object.(*core.Pod); ok {
			queue.Add(types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name})
		}
	}
	pods.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: add, UpdateFunc: func(_, pod any) { add(pod) },
	})
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	work := func() {
		for {
			key, _ := queue.Get()
			pod, err := pods.Lister().Pods(key.Namespace).Get(key.Name)
			if err == nil {
				err = s.advance(ctx, pod.DeepCopy())
			}
			if err == nil || errors.IsNotFound(err) || errors.IsConflict(err) {
				queue.Forget(key) // A conflict is followed by an event.
			} else {
				log.Printf("pod %s: %v", key, err)
				queue.AddRateLimited(key)
			}
			queue.Done(key)
		}
	}
	for range workers - 1 {
		go work()
	}
	work()
}

// advance does what is next for a pod.
func (s *simulator) advance(ctx context.Context, pod *core.Pod) error {
	pods := s.client.CoreV1().Pods(pod.Namespace)
	switch {
	case pod.DeletionTimestamp != nil:
		now := int64(0)
		return pods.Delete(ctx, pod.Name, meta.DeleteOptions{
			GracePeriodSeconds: &now, Preconditions: meta.NewUIDPreconditions(string(pod.UID)),
		})
	case pod.Spec.NodeName == "" && len(pod.Spec.SchedulingGates) > 0:
		return nil
	case pod.Spec.NodeName == "" && !labels.SelectorFromSet(pod.Spec.NodeSelector).Matches(nodeLabels):
		return s.reportUnschedulable(ctx, pod)
	case pod.Spec.NodeName == "":
		return pods.Bind(ctx, &core.Binding{
			ObjectMeta: meta.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID},
			Target:     core.ObjectReference{Kind: "Node", Name: nodeName},
		}, meta.CreateOptions{})
	case pod.Status.Phase == core.PodPending || pod.Status.Phase == "":
		s.setRunning(pod)
	case pod.Status.Phase == core.PodRunning && isOfJob(pod):
		setCompleted(pod)
	default:
		return nil
	}
	_, err := pods.UpdateStatus(ctx, pod, meta.UpdateOptions{})
	return err
}

// reportUnschedulable says why a pod is not bound, in its status and by an event, as the scheduler does.
func (s *simulator) reportUnschedulable(ctx context.Context, pod *core.Pod) error {
	const message = "0/1 nodes are available: 1 node(s) didn't match the pod's node selector."
	now := meta.Now()
	for _, condition := range pod.Status.Conditions {
		if condition.Type == core.PodScheduled && condition.Status == core.ConditionFalse {
			return nil
		}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, core.PodCondition{
		Type: core.PodScheduled, Status: core.ConditionFalse, Reason: core.PodReasonUnschedulable,
		Message: message, LastTransitionTime: now,
	})
	if _, err := s.client.CoreV1().Pods(pod.Namespace).UpdateStatus(ctx, pod, meta.UpdateOptions{}); err != nil {
		return err
	}
	_, err := s.client.CoreV1().Events(pod.Namespace).Create(ctx, &core.Event{
		ObjectMeta: meta.ObjectMeta{Namespace: pod.Namespace, GenerateName: pod.Name + "."},
		InvolvedObject: core.ObjectReference{
			APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID,
		},
		Type: core.EventTypeWarning, Reason: "FailedScheduling", Message: message,
		Source: core.EventSource{Component: "node-simulator"}, FirstTimestamp: now, LastTimestamp: now, Count: 1,
	}, meta.CreateOptions{})
	return err
}

func (s *simulator) setRunning(pod *core.Pod) {
	now := meta.Now()
	types := []core.PodConditionType{core.PodScheduled, core.PodInitialized, core.ContainersReady, core.PodReady}
	for _, gate := range pod.Spec.ReadinessGates {
		types = append(types, gate.ConditionType)
	}
	status := &pod.Status
	status.Conditions = nil
	for _, name := range types {
		status.Conditions = append(status.Conditions, core.PodCondition{Type: name, Status: core.ConditionTrue, LastTransitionTime: now})
	}
	running := core.ContainerState{Running: &core.ContainerStateRunning{StartedAt: now}}
	status.ContainerStatuses = statuses(pod.Spec.Containers, func(core.Container) core.ContainerState { return running })
	status.InitContainerStatuses = statuses(pod.Spec.InitContainers, func(container core.Container) core.ContainerState {
		if container.RestartPolicy != nil && *container.RestartPolicy == core.ContainerRestartPolicyAlways {
			return running
		}
		return terminated(now, now)
	})
	address := s.podIP
	if address == "" && pod.Spec.HostNetwork {
		address = s.nodeIP()
	} else if address == "" {
		number := s.pods.Add(1)
		address = fmt.Sprintf("10.64.%d.%d", number/250%256, number%250+1)
	}
	status.Phase, status.StartTime = core.PodRunning, &now
	status.HostIP, status.HostIPs = s.nodeIP(), []core.HostIP{{IP: s.nodeIP()}}
	status.PodIP, status.PodIPs = address, []core.PodIP{{IP: address}}
}

func setCompleted(pod *core.Pod) {
	now, since := meta.Now(), *pod.Status.StartTime
	pod.Status.Phase = core.PodSucceeded
	pod.Status.ContainerStatuses = statuses(pod.Spec.Containers, func(core.Container) core.ContainerState {
		return terminated(since, now)
	})
	for at := range pod.Status.Conditions {
		condition := &pod.Status.Conditions[at]
		if condition.Type == core.PodReady || condition.Type == core.ContainersReady {
			condition.Status, condition.Reason, condition.LastTransitionTime = core.ConditionFalse, "PodCompleted", now
		}
	}
}

func statuses(containers []core.Container, state func(core.Container) core.ContainerState) []core.ContainerStatus {
	var all []core.ContainerStatus
	for _, container := range containers {
		state := state(container)
		started := state.Running != nil
		all = append(all, core.ContainerStatus{
			Name: container.Name, Image: container.Image, State: state, Started: &started,
			Ready: started || state.Terminated.Reason == "Completed",
		})
	}
	return all
}

func terminated(since, until meta.Time) core.ContainerState {
	return core.ContainerState{Terminated: &core.ContainerStateTerminated{
		Reason: "Completed", StartedAt: since, FinishedAt: until,
	}}
}

func isOfJob(pod *core.Pod) bool {
	for _, owner := range pod.OwnerReferences {
		if owner.Kind == "Job" && owner.Controller != nil && *owner.Controller {
			return true
		}
	}
	return false
}

func (s *simulator) nodeIP() string {
	if s.podIP != "" {
		return s.podIP
	}
	return "10.64.255.1"
}
