// SPDX-License-Identifier: Apache-2.0

package install_test

import (
	"math/rand"
	"testing"

	apifuzzer "k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/apitesting/roundtrip"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"

	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/fuzzer"
	"github.com/unikorn-cloud/instance-apiserver/pkg/apis/compute/install"
)

func TestHubSurvivesEveryVersion(t *testing.T) {
	roundtrip.RoundTripTestForAPIGroup(t, install.Install, fuzzer.Funcs)
}

func TestExternalTypesSurviveTheWire(t *testing.T) {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	codecs := serializer.NewCodecFactory(scheme)
	seed := rand.Int63()
	t.Logf("seed %d", seed)
	filler := apifuzzer.FuzzerFor(apifuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, fuzzer.Funcs), rand.NewSource(seed), codecs)
	roundtrip.RoundTripExternalTypesWithoutProtobuf(t, scheme, codecs, filler, nil)
}
