// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
)

// test is a function of the suite with its arguments.
type test func(ctx context.Context, t *testing.T, s *suiteStore)

// plain is one that takes nothing but a storage.
func plain(run func(context.Context, *testing.T, storage.Interface)) test {
	return func(ctx context.Context, t *testing.T, s *suiteStore) { run(ctx, t, s) }
}

// anyLayout are the tests that pods in a namespace pass however they are kept.
var anyLayout = map[string]test{
	"RunTestCreate": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestCreate(ctx, t, s, s.isStored)
	},
	"RunTestCreateWithKeyExist":                         plain(storagetesting.RunTestCreateWithKeyExist),
	"RunTestGet":                                        plain(storagetesting.RunTestGet),
	"RunTestUnconditionalDelete":                        plain(storagetesting.RunTestUnconditionalDelete),
	"RunTestConditionalDelete":                          plain(storagetesting.RunTestConditionalDelete),
	"RunTestDeleteWithSuggestion":                       plain(storagetesting.RunTestDeleteWithSuggestion),
	"RunTestDeleteWithSuggestionAndConflict":            plain(storagetesting.RunTestDeleteWithSuggestionAndConflict),
	"RunTestDeleteWithConflict":                         plain(storagetesting.RunTestDeleteWithConflict),
	"RunTestDeleteWithSuggestionOfDeletedObject":        plain(storagetesting.RunTestDeleteWithSuggestionOfDeletedObject),
	"RunTestValidateDeletionWithSuggestion":             plain(storagetesting.RunTestValidateDeletionWithSuggestion),
	"RunTestValidateDeletionWithOnlySuggestionValid":    plain(storagetesting.RunTestValidateDeletionWithOnlySuggestionValid),
	"RunTestPreconditionalDeleteWithSuggestion":         plain(storagetesting.RunTestPreconditionalDeleteWithSuggestion),
	"RunTestPreconditionalDeleteWithOnlySuggestionPass": plain(storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass),
	"RunTestDeleteExpectedTransformOrDecodeError": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestDeleteExpectedTransformOrDecodeError(ctx, t, s, s.failing.Store)
	},
	"RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestDeleteWithConflictAndMissingExpectedTransformOrDecodeError(ctx, t, s, s.failing.Store)
	},
	"RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestDeleteWithSuggestionAndMissingExpectedTransformOrDecodeError(ctx, t, s)
	},
	"RunTestGetListNonRecursive": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestGetListNonRecursive(ctx, t, s.host().increaseRV, s)
	},
	"RunTestGetListRecursivePrefix": plain(storagetesting.RunTestGetListRecursivePrefix),
	"RunTestListContinuation": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestListContinuation(ctx, t, s, uncounted)
	},
	"RunTestListContinuationWithFilter": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestListContinuationWithFilter(ctx, t, s, uncounted)
	},
	"RunTestListPaging": plain(storagetesting.RunTestListPaging),
	"RunTestGuaranteedUpdate": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestGuaranteedUpdate(ctx, t, s, s.isStored)
	},
	"RunTestGuaranteedUpdateWithConflict":              plain(storagetesting.RunTestGuaranteedUpdateWithConflict),
	"RunTestGuaranteedUpdateWithSuggestionAndConflict": plain(storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict),
	"RunTestWatch":                              plain(storagetesting.RunTestWatch),
	"RunTestNamespaceScopedWatch":               plain(storagetesting.RunTestNamespaceScopedWatch),
	"RunTestDeleteTriggerWatch":                 plain(storagetesting.RunTestDeleteTriggerWatch),
	"RunTestWatchFromNonZero":                   plain(storagetesting.RunTestWatchFromNonZero),
	"RunTestDelayedWatchDelivery":               plain(storagetesting.RunTestDelayedWatchDelivery),
	"RunTestWatchContextCancel":                 plain(storagetesting.RunTestWatchContextCancel),
	"RunTestWatcherTimeout":                     plain(storagetesting.RunTestWatcherTimeout),
	"RunTestWatchDeleteEventObjectHaveLatestRV": plain(storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV),
	"RunTestWatchInitializationSignal":          plain(ending(storagetesting.RunTestWatchInitializationSignal)),
	"RunTestWatchDispatchBookmarkEvents": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestWatchDispatchBookmarkEvents(ctx, t, s, true)
	},
	"RunTestOptionalWatchBookmarksWithCorrectResourceVersion": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion(ctx, t, untilTheEnd{s})
	},
	"RunSendInitialEventsBackwardCompatibility": plain(storagetesting.RunSendInitialEventsBackwardCompatibility),
	"RunWatchSemantics":                         plain(storagetesting.RunWatchSemantics),
	"RunWatchSemanticInitialEventsExtended":     plain(storagetesting.RunWatchSemanticInitialEventsExtended),
	"RunWatchListMatchSingle":                   plain(storagetesting.RunWatchListMatchSingle),
	"RunOptionalTestProgressNotify":             progressNotify,
}

// ownLayout are tests that compare an object's labels with those it was
// created with, or that gain nothing from a second run.
var ownLayout = map[string]test{
	"RunTestNamespaceScopedList": plain(storagetesting.RunTestNamespaceScopedList),
	"RunTestConsistentList": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestConsistentList(ctx, t, s, s.host().increaseRV, true, true, true)
	},
}

// clusterLayout are tests that create pods in no namespace.
var clusterLayout = map[string]test{
	"RunTestClusterScopedWatch": plain(storagetesting.RunTestClusterScopedWatch),
	"RunTestStats": func(ctx context.Context, t *testing.T, s *suiteStore) {
		codec := serializer.NewCodecFactory(scheme).LegacyCodec(examplev1.SchemeGroupVersion)
		storagetesting.RunTestStats(ctx, t, s, codec, identity.NewEncryptCheckTransformer(), false)
	},
	"RunTestListPaginationRareObject": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestListPaginationRareObject(ctx, t, s, uncounted)
	},
	"RunTestListResourceVersionMatch": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestListResourceVersionMatch(ctx, t, s)
	},
}

// uncachedLayout are tests of what a host's watch cache hides: compacted
// versions, pages of version 0, versions that follow one upon the other.
var uncachedLayout = map[string]test{
	"RunTestList": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestList(ctx, t, s, s.host().compact, false, nil)
	},
	"RunTestListInconsistentContinuation": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestListInconsistentContinuation(ctx, t, s, s.host().compact)
	},
	"RunTestWatchFromZero": func(ctx context.Context, t *testing.T, s *suiteStore) {
		storagetesting.RunTestWatchFromZero(ctx, t, s, s.host().compact)
	},
}

func TestLabelled(t *testing.T) { runAll(t, labelled, anyLayout) }
func TestOwn(t *testing.T)      { runAll(t, own, anyLayout, ownLayout) }
func TestCluster(t *testing.T)  { runAll(t, cluster, clusterLayout) }
func TestUncached(t *testing.T) { runAll(t, uncached, uncachedLayout) }

func runAll(t *testing.T, l layout, groups ...map[string]test) {
	for _, group := range groups {
		for _, name := range slices.Sorted(maps.Keys(group)) {
			t.Run(name, func(t *testing.T) {
				// A test that waits for ever is to fail, not to take the control
				// planes' orderly end with it.
				ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
				t.Cleanup(cancel) // some tests of the suite go on after they return
				group[name](ctx, t, newStore(t, l))
			})
		}
	}
}

// uncounted does not check how many objects were transformed for a page: none
// are.
func uncounted(*testing.T, uint64, uint64) {}

// ending is for a test that waits for ever where it should fail, and would take
// the orderly end of the control planes with it.
func ending(run func(context.Context, *testing.T, storage.Interface)) func(context.Context, *testing.T, storage.Interface) {
	return func(ctx context.Context, t *testing.T, s storage.Interface) {
		done := make(chan struct{})
		go func() {
			defer close(done)
			run(ctx, t, s)
		}()
		select {
		case <-done:
		case <-ctx.Done():
			t.Fatal("the test does not end")
		}
	}
}

// untilTheEnd is for a test that creates as many pods as there is time for, and
// takes it amiss when time ends in the middle of one.
type untilTheEnd struct{ *suiteStore }

func (s untilTheEnd) Create(ctx context.Context, key string, obj, out runtime.Object, ttl uint64) error {
	err := s.suiteStore.Create(ctx, key, obj, out, ttl)
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the end of time is no failure
	}
	return err
}

// progressNotify gives the watch an end, because a host tells how far it has
// come shortly before that, and lets other pods come and be, because it tells
// only what has moved since the watch began.
func progressNotify(ctx context.Context, t *testing.T, s *suiteStore) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	var others errgroup.Group
	storagetesting.RunOptionalTestProgressNotify(ctx, t, s, func(context.Context, *testing.T) int64 {
		others.Go(func() error { return s.createUntil(ctx) })
		return 0
	})
	cancel()
	if err := others.Wait(); err != nil {
		t.Errorf("create other pods: %v", err)
	}
}

// createUntil creates a pod every so often until ctx ends.
func (s *suiteStore) createUntil(ctx context.Context) error {
	err := wait.PollUntilContextCancel(ctx, 200*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		pod := &example.Pod{ObjectMeta: metav1.ObjectMeta{Name: rand.String(10), Namespace: "other-ns"}}
		return false, s.Create(ctx, "/pods/other-ns/"+pod.Name, pod, pod, 0)
	})
	if ctx.Err() != nil {
		return nil //nolint:nilerr // the end of time is no failure
	}
	return err
}
