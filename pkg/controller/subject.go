// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1alpha1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
)

// subject is the object of a pass, and what its labels and annotations say.
type subject struct {
	object *v1alpha1.ComputeInstance
	// note is what earlier passes of this process left.
	note *note

	id ids.InstanceID
	// name is the name on the network.
	name      string
	network   region.NetworkSelector
	principal principal.Principal
}

// incompleteError says that an object does not tell where its server belongs.
type incompleteError struct {
	missing []string
}

func (e *incompleteError) Error() string {
	return "the object lacks " + strings.Join(e.missing, ", ")
}

// newSubject reads the labels and annotations of object. With an
// *incompleteError the subject holds what there is.
func newSubject(object *v1alpha1.ComputeInstance) (*subject, error) {
	s := &subject{
		object: object,
		id:     ids.InstanceID(object.Name),
		name:   object.Labels[v1alpha1.LabelName],
		network: region.NetworkSelector{
			Organization: ids.OrganizationID(object.Labels[v1alpha1.LabelOrganization]),
			Project:      ids.ProjectID(object.Labels[v1alpha1.LabelProject]),
			Region:       ids.RegionID(object.Labels[v1alpha1.LabelRegion]),
			Network:      ids.NetworkID(object.Labels[v1alpha1.LabelNetwork]),
		},
		principal: principalOf(object),
	}
	return s, complete(object)
}

// complete demands the labels that say where the server is, and like today's
// controllers some annotation: an object without any was not made by a service.
func complete(object *v1alpha1.ComputeInstance) error {
	var missing []string
	for _, key := range []string{
		v1alpha1.LabelName, v1alpha1.LabelOrganization, v1alpha1.LabelProject,
		v1alpha1.LabelRegion, v1alpha1.LabelNetwork,
	} {
		if object.Labels[key] == "" {
			missing = append(missing, "label "+key)
		}
	}
	if len(object.Annotations) == 0 {
		missing = append(missing, "any annotation")
	}
	if len(missing) > 0 {
		return &incompleteError{missing: missing}
	}
	return nil
}

// principalOf names whom calls are for: who is charged, and who created the
// object. Objects of older builds have the owner only.
func principalOf(object *v1alpha1.ComputeInstance) principal.Principal {
	return principal.Principal{
		OrganizationID: ids.OrganizationID(first(object.Labels, v1alpha1.LabelPrincipalOrganization, v1alpha1.LabelOrganization)),
		ProjectID:      ids.ProjectID(first(object.Labels, v1alpha1.LabelPrincipalProject, v1alpha1.LabelProject)),
		Actor:          first(object.Annotations, v1alpha1.AnnotationPrincipalCreator, v1alpha1.AnnotationCreator),
	}
}

func first(values map[string]string, keys ...string) string {
	for _, key := range keys {
		if values[key] != "" {
			return values[key]
		}
	}
	return ""
}

func (s *subject) key() types.NamespacedName {
	return client.ObjectKeyFromObject(s.object)
}

// allocation is the charge of the instance, empty without one.
func (s *subject) allocation() ids.AllocationID {
	return ids.AllocationID(s.object.Annotations[v1alpha1.AnnotationAllocationID])
}

// serverID is the id the region derives for a server of this name. Servers of
// older builds may have another.
func (s *subject) serverID() (ids.ServerID, error) {
	id, err := ids.InstanceObjectName(s.network.Network, s.name)
	return ids.ServerID(id), err
}

// untouched says whether no server and no charge can have been made for the
// object: none could be without these.
func (s *subject) untouched() bool {
	return s.network == region.NetworkSelector{} && s.allocation() == ""
}

// fingerprint changes when a refusal of the platform may no longer hold.
func (s *subject) fingerprint() string {
	return fmt.Sprintf("%d %v %s", s.object.Generation, s.network, s.name)
}
