// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apiserver/pkg/storage"
)

const (
	nameField      = "metadata.name"
	namespaceField = "metadata.namespace"
)

// query is a selection in the host's terms, and the two conditions on the
// façade's name which no one selector of the host can express, since the name
// is a label where there is one and the object name where there is none.
type query struct {
	labels labels.Selector
	fields []fields.Selector

	// names are the names an object must have, all of them. They become
	// selectors by labelled or unlabelled.
	names []string
	// notNames are the names it must not have. Objects with the label are left
	// out by the host; what is left to us is at most one object a namespace.
	notNames []string
	// only are names it must have and the host was not told of.
	only []string
}

// query translates a predicate. Nothing in it is evaluated here but notNames.
func (s *Store[O, C]) query(predicate storage.SelectionPredicate) (*query, error) {
	if predicate.ShardSelector != nil && !predicate.ShardSelector.Empty() {
		return nil, apierrors.NewBadRequest("shard selectors are not supported")
	}
	q := &query{labels: labels.Everything()}
	if predicate.Label != nil {
		q.labels = predicate.Label
	}
	if _, selectable := q.labels.Requirements(); !selectable {
		return nil, apierrors.NewBadRequest("the label selector selects nothing")
	}
	if predicate.Field == nil {
		return q, nil
	}
	for _, requirement := range predicate.Field.Requirements() {
		if err := s.addField(q, requirement); err != nil {
			return nil, err
		}
	}
	return q, nil
}

func (s *Store[O, C]) addField(q *query, requirement fields.Requirement) error {
	equal := requirement.Operator != selection.NotEquals
	switch {
	case requirement.Field == nameField && s.config.NameLabel != "":
		return s.addName(q, requirement.Value, equal)
	case requirement.Field == nameField, requirement.Field == namespaceField:
		q.addField(requirement.Field, requirement.Value, equal)
		return nil
	}
	host, known := s.config.Fields[requirement.Field]
	switch {
	case !known:
		return apierrors.NewBadRequest(fmt.Sprintf("field label not supported: %s", requirement.Field))
	case host.label != "":
		return q.addLabel(host.label, requirement.Value, equal)
	}
	q.addField(host.field, requirement.Value, equal)
	return nil
}

func (s *Store[O, C]) addName(q *query, name string, equal bool) error {
	if equal {
		q.names = append(q.names, name)
		return nil
	}
	q.notNames = append(q.notNames, name)
	if !s.meta.labelable(name) {
		return nil
	}
	return q.addLabel(s.config.NameLabel, name, false)
}

func (q *query) addField(path, value string, equal bool) {
	if equal {
		q.fields = append(q.fields, fields.OneTermEqualSelector(path, value))
		return
	}
	q.fields = append(q.fields, fields.OneTermNotEqualSelector(path, value))
}

// addLabel lets a label stand for a field: no label is the empty value, as it
// is in field selectors. No object has a value that no label can have.
func (q *query) addLabel(key, value string, equal bool) error {
	if len(validation.IsValidLabelValue(value)) > 0 {
		if equal {
			q.selectNothing()
		}
		return nil
	}
	operator, values := selection.Equals, []string{value}
	switch {
	case value == "" && equal:
		operator, values = selection.DoesNotExist, nil
	case value == "":
		operator, values = selection.Exists, nil
	case !equal:
		operator = selection.NotEquals
	}
	requirement, err := labels.NewRequirement(key, operator, values)
	if err != nil {
		return apierrors.NewBadRequest(err.Error())
	}
	q.labels = q.labels.Add(*requirement)
	return nil
}

// byLabel tells whether an object of these names may have them by label.
func (s *Store[O, C]) byLabel(names []string) bool {
	for _, name := range names {
		if !s.meta.labelable(name) || s.config.ForeignName(name) {
			return false
		}
	}
	return true
}

// labelled narrows q to objects which have its names by label.
func (s *Store[O, C]) labelled(q *query) (*query, error) {
	narrowed := *q
	for _, name := range q.names {
		if err := narrowed.addLabel(s.config.NameLabel, name, true); err != nil {
			return nil, err
		}
	}
	return &narrowed, nil
}

// unlabelled narrows q to objects which have its names by object name. The
// fields are copied: both halves of a look-up by name start from one query.
func (s *Store[O, C]) unlabelled(q *query) (*query, error) {
	narrowed := *q
	narrowed.fields = slices.Clone(q.fields)
	for _, name := range q.names {
		narrowed.addField(nameField, name, true)
	}
	if s.config.NameLabel == "" {
		return &narrowed, nil
	}
	return &narrowed, narrowed.addLabel(s.config.NameLabel, "", true)
}

// selectNothing makes q one that no object satisfies.
func (q *query) selectNothing() {
	q.addField(nameField, "-", true)
	q.addField(nameField, "-", false)
}

func (q *query) apply(options *metav1.ListOptions) {
	options.LabelSelector = q.labels.String()
	options.FieldSelector = fields.AndSelectors(q.fields...).String()
}

// admits tells whether a façade name satisfies what the host was not told.
func (q *query) admits(name string) bool {
	for _, wanted := range q.only {
		if name != wanted {
			return false
		}
	}
	return !slices.Contains(q.notNames, name)
}
