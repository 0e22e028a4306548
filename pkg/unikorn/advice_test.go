// SPDX-License-Identifier: Apache-2.0

package unikorn_test

import (
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn"
	"github.com/unikorn-cloud/instance-apiserver/pkg/unikorn/unikorntest"
)

// logged collects what is logged until the test ends.
func logged(t *testing.T) func() []string {
	var mu sync.Mutex
	var lines []string
	klog.SetLogger(funcr.New(func(_, args string) {
		mu.Lock()
		defer mu.Unlock()
		lines = append(lines, args)
	}, funcr.Options{}))
	t.Cleanup(klog.ClearLogger)
	return func() []string {
		mu.Lock()
		defer mu.Unlock()
		return append([]string{}, lines...)
	}
}

func TestOperatorIsToldOncePerCause(t *testing.T) {
	lines := logged(t)
	pki := unikorntest.NewPKI(t, "unikorn-compute")
	answer := &atomic.Pointer[http.HandlerFunc]{}
	client := newClient(t, pki, pki.Start(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		(*answer.Load())(w, req)
	})), 0)
	steps := []struct {
		answer http.HandlerFunc
		want   int
	}{
		{refusal(403, "forbidden"), 1},
		{refusal(403, "forbidden"), 1},
		{refusal(401, "access_denied"), 2},
		{refusal(403, "forbidden"), 2},
		{plain(200, "{}"), 2},
		{refusal(403, "forbidden"), 3},
		{refusal(404, "not_found"), 3},
	}
	for i, step := range steps {
		answer.Store(&step.answer)
		_ = unikorn.Do(t.Context(), client, unikorn.Endpoint{Name: "MakeThing"}, send(client, http.MethodPost))
		if got := lines(); len(got) != step.want {
			t.Errorf("step %d: %d lines, want %d: %q", i, len(got), step.want, got)
		}
	}
	for _, line := range lines() {
		if strings.Contains(line, prose) || strings.Contains(line, "hunter2") {
			t.Errorf("logged %q", line)
		}
		if !strings.Contains(line, `"advice"=`) {
			t.Errorf("no advice in %q", line)
		}
	}
}
