// SPDX-License-Identifier: Apache-2.0

package boundedlog_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"

	"github.com/unikorn-cloud/instance-apiserver/pkg/boundedlog"
)

// loud logs everything into the buffer.
func loud(t *testing.T, into *bytes.Buffer) context.Context {
	config := textlogger.NewConfig(textlogger.Verbosity(10), textlogger.Output(into))
	return klog.NewContext(t.Context(), textlogger.NewLogger(config))
}

func TestBound(t *testing.T) {
	var out bytes.Buffer
	logger := klog.FromContext(boundedlog.WithoutBodies(loud(t, &out)))
	for _, derived := range []klog.Logger{logger, logger.WithName("name"), logger.WithValues("key", "value"), logger.WithCallDepth(1), logger.V(2)} {
		for level := range 11 {
			derived.V(level).Info(fmt.Sprintf("line of %d", level+derived.GetV()))
		}
	}
	logger.Error(nil, "an error")
	for level := range 13 {
		if logged := strings.Contains(out.String(), fmt.Sprintf("line of %d\"", level)); logged != (level < 8) {
			t.Errorf("verbosity %d logged: %v", level, logged)
		}
	}
	if !strings.Contains(out.String(), "an error") {
		t.Error("errors are not logged")
	}
	if !strings.Contains(out.String(), "boundedlog_test.go:") {
		t.Error("lines are not from where they were written")
	}
}

func TestBoundTwiceIsBoundOnce(t *testing.T) {
	ctx := boundedlog.WithoutBodies(loud(t, &bytes.Buffer{}))
	if boundedlog.WithoutBodies(ctx) != ctx {
		t.Error("bound again")
	}
}

// The bound is right for the client that is built in.
func TestBodiesAreNotLogged(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"ConfigMap","apiVersion":"v1","data":{"key":"answered-secret"}}`))
	}))
	t.Cleanup(server.Close)
	client, err := kubernetes.NewForConfig(&rest.Config{Host: server.URL, ContentConfig: rest.ContentConfig{ContentType: "application/json"}})
	if err != nil {
		t.Fatal(err)
	}
	create := func(ctx context.Context) {
		t.Helper()
		object := &corev1.ConfigMap{Data: map[string]string{"key": "sent-secret"}}
		if _, err := client.CoreV1().ConfigMaps("alpha").Create(ctx, object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	var unbounded, bounded bytes.Buffer
	create(loud(t, &unbounded))
	create(boundedlog.WithoutBodies(loud(t, &bounded)))
	for _, secret := range []string{"sent-secret", "answered-secret"} {
		if !strings.Contains(unbounded.String(), secret) {
			t.Errorf("%s is not logged without the bound, which the test needs", secret)
		}
		if strings.Contains(bounded.String(), secret) {
			t.Errorf("%s is logged", secret)
		}
	}
}
