// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

// projection writes what is known into a status, for one generation at one time.
type projection struct {
	status     *v1alpha1.ComputeInstanceStatus
	generation int64
	now        time.Time
}

// server shows a server. Without one nothing of it is left: a Healthy condition
// says that there is a server (see announce).
func (p projection) server(server *region.Server) {
	if server == nil {
		p.status.PrivateIP, p.status.PublicIP, p.status.MACAddress = "", "", ""
		meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionHealthy)
		meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionActive)
		return
	}
	p.status.PrivateIP = server.Status.PrivateIP
	p.status.PublicIP = server.Status.PublicIP
	p.status.MACAddress = server.Status.MacAddress
	p.set(healthOf(server))
	if active, known := activeOf(server.Status.PowerState); known {
		p.set(active)
	} else {
		meta.RemoveStatusCondition(&p.status.Conditions, v1alpha1.ConditionActive)
	}
}

// available shows a verdict, if it has something to show.
func (p projection) available(v verdict) {
	if v.reason == "" {
		return
	}
	p.set(metav1.Condition{
		Type:    v1alpha1.ConditionAvailable,
		Status:  v.status(),
		Reason:  v.reason,
		Message: v.message,
	})
}

func (p projection) set(condition metav1.Condition) {
	condition.ObservedGeneration = p.generation
	condition.LastTransitionTime = metav1.NewTime(p.now)
	meta.SetStatusCondition(&p.status.Conditions, condition)
}

// healthOf is the region's word about the health of a server.
func healthOf(server *region.Server) metav1.Condition {
	health := metav1.Condition{
		Type:    v1alpha1.ConditionHealthy,
		Status:  metav1.ConditionFalse,
		Reason:  v1alpha1.ReasonUnknown,
		Message: "The health of the server is not known.",
	}
	switch server.Metadata.HealthStatus {
	case unikorn.HealthStatusHealthy:
		health.Status, health.Reason, health.Message = metav1.ConditionTrue, v1alpha1.ReasonHealthy, "The server is healthy."
	case unikorn.HealthStatusDegraded, unikorn.HealthStatusError:
		health.Reason, health.Message = v1alpha1.ReasonDegraded, "The server does not work as it should."
	case unikorn.HealthStatusUnknown:
	}
	if detail := server.Metadata.HealthStatusDetail; detail != nil && detail.Message != "" {
		health.Message = bounded(detail.Message)
	}
	return health
}

var activeMessages = map[region.PowerState]string{
	region.PowerPending:    "The machine waits to be scheduled.",
	region.PowerQueued:     "The machine waits for hardware.",
	region.PowerBuilding:   "The machine is being built.",
	region.PowerRebuilding: "The machine is being built anew from its image.",
	region.PowerRunning:    "The machine is running.",
	region.PowerStopping:   "The machine is stopping.",
	region.PowerStopped:    "The machine is stopped.",
	region.PowerError:      "The provider reports an error of the machine.",
}

// activeOf shows a power state. One that is not known is not shown at all.
func activeOf(state region.PowerState) (metav1.Condition, bool) {
	if !state.Known() {
		return metav1.Condition{}, false
	}
	status := metav1.ConditionFalse
	if state == region.PowerRunning {
		status = metav1.ConditionTrue
	}
	return metav1.Condition{
		Type:    v1alpha1.ConditionActive,
		Status:  status,
		Reason:  string(state),
		Message: activeMessages[state],
	}, true
}

// handedOver is how far a server that matches the spec has come.
func handedOver(server *region.Server) verdict {
	switch server.Metadata.ProvisioningStatus {
	case unikorn.ProvisioningStatusProvisioned:
		return verdict{reason: v1alpha1.ReasonProvisioned, message: "The server is as specified."}
	case unikorn.ProvisioningStatusError:
		v := verdict{reason: v1alpha1.ReasonErrored, message: "The region could not make the server as specified."}
		return v.detailed(server, v1alpha1.ReasonErrored, v1alpha1.ReasonDependencyNotFound, v1alpha1.ReasonDependencyFailed)
	default:
		v := verdict{reason: v1alpha1.ReasonDependencyNotReady, message: "The region has not made the server yet."}
		return v.detailed(server, v1alpha1.ReasonProvisioning, v1alpha1.ReasonDependencyNotReady, v1alpha1.ReasonDependencyFailed)
	}
}

// detailed takes over the region's own reason if it is one of reasons: any other
// contradicts the status it comes with.
func (v verdict) detailed(server *region.Server, reasons ...string) verdict {
	detail := server.Metadata.ProvisioningStatusDetail
	if detail == nil {
		return v
	}
	for _, reason := range reasons {
		if detail.Reason == reason {
			return verdict{reason: reason, message: bounded(detail.Message)}
		}
	}
	return v
}

// inPlace says whether the status says that the spec of this generation was
// handed over.
func inPlace(object *v1alpha1.ComputeInstance) bool {
	available := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionAvailable)
	return available != nil && available.Status == metav1.ConditionTrue && available.ObservedGeneration == object.Generation
}

// moving says whether the server is expected to change by itself soon.
func moving(object *v1alpha1.ComputeInstance) bool {
	available := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionAvailable)
	if available == nil {
		return true
	}
	switch available.Reason {
	case v1alpha1.ReasonErrored, v1alpha1.ReasonPaused, v1alpha1.ReasonQuotaExceeded, v1alpha1.ReasonNameTaken, v1alpha1.ReasonOwnerMismatch, v1alpha1.ReasonDependencyNotFound:
		return false
	case v1alpha1.ReasonProvisioned:
	default:
		return true
	}
	active := meta.FindStatusCondition(object.Status.Conditions, v1alpha1.ConditionActive)
	if active == nil {
		return true
	}
	switch region.PowerState(active.Reason) {
	case region.PowerRunning, region.PowerStopped, region.PowerError:
		return false
	default:
		return true
	}
}

// hurryUntil is until when the server is to be looked at often.
func hurryUntil(object *v1alpha1.ComputeInstance, now time.Time) time.Time {
	if moving(object) {
		return now.Add(hurry)
	}
	request, ok := v1alpha1.PowerRequestOf(object.Annotations)
	if !ok {
		return time.Time{}
	}
	// The clock of who asked may be ahead.
	if request.Time.After(now) {
		return now.Add(powerLag)
	}
	return request.Time.Add(powerLag)
}

// messageLimit keeps somebody else's message from failing the write.
const messageLimit = 1024

func bounded(message string) string {
	if len(message) <= messageLimit {
		return message
	}
	return fmt.Sprintf("%.*s…", messageLimit, message)
}
