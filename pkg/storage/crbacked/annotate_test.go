// SPDX-License-Identifier: Apache-2.0

package crbacked

import (
	"fmt"
	"io"
	"net/http"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// A note is one patch of nothing else, under no version, so that it neither
// loses a change of somebody else nor is lost to one.
func TestAnnotate(t *testing.T) {
	var requests []string
	store := newWidgetStore(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		requests = append(requests, fmt.Sprintf("%s %s %s %s", r.Method, r.Header.Get("Content-Type"), r.URL.Path, body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprint(w, stubbornRecord)
	}))
	if err := store.Annotate(t.Context(), "ns", "record-of-w", map[string]string{"example.com/note": "x"}); err != nil {
		t.Fatal(err)
	}
	want := `PATCH application/merge-patch+json /apis/example.com/v1alpha1/namespaces/ns/widgetrecords/record-of-w ` +
		`{"metadata":{"annotations":{"example.com/note":"x"}}}`
	if len(requests) != 1 || requests[0] != want {
		t.Errorf("sent %q\nwant %q", requests, want)
	}
}

func TestAnnotateWhatIsGone(t *testing.T) {
	host := &stubborn{status: apierrors.NewNotFound(storedResource(), "record-of-w")}
	err := newWidgetStore(t, host).Annotate(t.Context(), "ns", "record-of-w", map[string]string{"example.com/note": "x"})
	if !apierrors.IsNotFound(err) {
		t.Errorf("got %v", err)
	}
	if host.writes != 1 {
		t.Errorf("%d writes", host.writes)
	}
}
