// SPDX-License-Identifier: Apache-2.0

package instance

import (
	"context"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/util/dryrun"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/validation"
	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	"github.com/unikorn-cloud/instance-apiserver/pkg/principal"
	"github.com/unikorn-cloud/instance-apiserver/pkg/region"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
)

var _ rest.NamedCreater = &SSHKeyREST{}

// keyring hands out the keys of networks. A refusal with 404 means that the
// machine was not made with its network's.
type keyring interface {
	SSHKey(ctx context.Context, credential principal.Credential, id ids.ServerID) (*region.SSHKey, error)
}

// SSHKeyREST serves instances/sshkey. It is created and not got, so that those
// who may read everything do not get keys by it.
type SSHKeyREST struct {
	requests *requests
	keyring  keyring
}

// New implements rest.Storage.
func (*SSHKeyREST) New() runtime.Object { return &compute.InstanceSSHKey{} }

// Destroy implements rest.Storage.
func (*SSHKeyREST) Destroy() {}

// Create implements rest.NamedCreater.
func (r *SSHKeyREST) Create(ctx context.Context, name string, obj runtime.Object, admit rest.ValidateObjectFunc, options *metav1.CreateOptions) (runtime.Object, error) {
	request := obj.(*compute.InstanceSSHKey)
	found, err := r.requests.begin(ctx, name, request, validation.ValidateAboutInstance(&request.ObjectMeta, name), admit)
	if err != nil {
		return nil, err
	}
	// Reading the key changes nothing, so a dry run learns whether there is one.
	key, err := r.keyring.SSHKey(ctx, found.credential, found.server.ID())
	if unikorn.IsNotFound(err) {
		return nil, notOffered("sshkey", found.instance, whyNoKey(found.server))
	}
	if err != nil {
		return nil, err
	}
	answer := &compute.InstanceSSHKey{ObjectMeta: metadataOf(found.instance)}
	if !dryrun.IsDryRun(options.DryRun) {
		answer.Status.PrivateKey = key.PrivateKey
	}
	return answer, nil
}

func whyNoKey(server *region.Server) string {
	switch server.Status.SSHInjection {
	case region.SSHInjectionCA:
		return "the machine accepts certificates of its SSH certificate authority instead of a key"
	case region.SSHInjectionNone:
		return "the machine was made without any"
	default:
		return "the network of the instance has none"
	}
}
