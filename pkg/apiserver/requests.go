// SPDX-License-Identifier: Apache-2.0

package apiserver

import (
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/streaming/pkg/httpstream/wsstream"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/v1beta1"
	"github.com/unikorn-cloud/instance-apiserver/pkg/consolelog"
)

// orFollowsLog has requests that follow a log last as long as watches do. Those
// that only read it have the time-out of all others.
func orFollowsLog(longRunning genericapirequest.LongRunningRequestCheck) genericapirequest.LongRunningRequestCheck {
	return func(r *http.Request, info *genericapirequest.RequestInfo) bool {
		return longRunning(r, info) || followsLog(r, info)
	}
}

func followsLog(r *http.Request, info *genericapirequest.RequestInfo) bool {
	if info == nil || !isInstances(info) || info.Verb != "get" || info.Subresource != "log" {
		return false
	}
	// The conversion of the options, so that both are of the same opinion.
	follow, values := false, r.URL.Query()["follow"]
	return runtime.Convert_Slice_string_To_bool(&values, &follow, nil) == nil && follow
}

// followPatience is how long a client that follows a log may let a write wait.
const followPatience = 30 * time.Second

// boundingFollowers cuts those off who follow a log and do not read it. With
// web sockets nobody would notice that, or that they are gone.
func boundingFollowers(build chainBuilder) chainBuilder {
	return func(inner http.Handler, config *genericapiserver.Config) http.Handler {
		bounded := consolelog.Bounded(inner, followPatience)
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, ok := genericapirequest.RequestInfoFrom(r.Context())
			switch {
			case !ok || !followsLog(r, info):
				inner.ServeHTTP(w, r)
			case wsstream.IsWebSocketRequest(r):
				refusal := apierrors.NewBadRequest("logs are not followed over web sockets")
				responsewriters.ErrorNegotiated(refusal, Codecs, v1beta1.SchemeGroupVersion, w, r)
			default:
				bounded.ServeHTTP(w, r)
			}
		}), config)
	}
}

// secretSubresources are those whose answers are secrets.
var secretSubresources = sets.New("console", "sshkey")

// withoutStoringSecrets forbids caches to keep answers that are secrets. The
// header that the chain gives every answer only has them ask before each use.
func withoutStoringSecrets(build chainBuilder) chainBuilder {
	return func(inner http.Handler, config *genericapiserver.Config) http.Handler {
		return build(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			info, ok := genericapirequest.RequestInfoFrom(r.Context())
			if ok && isInstances(info) && secretSubresources.Has(info.Subresource) {
				w.Header().Set("Cache-Control", "no-store")
			}
			inner.ServeHTTP(w, r)
		}), config)
	}
}

type chainBuilder = func(http.Handler, *genericapiserver.Config) http.Handler

func isInstances(info *genericapirequest.RequestInfo) bool {
	return info.IsResourceRequest && info.APIGroup == compute.GroupName && info.Resource == resource
}
