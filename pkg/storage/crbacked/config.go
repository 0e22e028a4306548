// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/client-go/rest"
)

// Names are the names of one kind on one side of the mapping.
type Names struct {
	schema.GroupVersion
	// Kind is the singular kind, such as ComputeInstance.
	Kind string
	// Resource is the plural in lower case, such as computeinstances.
	Resource string
}

// HostSelector is what the host selects by in place of a façade field.
type HostSelector struct {
	label string
	field string
}

// ByLabel selects by the value of a label of the custom resource. A resource
// without the label counts as having the empty value.
func ByLabel(key string) HostSelector { return HostSelector{label: key} }

// ByField selects by a field selector of the custom resource: metadata.name,
// metadata.namespace, or one of its definition's selectableFields.
func ByField(path string) HostSelector { return HostSelector{field: path} }

// Config describes one storage. All fields are required unless said.
type Config[O, C Object] struct {
	// Host reaches the custom resources: see ClientFor.
	Host rest.Interface

	// Mapper is the mapping of spec and status.
	Mapper Mapper[O, C]

	// Facade names the objects clients see, Stored the custom resources. No
	// error shows the latter's names to a client.
	Facade, Stored Names

	// ResourcePrefix is the first segment of the storage keys, the same as
	// generic.RESTOptions.ResourcePrefix, with or without leading slash.
	ResourcePrefix string

	// NameLabel is the label of the custom resource which holds the façade's
	// name. A resource without it appears under its own object name. Empty
	// (optional): the object name is the name, always.
	NameLabel string

	// ForeignName tells names under which only custom resources without the
	// name label can appear, so that they are looked up by object name alone.
	// Optional.
	ForeignName func(name string) bool

	// UIDSalt is the name that façade uids are derived with, see FacadeUID.
	UIDSalt string

	// FinalizerPrefix is the domain under which the custom resource keeps the
	// garbage collector's finalizers, such as compute.unikorn-cloud.org.
	FinalizerPrefix string

	// ManagedFieldsAnnotation holds the façade's managed fields. It is never
	// shown to clients and never taken from them.
	ManagedFieldsAnnotation string

	// ManagedFieldsBudget bounds the annotation's value, in bytes; past it
	// managers' entries are merged. Optional: 64 KiB.
	ManagedFieldsBudget int

	// Fields translates the field selectors offered beside metadata.name and
	// metadata.namespace. The key is the façade's field path.
	Fields map[string]HostSelector

	// FieldManager is the name under which the host records our writes.
	FieldManager string

	// Decorate wraps the writer of custom resources. Optional.
	Decorate func(next Writer[C]) Writer[C]

	// Ours tells whether a custom resource found under the name of one which
	// we sent is that very one: what it compares must differ between any two
	// creates. With it a create whose answer was lost is repeated until its
	// outcome is known. Optional: without it such a create fails with
	// OutcomeUnknown.
	Ours func(sent, found C) bool

	// Collision is the error of a create whose name is free but whose custom
	// resource's name is taken. Optional: the storage error that the key exists.
	Collision func(key string, obj O) error

	// SettleTimeout bounds how long a create with unknown outcome is repeated,
	// whatever became of the caller. Optional: 30 seconds.
	SettleTimeout time.Duration
}

const (
	defaultManagedFieldsBudget = 64 << 10
	defaultSettleTimeout       = 30 * time.Second
)

func (c *Config[O, C]) complete() error {
	if c.ManagedFieldsBudget == 0 {
		c.ManagedFieldsBudget = defaultManagedFieldsBudget
	}
	if c.SettleTimeout == 0 {
		c.SettleTimeout = defaultSettleTimeout
	}
	if c.ForeignName == nil {
		c.ForeignName = func(string) bool { return false }
	}
	if c.Collision == nil {
		c.Collision = func(key string, _ O) error { return storage.NewKeyExistsError(key, 0) }
	}
	if c.Decorate == nil {
		c.Decorate = func(next Writer[C]) Writer[C] { return next }
	}
	return c.validate()
}

func (c *Config[O, C]) validate() error {
	if c.Host == nil || c.Mapper == nil {
		return errors.New("host client and mapper are required")
	}
	for name, value := range map[string]string{
		"façade kind":               c.Facade.Kind,
		"façade resource":           c.Facade.Resource,
		"stored kind":               c.Stored.Kind,
		"stored resource":           c.Stored.Resource,
		"resource prefix":           c.ResourcePrefix,
		"uid salt":                  c.UIDSalt,
		"finalizer prefix":          c.FinalizerPrefix,
		"managed fields annotation": c.ManagedFieldsAnnotation,
		"field manager":             c.FieldManager,
	} {
		if value == "" {
			return fmt.Errorf("%s is required", name)
		}
	}
	for _, o := range []metav1.ObjectMetaAccessor{c.Mapper.NewObject(), c.Mapper.NewResource()} {
		if _, ok := o.GetObjectMeta().(*metav1.ObjectMeta); !ok {
			return fmt.Errorf("%T does not embed ObjectMeta", o)
		}
	}
	return nil
}

// ClientFor returns a client for Config.Host from the host's connection and
// the group and version of the custom resource. It sets no rate limit of its
// own: the host's priority and fairness decides.
func ClientFor(host *rest.Config, gv schema.GroupVersion) (rest.Interface, error) {
	scheme := runtime.NewScheme()
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	config := rest.CopyConfig(host)
	config.GroupVersion = &gv
	config.APIPath = "/apis"
	config.QPS = -1
	// What the host warns of is how the custom resource is stored, which is no
	// client's doing, and would fill this server's log at each write.
	config.WarningHandler = rest.NoWarnings{}
	config.RateLimiter = nil
	config.ContentType = runtime.ContentTypeJSON
	config.AcceptContentTypes = runtime.ContentTypeJSON
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	return rest.RESTClientFor(config)
}
