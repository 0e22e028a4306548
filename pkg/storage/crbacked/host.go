// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"context"
	"encoding/json"
	"io"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
)

// hostClient reads and writes the custom resources. Its errors are the host's
// own; the store rewrites them.
type hostClient[C Object] struct {
	rest         rest.Interface
	names        Names
	newResource  func() C
	fieldManager string
}

// hostList is a list of custom resources.
type hostList[C Object] struct {
	Metadata metav1.ListMeta
	Items    []*Stored[C]
}

// get reads one custom resource, not older than resourceVersion; empty means
// the newest.
func (h *hostClient[C]) get(ctx context.Context, namespace, name, resourceVersion string) (*Stored[C], error) {
	request := h.on(h.rest.Get(), namespace).Name(name).
		VersionedParams(&metav1.GetOptions{ResourceVersion: resourceVersion}, metav1.ParameterCodec)
	body, err := send(ctx, request)
	if err != nil {
		return nil, err
	}
	return h.decode(body)
}

// list reads the custom resources of a namespace, or of all if it is empty.
func (h *hostClient[C]) list(ctx context.Context, namespace string, options metav1.ListOptions) (*hostList[C], error) {
	body, err := send(ctx, h.on(h.rest.Get(), namespace).VersionedParams(&options, metav1.ParameterCodec))
	if err != nil {
		return nil, err
	}
	return h.decodeList(body)
}

// watch opens a watch. The stream ends with ctx.
func (h *hostClient[C]) watch(ctx context.Context, namespace string, options metav1.ListOptions) (io.ReadCloser, error) {
	options.Watch = true
	return h.on(h.rest.Get(), namespace).VersionedParams(&options, metav1.ParameterCodec).Stream(ctx)
}

func (h *hostClient[C]) create(ctx context.Context, cr C) (*Stored[C], error) {
	cr.GetObjectKind().SetGroupVersionKind(h.names.WithKind(h.names.Kind))
	body, err := json.Marshal(cr)
	if err != nil {
		return nil, err
	}
	request := h.on(h.rest.Post(), cr.GetNamespace()).Body(body).
		VersionedParams(&metav1.CreateOptions{
			FieldManager:    h.fieldManager,
			FieldValidation: metav1.FieldValidationStrict,
		}, metav1.ParameterCodec)
	answer, err := send(ctx, request)
	if err != nil {
		return nil, err
	}
	return h.decode(answer)
}

// patch applies a JSON merge patch.
func (h *hostClient[C]) patch(ctx context.Context, namespace, name string, patch []byte) (*Stored[C], error) {
	request := h.on(h.rest.Patch(types.MergePatchType), namespace).Name(name).Body(patch).
		VersionedParams(&metav1.PatchOptions{
			FieldManager:    h.fieldManager,
			FieldValidation: metav1.FieldValidationStrict,
		}, metav1.ParameterCodec)
	answer, err := send(ctx, request)
	if err != nil {
		return nil, err
	}
	return h.decode(answer)
}

// delete deletes stored if it is still the object it was; a resourceVersion
// that is empty is not checked. It returns the object if finalizers hold it,
// nil if it is gone.
func (h *hostClient[C]) delete(ctx context.Context, cr *metav1.ObjectMeta, resourceVersion string) (*Stored[C], error) {
	policy := metav1.DeletePropagationBackground
	options := metav1.DeleteOptions{
		TypeMeta:          metav1.TypeMeta{APIVersion: "v1", Kind: "DeleteOptions"},
		PropagationPolicy: &policy,
		Preconditions:     &metav1.Preconditions{UID: &cr.UID},
	}
	if resourceVersion != "" {
		options.Preconditions.ResourceVersion = &resourceVersion
	}
	body, err := json.Marshal(options)
	if err != nil {
		return nil, err
	}
	answer, err := send(ctx, h.on(h.rest.Delete(), cr.Namespace).Name(cr.Name).Body(body))
	if err != nil {
		return nil, err
	}
	var kind metav1.TypeMeta
	if err := json.Unmarshal(answer, &kind); err != nil {
		return nil, err
	}
	if kind.Kind != h.names.Kind {
		return nil, nil
	}
	return h.decode(answer)
}

// update applies what stored and desired differ in, under stored's version.
func (h *hostClient[C]) update(ctx context.Context, stored *Stored[C], desired C) (*Stored[C], error) {
	patch, err := difference(stored.Object, desired)
	if err != nil {
		return nil, err
	}
	return h.patch(ctx, stored.Object.GetNamespace(), stored.Object.GetName(), patch)
}

// on addresses a request. When the host asks for patience it is this server's
// client who decides on it: nothing is repeated here behind its back.
func (h *hostClient[C]) on(request *rest.Request, namespace string) *rest.Request {
	return request.MaxRetries(0).NamespaceIfScoped(namespace, namespace != "").Resource(h.names.Resource)
}

func send(ctx context.Context, request *rest.Request) ([]byte, error) {
	result := request.Do(ctx)
	// Error, unlike Raw, reads the status out of the body.
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}
