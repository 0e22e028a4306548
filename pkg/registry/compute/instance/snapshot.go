// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"
	"k8s.io/apiserver/pkg/warning"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/validation"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var _ rest.NamedCreater = &SnapshotREST{}

// takingSnapshot is what a refusal calls it.
const takingSnapshot = "a snapshot"

// photographer makes images of machines. What the state of a machine does not
// allow is a server error like any other.
type photographer interface {
	CreateSnapshot(ctx context.Context, credential principal.Credential, id ids.ServerID, snapshot region.SnapshotCreate) (*region.Image, error)
}

// SnapshotREST serves instances/snapshot.
type SnapshotREST struct {
	requests     *requests
	photographer photographer
}

// New implements rest.Storage.
func (*SnapshotREST) New() runtime.Object { return &compute.InstanceSnapshot{} }

// Destroy implements rest.Storage.
func (*SnapshotREST) Destroy() {}

// Create implements rest.NamedCreater.
func (r *SnapshotREST) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	request := obj.(*compute.InstanceSnapshot)
	found, err := r.requests.begin(ctx, name, request, validation.ValidateInstanceSnapshot(request), admit)
	if err != nil {
		return nil, err
	}
	if err := refuseDeleted(found.instance, takingSnapshot); err != nil {
		return nil, err
	}
	answer := &compute.InstanceSnapshot{
		ObjectMeta: metav1.ObjectMeta{Name: request.Name, Namespace: found.instance.Namespace},
		Spec:       compute.InstanceSnapshotSpec{Description: request.Spec.Description, Tags: keepOwnTags(ctx, request.Spec.Tags)},
	}
	if dryrun.IsDryRun(options.DryRun) {
		return answer, nil
	}
	image, err := r.photographer.CreateSnapshot(ctx, found.credential, found.server.ID(), snapshotOf(found.instance, answer))
	if err != nil {
		return nil, r.refusal(ctx, found, err)
	}
	answer.CreationTimestamp = metav1.NewTime(image.Metadata.CreationTime)
	answer.Status = compute.InstanceSnapshotStatus{ImageID: image.ID(), State: string(image.Status.State)}
	return answer, nil
}

// refusal tells a machine that has no finished disk from a failure of region.
func (r *SnapshotREST) refusal(ctx context.Context, of *machine, err error) error {
	if !unikorn.IsServerError(err) {
		return r.requests.refusal(ctx, of, takingSnapshot, once(err))
	}
	state, failure := r.requests.powerState(ctx, of)
	if failure != nil || state == compute.PowerStateRunning || state == compute.PowerStateStopped {
		return once(err)
	}
	return conflict(of.instance, takingSnapshot, state)
}

// keepOwnTags leaves out tags that are the platform's to give, so that nobody
// forges where an image comes from.
func keepOwnTags(ctx context.Context, tags []compute.Tag) []compute.Tag {
	var own []compute.Tag
	for i, tag := range tags {
		if validation.ReservedTag(tag.Name) {
			path := field.NewPath("spec", "tags").Index(i)
			warning.AddWarning(ctx, "", fmt.Sprintf("%s: %s belongs to the platform and was left out", path, tag.Name))
			continue
		}
		own = append(own, tag)
	}
	return own
}

// snapshotOf is the request to region. The tag that names the instance comes
// last: docs/reference/wire.md, "Labels and annotations".
func snapshotOf(instance *compute.Instance, answer *compute.InstanceSnapshot) region.SnapshotCreate {
	tags := make([]unikorn.Tag, 0, len(answer.Spec.Tags)+1)
	for _, tag := range answer.Spec.Tags {
		tags = append(tags, unikorn.Tag{Name: tag.Name, Value: tag.Value})
	}
	tags = append(tags, unikorn.Tag{Name: v1alpha1.TagSnapshotInstanceID, Value: string(instance.Status.InstanceID)})
	return region.SnapshotCreate{
		Metadata: unikorn.WriteMetadata{Name: answer.Name, Description: answer.Spec.Description, Tags: tags},
		Spec:     region.SnapshotCreateSpec{},
	}
}
