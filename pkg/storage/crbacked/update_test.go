// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/storage"
)

// stubborn is a host that has one object and answers every write with status.
type stubborn struct {
	status *apierrors.StatusError
	writes int
}

const stubbornRecord = `{"apiVersion":"example.com/v1alpha1","kind":"WidgetRecord","metadata":{"name":"record-of-w","namespace":"ns",
	"uid":"6f1f9c2e-5d1c-4a0e-9a57-0d2f2b1f6a11","resourceVersion":"5","labels":{"example.com/name":"w"},"finalizers":["f"]},"spec":{"size":1}}`

func (s *stubborn) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	switch {
	case r.Method != http.MethodGet:
		s.writes++
		w.WriteHeader(int(s.status.ErrStatus.Code))
		answer := s.status.ErrStatus
		answer.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Status"}
		_ = json.NewEncoder(w).Encode(answer)
	case strings.HasSuffix(r.URL.Path, "/widgetrecords"):
		_, _ = fmt.Fprintf(w, `{"kind":"WidgetRecordList","metadata":{"resourceVersion":"5"},"items":[%s]}`, stubbornRecord)
	default:
		_, _ = fmt.Fprint(w, stubbornRecord)
	}
}

func grow(obj runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
	obj.(*widget).Size++
	return obj, nil, nil
}

func terminate(obj runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
	now := metav1.Now()
	obj.(*widget).DeletionTimestamp = &now
	return obj, nil, nil
}

// A write that never gets through is an error in the end, and not a success.
func TestWritesThatAlwaysConflict(t *testing.T) {
	for name, write := range map[string]func(*widgetStore) error{
		"update": func(s *widgetStore) error {
			return s.GuaranteedUpdate(t.Context(), "/widgets/ns/w", &widget{}, false, nil, grow, nil)
		},
		"deletion by update": func(s *widgetStore) error {
			return s.GuaranteedUpdate(t.Context(), "/widgets/ns/w", &widget{}, false, nil, terminate, nil)
		},
		"deletion": func(s *widgetStore) error {
			return s.Delete(t.Context(), "/widgets/ns/w", &widget{}, nil, storage.ValidateAllObjectFunc, nil, storage.DeleteOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			host := &stubborn{status: apierrors.NewConflict(storedResource(), "record-of-w", errors.New("changed"))}
			if err := write(newWidgetStore(t, host)); !storage.IsConflict(err) {
				t.Errorf("got %v", err)
			}
			if host.writes != conflictAttempts {
				t.Errorf("%d writes", host.writes)
			}
		})
	}
}

func TestWritesThatAreRefused(t *testing.T) {
	host := &stubborn{status: apierrors.NewForbidden(storedResource(), "record-of-w", errors.New("policy says no"))}
	err := newWidgetStore(t, host).GuaranteedUpdate(t.Context(), "/widgets/ns/w", &widget{}, false, nil, grow, nil)
	if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), `widgets.example.com "w"`) || host.writes != 1 {
		t.Errorf("after %d writes: got %v", host.writes, err)
	}
}

// An update that changes nothing asks the host nothing.
func TestUpdateOfNothing(t *testing.T) {
	host := &stubborn{status: apierrors.NewForbidden(storedResource(), "record-of-w", errors.New("policy says no"))}
	answer := &widget{}
	err := newWidgetStore(t, host).GuaranteedUpdate(t.Context(), "/widgets/ns/w", answer, false, nil,
		func(obj runtime.Object, _ storage.ResponseMeta) (runtime.Object, *uint64, error) {
			return obj, nil, nil
		}, nil)
	if err != nil || host.writes != 0 || answer.ResourceVersion != "5" || answer.Name != "w" {
		t.Errorf("after %d writes: got %v, %v", host.writes, answer.ObjectMeta, err)
	}
}
