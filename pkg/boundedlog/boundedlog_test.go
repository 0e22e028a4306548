// SPDX-License-Identifier: Apache-2.0

package boundedlog

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// output is what was logged, by whatever goroutine.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(line []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(line)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// loud has the process log into the output, as the flags would.
func loud(t *testing.T, options ...textlogger.ConfigOption) *output {
	t.Helper()
	state := klog.CaptureState()
	slogger, writer, flags := slog.Default(), log.Writer(), log.Flags()
	t.Cleanup(func() {
		state.Restore()
		slog.SetDefault(slogger)
		log.SetOutput(writer)
		log.SetFlags(flags)
	})
	into := &output{}
	logger := textlogger.NewLogger(textlogger.NewConfig(append(options, textlogger.Output(into))...))
	writes := logger.GetSink().(textlogger.KlogBufferWriter)
	klog.SetLoggerWithOptions(logger, klog.ContextualLogger(true), klog.WriteKlogBuffer(writes.WriteKlogBuffer))
	return into
}

func TestBound(t *testing.T) {
	out := loud(t, textlogger.Verbosity(10))
	bound()
	logger := klog.FromContext(t.Context())
	for _, derived := range []klog.Logger{logger, logger.WithName("name"), logger.WithValues("key", "value"), logger.WithCallDepth(1), logger.V(2)} {
		for level := range 11 {
			derived.V(level).Info(fmt.Sprintf("line of %d", level+derived.GetV()))
		}
	}
	logger.Error(nil, "an error")
	klog.Warning("a warning")
	slog.Info("of slog")
	for level := range 13 {
		if logged := strings.Contains(out.String(), fmt.Sprintf("line of %d\"", level)); logged != (level < 8) {
			t.Errorf("verbosity %d logged: %v", level, logged)
		}
	}
	for _, want := range []string{`] "an error"`, "] a warning", `] "of slog"`, "boundedlog_test.go:"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
}

// What is enabled can depend on the file of the caller, --vmodule.
func TestBoundKeepsFiles(t *testing.T) {
	config := textlogger.NewConfig()
	if err := config.VModule().Set("boundedlog_test=5"); err != nil {
		t.Fatal(err)
	}
	logger := textlogger.NewLogger(config)
	logger = logger.WithSink(newSink(logger.GetSink()))
	if !logger.V(5).Enabled() || logger.V(6).Enabled() {
		t.Errorf("5 is enabled: %t, 6: %t", logger.V(5).Enabled(), logger.V(6).Enabled())
	}
}

// Tokens are reviewed in a context of nobody's. The bound is right for the
// client that is built in.
func TestBodiesAreNotLogged(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"kind":"TokenReview","apiVersion":"authentication.k8s.io/v1","spec":{"token":"answered-secret"}}`))
	}))
	t.Cleanup(server.Close)
	out := loud(t, textlogger.Verbosity(10))
	client, err := kubernetes.NewForConfig(&rest.Config{
		Host: server.URL, BearerToken: "header-secret",
		ContentConfig: rest.ContentConfig{ContentType: "application/json"},
	})
	if err != nil {
		t.Fatal(err)
	}
	review := func() string {
		t.Helper()
		before := len(out.String())
		object := &authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: "sent-secret"}}
		if _, err := client.AuthenticationV1().TokenReviews().Create(context.Background(), object, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		return out.String()[before:]
	}
	unbounded := review()
	bound()
	bounded := review()
	for _, secret := range []string{"sent-secret", "answered-secret"} {
		if !strings.Contains(unbounded, secret) {
			t.Errorf("%s is not logged without the bound, which the test needs", secret)
		}
		if strings.Contains(bounded, secret) {
			t.Errorf("%s is logged", secret)
		}
	}
	if strings.Contains(bounded, "header-secret") {
		t.Error("the client's own token is logged")
	}
}

func TestStandardLog(t *testing.T) {
	out := loud(t)
	bound()
	log.Print("http: Accept error: too many open files\n")
	log.Print(`sent "hunter2", which is not understood`)
	for _, want := range []string{
		`] "http: Accept error: too many open files"` + "\n",
		`] "sent (the rest is omitted)"` + "\n",
		"boundedlog_test.go:",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is not in %s", want, out)
		}
	}
	if strings.Contains(out.String(), "hunter2") {
		t.Errorf("%s has what was quoted", out)
	}
}

// What a server sends beyond its answer is logged by Go's client.
func TestUnsolicitedAnswersAreNotLogged(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		connection, buffer, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = buffer.WriteString("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nnull{\"privateKey\":\"hunter2\"}")
		_ = buffer.Flush()
		_ = connection.Close()
	}))
	t.Cleanup(server.Close)
	out := loud(t)
	bound()
	client := &http.Client{Transport: &http.Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	const said = "Unsolicited response received on idle HTTP channel starting with (the rest is omitted)"
	// It is by chance that the connection is idle when the rest arrives.
	err := wait.PollUntilContextTimeout(t.Context(), time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
		if err != nil {
			return false, err
		}
		response, err := client.Do(request)
		if err != nil {
			return false, err
		}
		if _, err := io.Copy(io.Discard, response.Body); err != nil {
			return false, err
		}
		return strings.Contains(out.String(), said), response.Body.Close()
	})
	if err != nil {
		t.Errorf("%v, logged: %s", err, out)
	}
	if strings.Contains(out.String(), "hunter2") {
		t.Error("what it said is logged")
	}
}
