// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// retryAfterSeconds is what clients are told when the host does not answer.
const retryAfterSeconds = 1

// refusedToUs matches the host's words for a request that RBAC does not allow
// its sender, which here is this server and not its client.
var refusedToUs = regexp.MustCompile(`User ".*" cannot \w+ (resource|path)`)

// naming rewrites the host's errors into those of the façade.
type naming struct {
	facade, stored Names
	words          *strings.Replacer
}

func newNaming(facade, stored Names) naming {
	return naming{
		facade: facade,
		stored: stored,
		words: strings.NewReplacer(
			stored.Kind+"."+stored.Version+"."+stored.Group, facade.Kind+"."+facade.Version+"."+facade.Group,
			stored.Kind+"."+stored.Group, facade.Kind+"."+facade.Group,
			stored.Resource+"."+stored.Group, facade.Resource+"."+facade.Group,
			stored.Kind, facade.Kind,
			stored.Resource, facade.Resource,
			stored.GroupVersion.String(), facade.GroupVersion.String(),
		),
	}
}

// hostError turns an error of a call to the host into one for the client: an
// API status which keeps the host's reason, never shows its names, and says
// so when it is the host that is at fault. crName and name are the object's
// names on either side, empty if the call was about many.
func (n *naming) hostError(err error, crName, name string) error {
	switch {
	case err == nil, errors.Is(err, context.Canceled):
		return err
	case OutcomeUnknown(err):
		return &outcomeUnknownError{cause: n.hostError(errors.Unwrap(err), crName, name)}
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return unavailable(err)
	}
	rewritten := status.Status()
	if isTooLarge(rewritten) {
		return apierrors.NewRequestEntityTooLargeError("the object is too large to be stored")
	}
	if broken := n.ownFault(rewritten); broken != nil {
		return broken
	}
	n.rewrite(&rewritten, crName, name)
	return &apierrors.StatusError{ErrStatus: rewritten}
}

// ownFault tells errors that say something about this server's standing in
// the host, not about what the client asked.
func (n *naming) ownFault(status metav1.Status) error {
	unexpected := status.Details != nil && len(status.Details.Causes) > 0 &&
		status.Details.Causes[0].Type == metav1.CauseTypeUnexpectedServerResponse
	switch {
	case status.Code == http.StatusNotFound && unexpected:
		return unavailable(fmt.Errorf("the host does not serve the storage of %s", n.facadeResource()))
	case status.Code == http.StatusUnauthorized,
		status.Code == http.StatusForbidden && refusedToUs.MatchString(status.Message):
		return apierrors.NewInternalError(fmt.Errorf("the host refuses this server the storage of %s", n.facadeResource()))
	}
	return nil
}

func (n *naming) rewrite(status *metav1.Status, crName, name string) {
	status.Message = n.text(status.Message, crName, name)
	if status.Details == nil {
		return
	}
	details := *status.Details.DeepCopy()
	status.Details = &details
	if n.isStored(&details) {
		details.Group = n.facade.Group
		details.Kind = n.words.Replace(details.Kind)
		details.UID = ""
		if name != "" {
			details.Name = name
		}
	}
	for i := range details.Causes {
		details.Causes[i].Message = n.text(details.Causes[i].Message, crName, name)
	}
}

// isStored tells whether an error is about a custom resource of ours. The host
// says its resource in most of them and its kind in some.
func (n *naming) isStored(details *metav1.StatusDetails) bool {
	return details != nil && details.Group == n.stored.Group &&
		(details.Kind == n.stored.Resource || details.Kind == n.stored.Kind)
}

// isConflict tells that a write met another one to the same custom resource.
// Conflicts which a decorated writer reports of something else are none.
func (n *naming) isConflict(err error) bool {
	return apierrors.IsConflict(err) && n.isAboutStored(err)
}

// isTaken tells that a custom resource of the same name is there.
func (n *naming) isTaken(err error) bool {
	return apierrors.IsAlreadyExists(err) && n.isAboutStored(err)
}

func (n *naming) isAboutStored(err error) bool {
	var status apierrors.APIStatus
	return errors.As(err, &status) && n.isStored(status.Status().Details)
}

func (n *naming) text(text, crName, name string) string {
	if crName != "" && name != "" {
		text = strings.ReplaceAll(text, crName, name)
	}
	return n.words.Replace(text)
}

func (n *naming) facadeResource() schema.GroupResource {
	return n.facade.WithResource(n.facade.Resource).GroupResource()
}

// unavailable is the status for a host that gave no answer.
func unavailable(err error) *apierrors.StatusError {
	var status *apierrors.StatusError
	if errors.As(err, &status) {
		return status
	}
	var network net.Error
	if errors.Is(err, context.DeadlineExceeded) || errors.As(err, &network) && network.Timeout() {
		return apierrors.NewTimeoutError("the host cluster did not answer in time", retryAfterSeconds)
	}
	answer := apierrors.NewServiceUnavailable("the host cluster is not available: " + cause(err))
	answer.ErrStatus.Details = &metav1.StatusDetails{RetryAfterSeconds: retryAfterSeconds}
	return answer
}

// cause leaves out addresses, which are not the client's business.
func cause(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		return op.Err.Error()
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	return err.Error()
}

// isMissing tells that a custom resource is not there, as distinct from its
// definition or its namespace not being there.
func isMissing(err error) bool {
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsNotFound(err) {
		return false
	}
	details := status.Status().Details
	return details != nil && details.Name != "" && details.Kind != "namespaces" && len(details.Causes) == 0
}
