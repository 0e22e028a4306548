// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd/api"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"
)

// tokenLifetime outlasts an environment that somebody forgot to stop.
const tokenLifetime = 30 * 24 * time.Hour

// apiService is the name of the API in the cluster.
const apiService = "v1beta1.compute.unikorn-cloud.org"

// install applies artifacts/overlays/dev, with the port and the certificate
// authority that only this environment knows, and makes the kubeconfigs of the
// service accounts that come with it.
func (e *Environment) install(ctx context.Context) error {
	if err := e.writeKustomization(); err != nil {
		return err
	}
	if _, err := e.Kubectl(ctx, Admin, "apply", "--server-side", "--kustomize", e.path("install")); err != nil {
		return err
	}
	for _, account := range []string{server, controller} {
		if err := e.writeTokenKubeconfig(ctx, account); err != nil {
			return err
		}
	}
	return nil
}

func (e *Environment) writeKustomization() error {
	overlay, err := absolute(filepath.Join(e.config.Artifacts, "overlays", "dev"))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(e.path("install"), 0o700); err != nil {
		return err
	}
	resource, err := filepath.Rel(e.path("install"), string(overlay))
	if err != nil {
		return err
	}
	patch, err := yaml.Marshal(map[string]any{
		"apiVersion": "apiregistration.k8s.io/v1",
		"kind":       "APIService",
		"metadata":   map[string]any{"name": apiService},
		"spec": map[string]any{
			"caBundle": base64.StdEncoding.EncodeToString(e.issued.cluster.CertificatePEM()),
			"service":  map[string]any{"port": e.ports.number(server)},
		},
	})
	if err != nil {
		return err
	}
	content, err := yaml.Marshal(map[string]any{
		"apiVersion": "kustomize.config.k8s.io/v1beta1",
		"kind":       "Kustomization",
		"resources":  []string{resource},
		"patches":    []map[string]any{{"patch": string(patch)}},
	})
	if err != nil {
		return err
	}
	return os.WriteFile(e.path("install", "kustomization.yaml"), content, 0o600)
}

// writeTokenKubeconfig lets a process be the service account that it would be
// in the cluster.
func (e *Environment) writeTokenKubeconfig(ctx context.Context, account string) error {
	config, err := e.ClientConfig(Admin)
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{
		ExpirationSeconds: ptr.To(int64(tokenLifetime.Seconds())),
	}}
	token, err := client.CoreV1().ServiceAccounts(systemNamespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return fmt.Errorf("token for service account %s: %w", account, err)
	}
	return e.writeKubeconfig(account, systemNamespace, &api.AuthInfo{Token: token.Status.Token})
}

// awaitAPI returns when the cluster offers the API.
func (e *Environment) awaitAPI(ctx context.Context) error {
	config, err := e.ClientConfig(Admin)
	if err != nil {
		return err
	}
	client, err := aggregator.NewForConfig(config)
	if err != nil {
		return err
	}
	return e.until(ctx, "the API "+apiService, func(ctx context.Context) error {
		service, err := client.ApiregistrationV1().APIServices().Get(ctx, apiService, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, condition := range service.Status.Conditions {
			if condition.Type == apiregistrationv1.Available && condition.Status == apiregistrationv1.ConditionTrue {
				return nil
			}
		}
		return fmt.Errorf("not available: %+v", service.Status.Conditions)
	})
}

// Kubectl runs kubectl as person and returns what it prints. The error has what
// it printed to its error output.
func (e *Environment) Kubectl(ctx context.Context, person string, arguments ...string) (string, error) {
	arguments = append([]string{"--kubeconfig", e.Kubeconfig(person), "--cache-dir", e.path("cache", person)}, arguments...)
	command := exec.CommandContext(ctx, e.config.binary("kubectl"), arguments...)
	var output, messages bytes.Buffer
	command.Stdout, command.Stderr = &output, &messages
	if err := command.Run(); err != nil {
		return output.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments[4:], " "), err, bytes.TrimSpace(messages.Bytes()))
	}
	return output.String(), nil
}
