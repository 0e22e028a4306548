// SPDX-License-Identifier: Apache-2.0

package operations

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/rest"

	"github.com/unikorn-cloud/instance-apiserver/pkg/ids"
	. "github.com/unikorn-cloud/instance-apiserver/test/e2e/framework"
)

// question is one thing that can be asked about the Instances of a namespace.
// In its path and its body NAMESPACE, NAME and NETWORK stand for those.
type question struct {
	// right is what RBAC must allow: a verb and, if any, a subresource.
	right, method, path, contentType, body string
	// there and missing are the answers to who may ask, about an Instance that
	// is there and about one that is not.
	there, missing int
}

const (
	apiPath        = "/apis/compute.unikorn-cloud.org/v1beta1"
	collectionPath = apiPath + "/namespaces/NAMESPACE/instances"
	objectPath     = collectionPath + "/NAME"
	onlyNAME       = "fieldSelector=metadata.name%3DNAME"

	typed        = `{"apiVersion":"compute.unikorn-cloud.org/v1beta1","kind":`
	instanceBody = typed + `"Instance","metadata":{"name":"NAME"},"spec":{"networkID":"NETWORK","flavorID":"` +
		string(Standard) + `","imageID":"` + string(Ubuntu) + `"}}`
	labelBody = `{"metadata":{"labels":{"team":"blue"}}}`
)

// questions are every verb that instances and their subresources serve, and
// those verbs that must not be served by way of another. A wildcard reader may
// read what no other role gives: that is not served.
var questions = []question{
	{right: "get", method: http.MethodGet, path: objectPath, there: 200, missing: 404},
	{right: "list", method: http.MethodGet, path: collectionPath, there: 200, missing: 200},
	{right: "list", method: http.MethodGet, path: collectionPath + "?" + onlyNAME, there: 200, missing: 200},
	{right: "watch", method: http.MethodGet, path: collectionPath + "?watch=true", there: 200, missing: 200},
	{right: "watch", method: http.MethodGet, path: collectionPath + "?watch=true&" + onlyNAME, there: 200, missing: 200},
	{right: "watch", method: http.MethodGet, path: apiPath + "/watch/namespaces/NAMESPACE/instances/NAME", there: 200, missing: 200},
	{right: "create", method: http.MethodPost, path: collectionPath, body: instanceBody, there: 409, missing: 201},
	{right: "update", method: http.MethodPut, path: objectPath, body: instanceBody, there: 200, missing: 404},
	{right: "patch", method: http.MethodPatch, path: objectPath, contentType: string(types.MergePatchType), body: labelBody, there: 200, missing: 404},
	{right: "patch", method: http.MethodPatch, path: objectPath, contentType: string(types.JSONPatchType), body: `[]`, there: 200, missing: 404},
	{
		right: "patch", method: http.MethodPatch, path: objectPath + "?fieldManager=e2e&force=true",
		contentType: string(types.ApplyYAMLPatchType), body: instanceBody, there: 200, missing: 201,
	},
	{right: "delete", method: http.MethodDelete, path: objectPath, there: 200, missing: 404},
	{right: "deletecollection", method: http.MethodDelete, path: collectionPath, there: 200, missing: 200},

	{right: "get status", method: http.MethodGet, path: objectPath + "/status", there: 200, missing: 404},
	{right: "update status", method: http.MethodPut, path: objectPath + "/status", body: instanceBody, there: 405, missing: 405},
	{right: "patch status", method: http.MethodPatch, path: objectPath + "/status", contentType: string(types.MergePatchType), body: labelBody, there: 405, missing: 405},
	{right: "get power", method: http.MethodGet, path: objectPath + "/power", there: 200, missing: 404},
	{
		right: "create power", method: http.MethodPost, path: objectPath + "/power",
		body: typed + `"InstancePower","spec":{"action":"Reboot"}}`, there: 201, missing: 404,
	},
	{right: "get log", method: http.MethodGet, path: objectPath + "/log", there: 200, missing: 404},
	{right: "get console", method: http.MethodGet, path: objectPath + "/console", there: 405, missing: 405},
	{right: "create console", method: http.MethodPost, path: objectPath + "/console", body: typed + `"InstanceConsole"}`, there: 201, missing: 404},
	{right: "get snapshot", method: http.MethodGet, path: objectPath + "/snapshot", there: 405, missing: 405},
	{
		right: "create snapshot", method: http.MethodPost, path: objectPath + "/snapshot",
		body: typed + `"InstanceSnapshot","metadata":{"name":"picture"}}`, there: 201, missing: 404,
	},
	{right: "get sshkey", method: http.MethodGet, path: objectPath + "/sshkey", there: 405, missing: 405},
	{right: "create sshkey", method: http.MethodPost, path: objectPath + "/sshkey", body: typed + `"InstanceSSHKey"}`, there: 201, missing: 404},
}

// rights are what somebody may do with the Instances of a namespace.
type rights = sets.Set[string]

var (
	noRights     = rights{}
	viewRights   = sets.New("get", "list", "watch", "get status", "get log", "get power")
	changeRights = sets.New("create", "update", "patch", "delete", "deletecollection",
		"create power", "create console", "create snapshot", "create sshkey")
	editRights = viewRights.Union(changeRights)
	// readRights are get, list and watch of everything that has a path. It
	// includes the log, as with pods: it is the output of the machine, and
	// reading it changes nothing and lets nobody in.
	readRights = viewRights.Union(sets.New("get console", "get snapshot", "get sshkey"))
)

// reply is an answer as it came.
type reply struct {
	Code   int
	Header http.Header
	Body   string
}

// asker asks as somebody, through the cluster or at one server.
type asker struct {
	client *http.Client
	server string
}

func askerFor(config *rest.Config) asker {
	GinkgoHelper()
	client, err := rest.HTTPClientFor(config)
	Expect(err).NotTo(HaveOccurred())
	return asker{client: client, server: config.Host}
}

// at is the same person at another server of the same authority.
func (a asker) at(server string) asker {
	return asker{client: a.client, server: server}
}

func (a asker) send(ctx context.Context, method, path, contentType, body string, headers http.Header) reply {
	GinkgoHelper()
	// A watch goes on until it is left.
	ctx, leave := context.WithCancel(ctx)
	defer leave()
	request, err := http.NewRequestWithContext(ctx, method, a.server+path, strings.NewReader(body))
	Expect(err).NotTo(HaveOccurred())
	for key, values := range headers {
		request.Header[key] = values
	}
	if contentType == "" {
		contentType = "application/json"
	}
	request.Header.Set("Content-Type", contentType)
	response, err := a.client.Do(request)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	answer := reply{Code: response.StatusCode, Header: response.Header}
	if answer.Code == http.StatusOK && strings.Contains(path, "watch") {
		return answer
	}
	content, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	answer.Body = string(content)
	return answer
}

// get asks for a path, with headers.
func (a asker) get(ctx context.Context, path string, headers http.Header) reply {
	GinkgoHelper()
	return a.send(ctx, http.MethodGet, path, "", "", headers)
}

// ask puts a question about an Instance. What is only tried has no effect.
func (a asker) ask(ctx context.Context, q question, namespace, name string, tried bool) reply {
	GinkgoHelper()
	fill := strings.NewReplacer("NAMESPACE", namespace, "NAME", name, "NETWORK", string(networkIn[namespace]))
	path := q.path
	if tried && q.method != http.MethodGet {
		separator := "?"
		if strings.Contains(path, "?") {
			separator = "&"
		}
		path += separator + "dryRun=All"
	}
	return a.send(ctx, q.method, fill.Replace(path), q.contentType, fill.Replace(q.body), nil)
}

var networkIn = map[string]ids.NetworkID{Alpha: AlphaNet, Beta: BetaNet}

// Status is what the body of a refusal says.
func (r reply) Status() metav1.Status {
	GinkgoHelper()
	var status metav1.Status
	Expect(json.Unmarshal([]byte(r.Body), &status)).To(Succeed(), r.Body)
	return status
}

// bytes are all of an answer that somebody could compare with another about
// something else.
func (r reply) bytes(about string) string {
	GinkgoHelper()
	header := r.Header.Clone()
	header.Del("Date")
	header.Del("Audit-Id")
	var all strings.Builder
	Expect(header.Write(&all)).To(Succeed())
	return http.StatusText(r.Code) + "\n" + Redact(all.String()+r.Body, about)
}
